package e2e

import (
	"strings"
	"testing"
)

// TestLogFileThatCannotBeOpened: the settings before stay in force, so that the
// access log goes on where it was, and Ingresses go on changing.
func TestLogFileThatCannotBeOpened(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		const format = `log-format-upstream: "logged $location_path $request_uri"`
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings(format),
			"a.yaml": ingress("a", "a.example", []string{"/x Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://a.example/x/1", "web")
		s.waitLine("logged /x /x/1")
		s.write("settings.yaml", settings(format, "access-log-path: /var/log/no-such-folder/access.log"))
		s.waitLine(`nginx refuses these settings: the previous ones are in force (open() \"/var/log/no-such-folder/access.log\" failed`)
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/2", "web")
		s.waitLine("logged / /2")
	})
}

// TestALoadBalancerAsksForTheHealthPath of the ports for HTTP and HTTPS, by no host
// that is served: it gets 200 there, and the access log has no line of it.
func TestALoadBalancerAsksForTheHealthPath(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings(`log-format-upstream: "logged $host $request_uri"`, `enable-access-log-for-default-backend: "true"`),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config", "--health-check-path", "/alive")
		s.waitBackend("http://a.example/alive", "web")
		s.waitStatus("http://10.example/alive", 200)
		s.waitStatus("https://10.example/alive", 200)
		s.waitStatus("http://10.example/healthz", 404)
		s.waitLine("logged 10.example /healthz")
		if lines := s.lines("logged 10.example /alive"); len(lines) > 0 {
			t.Errorf("the access log has %q", lines)
		}
	})
}

// TestTheLineOfASyncCountsOurIngresses, and not those of other classes.
func TestTheLineOfASyncCountsOurIngresses(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		foreign := strings.ReplaceAll(ingress("b", "b.example", []string{"/ Prefix web"}), "ingressClassName: nginx", "ingressClassName: theirs")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}), "b.yaml": foreign,
		})
		s.waitBackend("http://a.example/", "web")
		s.waitLine("ingresses=1 servers=2")
	})
}
