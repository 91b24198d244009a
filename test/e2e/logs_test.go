package e2e

import "testing"

// TestLogFileThatCannotBeOpened: the settings before stay in force, so that the
// access log goes on where it was, and Ingresses go on changing.
func TestLogFileThatCannotBeOpened(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		const format = `log-format-upstream: "logged $location_path $request_uri"`
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings(format),
			"a.yaml": ingress("a", "a.example", []string{"/x Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://a.example/x/1", "web")
		s.waitLine("logged /x /x/1")
		s.write("settings.yaml", settings(format, "access-log-path: /var/log/no-such-folder/access.log"))
		s.waitLine(`nginx refuses these settings: the ones before are in force (open() \"/var/log/no-such-folder/access.log\" failed`)
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/2", "web")
		s.waitLine("logged / /2")
	})
}
