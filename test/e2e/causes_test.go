package e2e

import "testing"

// TestMendedTemplateEndsItsRefusals: on a new pod the template of a behaviour is
// broken, so that nginx refuses the Ingresses that use it. With the template mended
// they are served, though nobody touched them; after a restart, too.
func TestMendedTemplateEndsItsRefusals(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		dir := templateDir(t)
		changeTemplate(t, dir, "behaviour/timeouts.tmpl", "proxy_read_timeout", "proxy_raed_timeout")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}, "proxy-read-timeout: 7"),
			"b.yaml": ingress("b", "b.example", []string{"/ Prefix web"}),
		}, "--template-dir", dir)
		s.waitBackend("http://b.example/", "web")
		s.waitLine("reason=Refused")
		s.stop()
		s.launch()
		s.waitReady()
		s.waitBackend("http://b.example/", "web")
		s.waitStatus("http://a.example/", 404)
		restoreTemplate(t, dir, "behaviour/timeouts.tmpl")
		s.waitBackend("http://a.example/", "web")
	})
}

// TestMendedSettingEndsItsRefusals: a setting that nginx refuses falls back, and
// what is said instead is in force, with the other settings all along.
func TestMendedSettingEndsItsRefusals(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings("ssl-ciphers: NO-SUCH-CIPHER", "hsts-max-age: '7'"),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.waitLine("reason=Refused")
		s.waitBackend("http://a.example/", "web")
		s.write("settings.yaml", settings("ssl-ciphers: HIGH", "http-redirect-code: '307'", "force-ssl-redirect: 'true'"))
		s.waitStatus("http://a.example/", 307)
		s.waitLine("problem mended")
	})
}
