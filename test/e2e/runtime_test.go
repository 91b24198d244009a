package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// held is what nginx holds besides its file, by kind.
func (s *sluice) held() map[string][]string {
	s.t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(s.State, "run", "control.sock"))
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	response, err := client.Get("http://nginx/held")
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	var held map[string][]string
	if err := json.NewDecoder(response.Body).Decode(&held); err != nil {
		s.t.Fatal(err)
	}
	return held
}

// TestCertificateThatBreaksAndIsMended: while the Secret is broken or gone the
// default certificate is presented, and none of it takes a reload.
func TestCertificateThatBreaksAndIsMended(t *testing.T) {
	eachNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "default.yaml": secret("default", newKeyPair(t, 99, "default.example")),
			"a.yaml": withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "cert", "a.example"), "cert.yaml": secret("cert", newKeyPair(t, 1, "a.example")),
			"b.yaml": withTLS(ingress("b", "b.example", []string{"/ Prefix web"}), "other", "b.example"), "other.yaml": secret("other", newKeyPair(t, 50, "b.example")),
		}, "--default-ssl-certificate", "default/default")
		eventually(t, "the first certificate", s.presents("a.example", 1))
		before, load := s.reloads(), s.generate("https://b.example/", 2)
		mixed := newKeyPair(t, 2, "a.example")
		mixed.key = newKeyPair(t, 3, "a.example").key
		garbage := keyPair{[]byte("no certificate"), []byte("no key")}
		steps := []struct {
			name   string
			change func()
		}{
			{"garbage", func() { s.write("cert.yaml", secret("cert", garbage)) }},
			{"key of another certificate", func() { s.write("cert.yaml", secret("cert", mixed)) }},
			{"deleted", func() { s.remove("cert.yaml") }},
		}
		for i, step := range steps {
			step.change()
			eventually(t, step.name+": the default certificate", s.presents("a.example", 99))
			s.write("cert.yaml", secret("cert", newKeyPair(t, int64(10+i), "a.example")))
			eventually(t, step.name+": the mended certificate", s.presents("a.example", int64(10+i)))
			s.waitBackend("https://a.example/", "web")
		}
		load.none(t)
		if !s.presents("b.example", 50)() {
			t.Error("the neighbour's certificate is not presented")
		}
		s.noReloadSince(before, "certificates")
	})
}

// TestOldStateIsDropped: without any reload, rotated certificates do not pile
// up in nginx, nor do services that are gone.
func TestOldStateIsDropped(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings("worker-shutdown-timeout: 1s"), "cert.yaml": secret("cert", newKeyPair(t, 1, "a.example")),
			"a.yaml": withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "cert", "a.example"),
		}, "--configmap", "default/config")
		eventually(t, "the first certificate", s.presents("a.example", 1))
		before := s.reloads()
		for serial := int64(2); serial < 5; serial++ {
			s.write("cert.yaml", secret("cert", newKeyPair(t, serial, "a.example")))
			eventually(t, fmt.Sprintf("certificate %d", serial), s.presents("a.example", serial))
			// One at a time: what is dropped in the end must not need a later change.
			eventually(t, "the old certificate to be dropped", func() bool { return len(s.held()["certificates"]) == 2 })
		}
		if !s.presents("a.example", 4)() {
			t.Error("the certificate in use is gone")
		}
		s.noReloadSince(before, "certificates")
	})
}

// TestLineOfASync: one line a sync says what changed, how long each stage took,
// whether nginx was reloaded, and how many problems there are.
func TestLineOfASync(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		one, two := backend(t, "one"), backend(t, "two")
		s := start(t, root, map[string]string{"class.yaml": class, "web.yaml": service("web", one)})
		cases := []struct {
			name   string
			change func()
			words  []string
		}{
			{"new host", func() { s.write("a.yaml", ingress("a", "a.example", []string{"/ Prefix web"})) },
				[]string{"reload=true", "hosts=[a.example]", "took=", "load=", "decide=", "push=", "test=", "live=", "settled=", "problems=0", "services=[default/web/80]"}},
			{"endpoints", func() { s.write("web.yaml", service("web", two)) }, []string{"reload=false", "services=[default/web/80]", "changed=0"}},
			{"many hosts", func() { s.write("many.yaml", manyHosts(9)) }, []string{"reload=true", "h4.example +4]"}},
			{"host gone", func() { s.remove("a.yaml") }, []string{"reload=true", "hostsGone=[a.example]"}},
			{"certificate", func() {
				s.write("tls.yaml", withTLS(ingress("t", "t.example", []string{"/ Prefix web"}), "cert", "t.example")+
					secret("cert", newKeyPair(t, 1, "t.example")))
			}, []string{"reload=true", "certificates=[t.example]"}},
		}
		for _, c := range cases {
			before := len(s.lines("msg=sync "))
			c.change()
			eventually(t, c.name+": a line of a sync", func() bool { return len(s.lines("msg=sync ")) > before })
			lines := s.lines("msg=sync ")[before:]
			for _, word := range c.words {
				if !strings.Contains(strings.ReplaceAll(strings.Join(lines, "\n"), `"`, ""), word) {
					t.Errorf("%s: want %q in: %s", c.name, word, lines)
				}
			}
		}
	})
}

func manyHosts(n int) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(ingress(fmt.Sprintf("h%d", i), fmt.Sprintf("h%d.example", i), []string{"/ Prefix web"}))
	}
	return out.String()
}
