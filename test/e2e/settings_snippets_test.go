package e2e

import "testing"

// TestSnippetsOfTheSettings: those of the administrator are in force without another setting.
// One that nginx refuses falls back to the last good one, and the other settings go on.
func TestSnippetsOfTheSettings(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"settings.yaml": settings("http-snippet: 'map $arg_robot $is_robot { default 0; yes 1; }'", "server-snippet: 'location ~ [.]git { return 404; } location = /own { return 410; }'", "location-snippet: 'if ($is_robot) { return 403; }'"),
			"a.yaml":        ingress("a", "shop.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/", "web")
		s.waitStatus("http://shop.example/?robot=yes", 403)
		s.waitStatus("http://shop.example/x/.git/config", 404)
		s.waitStatus("http://shop.example/own", 410)
		s.waitStatus("http://unknown.example/own", 410)

		s.write("settings.yaml", settings("http-snippet: 'map $arg_robot $is_robot { default 0; yes 1; } no_such_directive on;'", "location-snippet: 'if ($is_robot) { return 429; }'"))
		s.waitLine("no_such_directive")
		s.waitStatus("http://shop.example/?robot=yes", 429)
		s.waitBackend("http://shop.example/own", "web")
		s.write("settings.yaml", settings("http-snippet: 'map $arg_robot $is_robot { default 0; yes 1; }'", "location-snippet: 'no_such_directive on;'", "server-snippet: 'location = /own { return 411; }'"))
		s.waitStatus("http://shop.example/own", 411)
		s.waitStatus("http://shop.example/?robot=yes", 429)

		s.write("b.yaml", ingress("b", "shop.example", []string{"/own Exact web", "/b Prefix web"}))
		s.waitBackend("http://shop.example/b", "web")
		s.waitStatus("http://shop.example/own", 411)

		s.stop()
		s.write("settings.yaml", settings("http-snippet: 'map $arg_robot $is_robot { default 0; yes 1; } no_such_directive on;'", "location-snippet: 'if ($is_robot) { return 418; }'"))
		s.launch()
		s.waitStatus("http://shop.example/?robot=yes", 418)
	})
}

// TestSnippetOfTheSettingsRefusedAtTheStart: no path is served without a snippet that may
// restrict access, and the pod is not ready, until nginx takes it.
func TestSnippetOfTheSettingsRefusedAtTheStart(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := prepare(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"settings.yaml": settings("server-snippet: 'no_such_directive on;'", "stream-snippet: 'no_such_directive on;'"),
			"a.yaml":        ingress("a", "shop.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.launch()
		s.waitUnready("server-snippet")
		s.waitStatus("http://shop.example/", 503)
		s.waitLine("and there are no previous ones")
		s.write("settings.yaml", settings("server-snippet: 'if ($arg_robot) { return 403; }'"))
		s.waitBackend("http://shop.example/", "web")
		s.waitStatus("http://shop.example/?robot=1", 403)
	})
}

// TestFolderThatNginxCannotMake: the Problem of the settings names the folder of a cache that
// nginx cannot make, and the other settings are in force.
func TestFolderThatNginxCannotMake(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"settings.yaml": settings("location-snippet: 'if ($arg_robot) { return 403; }'"),
			"a.yaml":        ingress("a", "shop.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/", "web")
		s.write("settings.yaml", settings("location-snippet: 'if ($arg_robot) { return 418; }'", "http-snippet: 'proxy_cache_path /proc/none/pages keys_zone=pages:1m max_size=1m;'"))
		s.waitLine(`mkdir() \"/proc/none/pages\" failed`)
		s.waitStatus("http://shop.example/?robot=1", 418)
	})
}
