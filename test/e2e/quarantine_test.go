package e2e

import (
	"fmt"
	"testing"
)

// bad is an Ingress whose pattern nginx cannot compile.
func bad(name, host string) string {
	return ingress(name, host, []string{"/a(b ImplementationSpecific web"}, "use-regex: true")
}

// TestBadIngressHoldsNobodyBack edits an Ingress so that nginx refuses it: it
// keeps its last good form, others go on changing, a restart serves the same,
// and mending it ends the quarantine.
func TestBadIngressHoldsNobodyBack(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"a.yaml": ingress("a", "a.example", []string{"/good Prefix web"}),
			"b.yaml": ingress("b", "b.example", []string{"/one Prefix web"}),
		})
		s.waitBackend("http://a.example/good", "web")

		s.write("a.yaml", bad("a", "a.example"))
		s.waitLine("reason=Refused")
		s.waitBackend("http://a.example/good", "web")
		s.write("b.yaml", ingress("b", "b.example", []string{"/two Prefix web"}))
		s.waitBackend("http://b.example/two", "web")
		s.waitBackend("http://a.example/good", "web")

		s.stop()
		s.launch()
		s.waitReady()
		s.waitBackend("http://a.example/good", "web")
		s.waitBackend("http://b.example/two", "web")

		s.write("a.yaml", ingress("a", "a.example", []string{"/mended Prefix web"}))
		s.waitBackend("http://a.example/mended", "web")
		s.waitStatus("http://a.example/good", 404)
	})
}

// TestHundredBadIngressesAtOnce: each is found and left out, and whoever is
// good is served.
func TestHundredBadIngressesAtOnce(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{"class.yaml": class, "web.yaml": service("web", web)})
		many := ""
		for i := range 100 {
			many += bad(fmt.Sprintf("bad-%d", i), fmt.Sprintf("bad-%d.example", i))
		}
		s.write("many.yaml", many+ingress("good", "good.example", []string{"/ Prefix web"}))
		s.waitBackend("http://good.example/", "web")
		eventually(t, "100 refusals", func() bool { return len(s.lines("reason=Refused")) >= 100 })
		s.stop()
		s.launch()
		s.waitReady()
		s.waitBackend("http://good.example/", "web")
	})
}

// TestRefusedEditThatProtects: the earlier form of the Ingress was open; the
// refused edit adds an allow list. The paths answer 503 and are not left open.
func TestRefusedEditThatProtects(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"a.yaml": ingress("a", "a.example", []string{"/admin Prefix web"}),
		})
		s.waitBackend("http://a.example/admin", "web")
		s.write("a.yaml", ingress("a", "a.example", []string{"/admin Prefix web", "/a(b ImplementationSpecific web"},
			"use-regex: true", "allowlist-source-range: 10.0.0.0/8"))
		s.waitStatus("http://a.example/admin", 503)
	})
}

// TestNeighbourWithAnOpenBracket: a path that nobody wrote as a pattern, on a
// host that another Ingress turned to patterns, is quoted and served.
func TestNeighbourWithAnOpenBracket(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web, regex := backend(t, "web"), backend(t, "regex")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "regex.yaml": service("regex", regex),
			"a.yaml": ingress("a", "a.example", []string{"/a(b Prefix web"}),
			"b.yaml": ingress("b", "a.example", []string{"/[0-9]+ ImplementationSpecific regex"}, "use-regex: true"),
		})
		s.waitBackend("http://a.example/a(b", "web")
		s.waitBackend("http://a.example/42", "regex")
		if refused := s.lines("reason=Refused"); len(refused) > 0 {
			t.Errorf("somebody was refused: %s", refused[0])
		}
	})
}

// TestSettingsThatNginxRefuses: the settings before stay in force, and
// Ingresses go on changing.
func TestSettingsThatNginxRefuses(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		const redirect = `http-redirect-code: "307"`
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings("ssl-ciphers: HIGH", redirect),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}, "force-ssl-redirect: true"),
		}, "--configmap", "default/config")
		s.waitStatus("http://a.example/", 307)
		s.write("settings.yaml", settings("ssl-ciphers: NO-SUCH-CIPHER", redirect))
		s.waitLine("nginx refuses these settings")
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
		s.waitStatus("http://a.example/", 307)
		s.stop()
		s.launch()
		s.waitReady()
		s.waitBackend("http://b.example/", "web")
		s.waitStatus("http://a.example/", 307)
	})
}

// TestBadIngressAmongMany: where the file is large, what changed is tested in a
// small one of its own, and the bad one is found there.
func TestBadIngressAmongMany(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		many := class + service("web", web)
		for i := range 5000 {
			many += ingress(fmt.Sprintf("i%d", i), fmt.Sprintf("h%d.example", i), []string{"/ Prefix web"})
		}
		s := start(t, root, map[string]string{"many.yaml": many, "a.yaml": ingress("a", "a.example", []string{"/good Prefix web"})})
		s.waitBackend("http://a.example/good", "web")
		s.write("a.yaml", bad("a", "a.example"))
		s.waitLine("reason=Refused")
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
		s.waitBackend("http://a.example/good", "web")
		s.waitBackend("http://h4999.example/", "web")
	})
}
