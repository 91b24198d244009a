package e2e

import (
	"net/http"
	"testing"
)

// TestRefusedSettingTakesNoAllowListAway: on a new pod, one setting that nginx
// refuses falls back by itself. The allow list beside it stays, and so does the
// status of redirects.
func TestRefusedSettingTakesNoAllowListAway(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"settings.yaml": settings("ssl-ciphers: NO-SUCH-CIPHER", "whitelist-source-range: 10.9.8.0/24", `http-redirect-code: "307"`),
			"a.yaml":        ingress("a", "a.example", []string{"/ Prefix web"}),
			"b.yaml":        ingress("b", "b.example", []string{"/ Prefix web"}, "force-ssl-redirect: true", "whitelist-source-range: 0.0.0.0/0"),
		}, "--configmap", "default/config")
		s.waitStatus("http://a.example/", http.StatusForbidden)
		s.waitStatus("http://b.example/", http.StatusTemporaryRedirect)
		s.waitLine("ssl-ciphers")
	})
}

// TestDeletedSettingsStayInForce: a ConfigMap that is deleted keeps its last
// content until it is back.
func TestDeletedSettingsStayInForce(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings("whitelist-source-range: 10.9.8.0/24"),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.waitStatus("http://a.example/", http.StatusForbidden)
		s.remove("settings.yaml")
		s.waitLine("it was deleted: its last content stays in force")
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitStatus("http://b.example/", http.StatusForbidden)
		s.waitStatus("http://a.example/", http.StatusForbidden)
		s.write("settings.yaml", settings("whitelist-source-range: 0.0.0.0/0"))
		s.waitBackend("http://a.example/", "web")
	})
}

// TestRequiredSettingsThatAreMissing close every path until they are there.
func TestRequiredSettingsThatAreMissing(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := prepare(t, root, oneHost(web), "--configmap", "default/config", "--require-configmap")
		s.launch()
		s.waitLine("--require-configmap is given: every path answers 503")
		s.waitStatus("http://a.example/", http.StatusServiceUnavailable)
		if s.Ready() == http.StatusOK {
			t.Error("it says that it is ready")
		}
		s.write("settings.yaml", settings())
		s.waitReady()
		s.waitBackend("http://a.example/", "web")
		s.remove("settings.yaml")
		s.waitLine("it was deleted: its last content stays in force")
		s.waitBackend("http://a.example/", "web")
	})
}
