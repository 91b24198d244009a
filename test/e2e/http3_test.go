package e2e

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/test/kit"
)

const advertised = `h3=":443"; ma=86400`

var quicFlags = []string{"--configmap", "default/config"}

// quicHosts are two hosts with a certificate each, 31 and 32.
func quicHosts(t *testing.T, web *httptest.Server, config ...string) map[string]string {
	t.Helper()
	return map[string]string{
		"class.yaml": class, "web.yaml": service("web", web), "config.yaml": settings(append(config, `use-http3: "true"`)...),
		"a-secret.yaml": secret("a", newKeyPair(t, 31, "a.example")), "b-secret.yaml": secret("b", newKeyPair(t, 32, "b.example")),
		"a.yaml": withTLS(ingress("a", "a.example", []string{"/ Prefix web", "/none Prefix missing"}), "a", "a.example"),
		"b.yaml": withTLS(ingress("b", "b.example", []string{"/old/(.*) ImplementationSpecific web"}, "use-regex: true", "rewrite-target: /new/$1"), "b", "b.example") +
			withTLS(ingress("moved", "moved.example", []string{"/ Prefix web"}, "permanent-redirect: https://a.example/x"), "b", "moved.example"),
	}
}

// TestHTTP3 asks two hosts over HTTP/3: each has its certificate by SNI, and rewrites,
// redirects, errors and the catch-all server answer as over HTTP/2.
func TestHTTP3(t *testing.T) {
	eachHTTP3(t, func(t *testing.T, root string) {
		s := start(t, root, quicHosts(t, backend(t, "web")), quicFlags...)
		s.awaitQUIC("the certificate of a.example", "a.example", "/", func(v quicVisit) bool { return v.serial() == 31 && v.backend == "web" })
		s.awaitQUIC("the certificate of b.example", "b.example", "/old/x", func(v quicVisit) bool { return v.serial() == 32 && v.backend == "web" })
		for _, c := range []struct {
			host, path string
			status     int
		}{{"a.example", "/", 200}, {"a.example", "/none", 503}, {"b.example", "/other", 404}, {"moved.example", "/", 301}, {"nobody.example", "/", 404}} {
			got, err := s.askQUIC(visitor{sni: c.host}, c.host, c.path, http.Header{"X-Forwarded-For": {"192.0.2.1"}})
			if err != nil || got.status != c.status || got.proto != 3 || got.answer.Get("Alt-Svc") != advertised {
				t.Errorf("https://%s%s: %+v, %v; want %d", c.host, c.path, got, err, c.status)
			}
			if c.status == 200 && (got.header.Get("X-Forwarded-Proto") != "https" || got.header.Get("X-Forwarded-Port") != "443" || got.header.Get("X-Forwarded-For") != "127.0.0.1") {
				t.Errorf("the backend got %v", got.header)
			}
		}
		s.waitLine("HTTP/3.0")
	})
}

// TestHTTP3IsAdvertised over HTTPS of every version, also by errors and redirects, once,
// and never over plain HTTP.
func TestHTTP3IsAdvertised(t *testing.T) {
	eachHTTP3(t, func(t *testing.T, root string) {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Alt-Svc", `h3=":9999"`)
			echo("web").ServeHTTP(w, r)
		}))
		t.Cleanup(web.Close)
		manifests := quicHosts(t, web)
		manifests["plain.yaml"] = ingress("plain", "plain.example", []string{"/ Prefix web"}, "enable-cors: true")
		s := start(t, root, manifests, quicFlags...)
		s.waitBackend("https://a.example/", "web")
		for _, c := range []struct {
			url, want string
			status    int
		}{
			{"https://a.example/", advertised, 200}, {"https://a.example/none", advertised, 503}, {"https://moved.example/", advertised, 301},
			{"https://nobody.example/", advertised, 404}, {"https://plain.example/", advertised, 200},
			{"http://plain.example/", "", 200}, {"http://a.example/", "", 308}, {"http://nobody.example/", "", 404},
		} {
			got, err := s.ask(http.MethodGet, c.url, http.Header{"Origin": {"https://app.example"}})
			if err != nil || got.status != c.status || strings.Join(got.header["Alt-Svc"], " and ") != c.want {
				t.Errorf("%s: %d, %q, %v", c.url, got.status, got.header["Alt-Svc"], err)
			}
		}
		got, err := s.visit(visitor{sni: "a.example"}, "a.example", "/", nil)
		if err != nil || got.proto != 2 {
			t.Errorf("HTTP/2: %+v, %v", got, err)
		}
	})
}

// TestHTTP3WithoutReload changes a certificate and the endpoints below a client of HTTP/3.
func TestHTTP3WithoutReload(t *testing.T) {
	eachHTTP3(t, func(t *testing.T, root string) {
		s := start(t, root, quicHosts(t, backend(t, "web")), quicFlags...)
		s.awaitQUIC("the first certificate", "a.example", "/", func(v quicVisit) bool { return v.serial() == 31 && v.backend == "web" })
		transport := s.overQUIC(visitor{sni: "a.example"})
		defer transport.Close()
		before := s.reloads()
		s.write("a-secret.yaml", secret("a", newKeyPair(t, 33, "a.example")))
		s.awaitQUIC("the second certificate", "a.example", "/", func(v quicVisit) bool { return v.serial() == 33 })
		s.write("web.yaml", service("web", backend(t, "other")))
		eventually(t, "the other backend", func() bool {
			got, err := askOverQUIC(transport, "a.example", "/", nil)
			return err == nil && got.backend == "other"
		})
		s.noReloadSince(before, "a certificate and an endpoint")
	})
}

// TestHTTP3AcrossReloads: old and new workers read the same QUIC sockets, so while an old one
// finishes a request, connections of HTTP/3 may be delayed or lost
// (https://github.com/nginx/nginx/issues/425). HTTP/2 always works, and when the old workers
// have ended, so does HTTP/3, every time.
func TestHTTP3AcrossReloads(t *testing.T) {
	eachHTTP3(t, func(t *testing.T, root string) {
		manifests := quicHosts(t, backend(t, "web"))
		manifests["plain.yaml"] = ingress("plain", "plain.example", []string{"/ Prefix web"})
		s := start(t, root, manifests, quicFlags...)
		s.awaitQUIC("a.example", "a.example", "/", func(v quicVisit) bool { return v.backend == "web" })
		for round := range 3 {
			former, finish := workers(s.master()), s.unfinished("plain.example")
			host, before := fmt.Sprintf("new%d.example", round), s.reloads()
			s.write(host+".yaml", withTLS(ingress(fmt.Sprintf("new%d", round), host, []string{"/ Prefix web"}), "a", host))
			eventually(t, "the reload for the host", func() bool { return s.reloads() > before })
			for range 10 {
				if got, err := s.visit(visitor{sni: "a.example"}, "a.example", "/", nil); err != nil || got.backend != "web" || got.proto != 2 {
					t.Errorf("over HTTP/2 beside old workers of reload %d: %+v, %v", round, got, err)
				}
			}
			finish()
			waitGone(t, former)
			for range 10 {
				got, err := s.askQUIC(visitor{sni: host}, host, "/", nil)
				if err != nil || got.backend != "web" {
					t.Errorf("after reload %d: %+v, %v", round, got, err)
				}
			}
		}
	})
}

// TestHTTP3ClientCertificates: a host that verifies its clients is as closed as over
// HTTP/2, also where a connection or a session is of another host.
func TestHTTP3ClientCertificates(t *testing.T) {
	eachHTTP3(t, func(t *testing.T, root string) {
		ca, other := newClientCA(t), newClientCA(t)
		manifests := clientHosts(t, ca, other)
		manifests["config.yaml"] = settings(`use-http3: "true"`)
		s := start(t, root, manifests, quicFlags...)
		alice, mallory := ca.issue(t, "alice", 2), other.issue(t, "alice", 2)
		s.waitVisit(visitor{sni: "strict.example", certificate: alice}, "strict.example", 200)
		s.awaitQUIC("plain.example", "plain.example", "/", func(v quicVisit) bool { return v.status == 200 })
		for _, c := range []struct {
			sni, host   string
			certificate *tls.Certificate
			status      int
			verify      string
		}{
			{"strict", "strict", nil, 400, ""}, {"strict", "strict", alice, 200, "SUCCESS"}, {"strict", "strict", mallory, 400, ""},
			{"other", "other", alice, 400, ""}, {"other", "other", mallory, 200, "SUCCESS"},
			{"optional", "optional", nil, 200, "NONE"}, {"given", "given", nil, 401, ""}, {"mixed", "mixed", nil, 401, ""},
			{"plain", "strict", nil, 421, ""}, {"plain", "strict", alice, 421, ""}, {"other", "strict", mallory, 421, ""}, {"other", "strict", alice, 421, ""},
		} {
			sni, host := c.sni+".example", c.host+".example"
			forged := http.Header{"Ssl-Client-Verify": {"SUCCESS"}, "Ssl-Client-Subject-Dn": {"CN=root"}}
			got, err := s.askQUIC(visitor{sni: sni, certificate: c.certificate}, host, "/", forged)
			same, h2err := s.visit(visitor{sni: sni, certificate: c.certificate}, host, "/", forged)
			if err != nil || h2err != nil || got.status != c.status || got.status != same.status {
				t.Errorf("%s at %s: %+v, %v; want %d; over HTTP/2 %d, %v", host, sni, got, err, c.status, same.status, h2err)
				continue
			}
			if verify, _, _ := strings.Cut(got.header.Get("Ssl-Client-Verify"), ":"); verify != c.verify || strings.Contains(fmt.Sprint(got.header), "CN=root") {
				t.Errorf("%s: the backend got %v", host, got.header)
			}
		}
		s.resumesNothing(alice)
	})
}

// resumesNothing offers the session of a verified client to a host of another authority.
func (s *sluice) resumesNothing(alice *tls.Certificate) {
	s.t.Helper()
	sessions := &anySession{}
	for range 2 {
		got, err := s.askQUIC(visitor{sni: "strict.example", certificate: alice, sessions: sessions}, "strict.example", "/", nil)
		if err != nil || got.status != 200 || got.resumed {
			s.t.Errorf("a verified client: %+v, %v", got, err)
		}
	}
	for _, host := range []string{"strict.example", "other.example"} {
		got, err := s.askQUIC(visitor{sni: host, sessions: sessions}, host, "/", nil)
		if err == nil && got.status == 200 {
			s.t.Errorf("%s lets a session of another client in: %+v", host, got)
		}
	}
}

// TestHTTP3BesidePROXY: connections of TCP have a PROXY header, those of QUIC none, and the
// address of a client is that of its packets.
func TestHTTP3BesidePROXY(t *testing.T) {
	for name, config := range map[string][]string{
		"alone":                 {`use-proxy-protocol: "true"`},
		"forwarded":             {`use-proxy-protocol: "true"`, `use-forwarded-headers: "true"`, `compute-full-forwarded-for: "true"`, `proxy-real-ip-cidr: "203.0.113.0/24"`},
		"trusted loopback":      {`use-proxy-protocol: "true"`, `proxy-real-ip-cidr: "127.0.0.0/8"`},
		"trusted and forwarded": {`use-proxy-protocol: "true"`, `use-forwarded-headers: "true"`, `compute-full-forwarded-for: "true"`, `proxy-real-ip-cidr: "127.0.0.0/8"`},
		"whom everyone asks":    {`use-proxy-protocol: "true"`, `use-forwarded-headers: "true"`},
	} {
		t.Run(name, func(t *testing.T) {
			eachHTTP3(t, func(t *testing.T, root string) {
				s := start(t, root, quicHosts(t, backend(t, "web"), config...), quicFlags...)
				s.awaitQUIC("a.example", "a.example", "/", func(v quicVisit) bool { return v.backend == "web" })
				forged := http.Header{}
				if name != "whom everyone asks" {
					forged.Set("X-Forwarded-For", "192.0.2.9") // no proxy vouches for it
				}
				got, err := s.askQUIC(visitor{sni: "a.example"}, "a.example", "/", forged)
				if err != nil || got.header.Get("X-Real-Ip") != "127.0.0.1" || got.header.Get("X-Forwarded-For") != "127.0.0.1" ||
					got.header.Get("X-Forwarded-Proto") != "https" || got.header.Get("X-Forwarded-Port") != "443" {
					t.Errorf("the backend got %v, %v", got.header, err)
				}
				_, body, err := s.secured(secure{sni: "a.example", host: "a.example", before: "PROXY TCP4 192.0.2.7 192.0.2.1 4444 443\r\n"})
				if err != nil || !strings.Contains(body, `"web"`) {
					t.Errorf("over TCP: %q, %v", body, err)
				}
			})
		})
	}
}

// TestHTTP3BesidePassthrough: nginx does not answer over QUIC in place of a backend whose
// TLS it passes through.
func TestHTTP3BesidePassthrough(t *testing.T) {
	eachHTTP3(t, func(t *testing.T, root string) {
		s := start(t, root, passing(t, backend(t, "web"), `use-http3: "true"`), passingFlags...)
		s.awaitQUIC("ours.example", "ours.example", "/", func(v quicVisit) bool { return v.serial() == 22 && v.backend == "web" })
		got, err := s.askQUIC(visitor{sni: "ours.example"}, "ours.example", "/", nil)
		if err != nil || got.header.Get("X-Forwarded-For") != "127.0.0.1" || got.header.Get("X-Forwarded-Port") != "443" {
			t.Errorf("the backend got %v, %v", got.header, err)
		}
		for _, host := range []string{"pass.example", "any.wild.example"} {
			got, err := s.askQUIC(visitor{sni: host}, host, "/", nil)
			if err == nil || got.status != 0 {
				t.Errorf("%s over HTTP/3: %+v, %v; want a handshake that is refused", host, got, err)
			}
			got, err = s.askQUIC(visitor{sni: "ours.example"}, host, "/", nil)
			if err != nil || got.status != 421 {
				t.Errorf("%s over a connection of another host: %+v, %v; want 421", host, got, err)
			}
			passed, err := s.get("https://" + host + "/")
			if err != nil || passed.backend != "passed" || passed.header.Get("Alt-Svc") != "" {
				t.Errorf("%s: %+v, %v", host, passed, err)
			}
		}
	})
}

// TestHTTP3IsMissing: without HTTP/3, or without TLS 1.3, a Problem says so, nothing listens
// on UDP, and the rest serves.
func TestHTTP3IsMissing(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		config, want := []string{`use-http3: "true"`}, "this nginx lacks HTTP/3"
		for _, n := range kit.Nginxes(t) {
			if n.Root == root && n.Capabilities.HTTP3 {
				config, want = append(config, `ssl-protocols: "TLSv1.2"`), "HTTP/3 needs TLS 1.3"
			}
		}
		manifests := quicHosts(t, backend(t, "web"))
		manifests["config.yaml"] = settings(config...)
		s := start(t, root, manifests, quicFlags...)
		s.waitLine(want)
		s.waitBackend("https://a.example/", "web")
		if got, err := s.get("https://a.example/"); err != nil || got.header.Get("Alt-Svc") != "" || s.hearsQUIC() {
			t.Errorf("%v, %v; listens on UDP: %t", got.header, err, s.hearsQUIC())
		}
	})
}
