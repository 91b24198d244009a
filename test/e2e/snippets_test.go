package e2e

import (
	"fmt"
	"testing"

	"sluice/test/kit"
)

// allowed are the settings by which an administrator allows snippets.
var allowed = settings("allow-snippet-annotations: 'true'", "annotations-risk-level: Critical")

// TestSnippetThatNginxRefuses: a directive that nginx does not know is found by the
// source map. Its Ingress answers 503, as the snippet may have protected it; the
// others go on changing, and what is mended is served. A restart serves the same.
func TestSnippetThatNginxRefuses(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": allowed,
			"a.yaml": ingress("a", "shop.example", []string{"/a Prefix web"}, "configuration-snippet: if ($arg_robot) { return 403; }"),
			"b.yaml": ingress("b", "shop.example", []string{"/b Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/a", "web")
		s.waitStatus("http://shop.example/a?robot=1", 403)

		s.write("a.yaml", ingress("a", "shop.example", []string{"/a Prefix web"}, "configuration-snippet: set $one 1; no_such_directive on;"))
		s.waitLine("no_such_directive")
		s.waitStatus("http://shop.example/a", 503)
		s.write("b.yaml", ingress("b", "shop.example", []string{"/b Prefix web", "/c Prefix web"}))
		s.waitBackend("http://shop.example/c", "web")
		s.waitBackend("http://shop.example/b", "web")

		s.stop()
		s.launch()
		s.waitReady()
		s.waitStatus("http://shop.example/a", 503)
		s.waitBackend("http://shop.example/c", "web")

		s.write("a.yaml", ingress("a", "shop.example", []string{"/a Prefix web"}, "configuration-snippet: if ($arg_robot) { return 403; }"))
		s.waitBackend("http://shop.example/a", "web")
		s.waitStatus("http://shop.example/a?robot=1", 403)
	})
}

// TestSnippetWithAVariableThatNobodySets: nginx names no line for a variable that nobody defines, so
// that the owner is found by halves.
func TestSnippetWithAVariableThatNobodySets(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": allowed,
			"a.yaml": ingress("a", "shop.example", []string{"/a Prefix web"}, "configuration-snippet: add_header X-A $no_such_variable;"),
			"b.yaml": ingress("b", "shop.example", []string{"/b Prefix web"}, "configuration-snippet: add_header X-B $request_id;"),
		}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/b", "web")
		s.waitStatus("http://shop.example/a", 503)
	})
}

// TestSnippetsAllowedLater: what waited for the setting is served once it is there,
// and answers 503 once it is gone.
func TestSnippetsAllowedLater(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings("annotations-risk-level: Critical"),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}, "configuration-snippet: if ($arg_robot) { return 403; }"),
		}, "--configmap", "default/config")
		s.waitStatus("http://a.example/", 503)
		s.write("settings.yaml", allowed)
		s.waitBackend("http://a.example/", "web")
		s.waitStatus("http://a.example/?robot=1", 403)
		s.write("settings.yaml", settings("allow-snippet-annotations: 'true'"))
		s.waitStatus("http://a.example/", 503)
	})
}

// TestServerSnippet: its locations answer, with patterns before prefixes. One that nginx
// rejects closes the paths of its Ingress, and nothing else.
func TestServerSnippet(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": allowed,
			"a.yaml": ingress("a", "shop.example", []string{"/ Prefix web"}, "server-snippet: location /gone { return 410; } location ~ [.]php$ { return 404; }"),
			"b.yaml": ingress("b", "shop.example", []string{"/b Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/", "web")
		s.waitStatus("http://shop.example/gone", 410)
		s.waitStatus("http://shop.example/b/x.php", 404)

		s.write("a.yaml", ingress("a", "shop.example", []string{"/a Prefix web"}, "server-snippet: location /x { no_such_directive on; }"))
		s.waitLine("no_such_directive")
		s.waitStatus("http://shop.example/a", 503)
		s.write("b.yaml", ingress("b", "shop.example", []string{"/b Prefix web", "/c Prefix web"}))
		s.waitBackend("http://shop.example/c", "web")
		s.waitBackend("http://shop.example/b", "web")
	})
}

// TestStreamSnippet: it listens on its port. One that nginx rejects is left out, as is one
// whose port is in use; the Ingress is served.
func TestStreamSnippet(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web, port := backend(t, "web"), kit.Port(t)
		snippet := func(text string) string {
			return ingress("a", "shop.example", []string{"/ Prefix web"}, fmt.Sprintf("stream-snippet: server { listen 127.0.0.1:%d; %s }", port, text))
		}
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": allowed, "a.yaml": snippet(`return "hello\n";`),
		}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/", "web")
		greeted := func(want string) {
			t.Helper()
			eventually(t, "the greeting "+want, func() bool { return once(port, "") == want })
		}
		greeted("hello")
		s.write("a.yaml", snippet("no_such_directive on;"))
		s.waitLine("no_such_directive")
		s.waitBackend("http://shop.example/", "web")
		greeted("")
		s.write("a.yaml", snippet(`return "again\n";`))
		greeted("again")
	})
}

// TestNamedSnippetsChange: a change of the ConfigMap with the named snippets is served. If it
// goes, the paths that use one answer 503.
func TestNamedSnippetsChange(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		library := func(status int) string {
			return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: snippets, namespace: default}\ndata:\n  robots: 'text: \"if ($arg_robot) { return %d; }\"'\n", status)
		}
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "snippets.yaml": library(403),
			"a.yaml": ingress("a", "shop.example", []string{"/ Prefix web"}, "sluice.io/snippets: robots"),
		}, "--named-snippets", "default/snippets")
		s.waitBackend("http://shop.example/", "web")
		s.waitStatus("http://shop.example/?robot=1", 403)
		s.write("snippets.yaml", library(410))
		s.waitStatus("http://shop.example/?robot=1", 410)
		s.remove("snippets.yaml")
		s.waitStatus("http://shop.example/", 503)
	})
}
