package e2e

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/test/kit"
)

// secure is an HTTPS request from an address of this machine.
type secure struct {
	sni, host, from string
	// before is what is sent before TLS begins, headers are those of the request.
	before, headers string
	// path is "/" where none is given.
	path string
}

// secured gives the serial number of the certificate presented, and the answer.
func (s *sluice) secured(r secure) (serial int64, body string, err error) {
	dialer := net.Dialer{Timeout: kit.Patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(r.from)}}
	connection, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.HTTPS))
	if err != nil {
		return 0, "", err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(kit.Patience)); err != nil {
		return 0, "", err
	}
	if _, err := io.WriteString(connection, r.before); err != nil {
		return 0, "", err
	}
	client := tls.Client(connection, &tls.Config{ServerName: r.sni, InsecureSkipVerify: true})
	if err := client.Handshake(); err != nil {
		return 0, "", err
	}
	serial = client.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	fmt.Fprintf(client, "GET %s HTTP/1.0\r\nHost: %s\r\n%s\r\n", cmp.Or(r.path, "/"), r.host, r.headers)
	answer, err := io.ReadAll(client)
	return serial, string(answer), err
}

// passing gives the manifests of pass.example, whose backend has a certificate of
// the serial number 21, and of ours.example, whose certificate has 22.
func passing(t *testing.T, web *httptest.Server, config ...string) map[string]string {
	t.Helper()
	passed := tlsBackend(t, "passed", newKeyPair(t, 21, "pass.example", "any.wild.example"))
	return map[string]string{
		"class.yaml": class, "services.yaml": service("passed", passed) + service("web", web), "config.yaml": settings(config...),
		"secret.yaml": secret("ours", newKeyPair(t, 22, "ours.example", "ours.wild.example")),
		"pass.yaml":   ingress("pass", "pass.example", []string{"/ Prefix passed"}, "ssl-passthrough: true") + ingress("wild", "*.wild.example", []string{"/ Prefix passed"}, "ssl-passthrough: true"),
		"ours.yaml": withTLS(ingress("ours", "ours.example", []string{"/ Prefix web"}), "ours", "ours.example") +
			withTLS(ingress("ours-wild", "ours.wild.example", []string{"/ Prefix web"}), "ours", "ours.wild.example"),
	}
}

var passingFlags = []string{"--enable-ssl-passthrough", "--configmap", "default/config"}

// told is a header that the backend of ours.example was told.
func told(body, name string) string {
	match := regexp.MustCompile(`(?m)^` + name + `: (.*)$`).FindStringSubmatch(body)
	if match == nil {
		return "(none)"
	}
	return match[1]
}

// TestPassthrough: a host that is passed through has the certificate of its
// backend, whatever the case of its name; another has ours, and its backend is
// told the client as if nothing were passed through.
func TestPassthrough(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s := start(t, root, passing(t, headersBackend(t)), passingFlags...)
		for sni, want := range map[string]int64{
			"pass.example": 21, "PASS.Example": 21, "any.wild.example": 21, "ANY.wild.example": 21,
			"ours.example": 22, "ours.wild.example": 22, "Ours.Wild.Example": 22,
		} {
			serial, body, err := s.secured(secure{sni: sni, host: sni, from: "127.0.0.2"})
			if err != nil || serial != want {
				t.Errorf("%s presents %d, want %d (%v)", sni, serial, want, err)
			}
			if passed := strings.Contains(body, `"Backend":"passed"`); passed != (want == 21) {
				t.Errorf("%s is answered: %s", sni, body)
			}
		}
		for _, sni := range []string{"a.b.wild.example", "unknown.example", ""} {
			serial, body, err := s.secured(secure{sni: sni, host: "ours.example", from: "127.0.0.2"})
			if err != nil || serial == 21 || serial == 22 || told(body, "X-Real-Ip") != "127.0.0.2" {
				t.Errorf("the name %q presents %d (%v): %s", sni, serial, err, body)
			}
		}
		_, body, err := s.secured(secure{sni: "ours.example", host: "ours.example", from: "127.0.0.2", headers: "X-Forwarded-For: 198.51.100.9\r\nX-Forwarded-Port: 8\r\n"})
		for name, want := range map[string]string{
			"X-Real-Ip": "127.0.0.2", "X-Forwarded-For": "127.0.0.2", "X-Forwarded-Port": "443", "X-Forwarded-Proto": "https", "X-Original-Forwarded-For": "198.51.100.9",
		} {
			if got := told(body, name); got != want {
				t.Errorf("the backend is told %s: %s, want %s (%v)", name, got, want, err)
			}
		}
		if a, err := s.get("http://ours.example/x"); err != nil || a.status != 308 || a.header.Get("Location") != "https://ours.example/x" {
			t.Errorf("plain HTTP: %d to %s (%v)", a.status, a.header.Get("Location"), err)
		}
	})
}

// TestPassthroughBehindProxies: what proxies in front say of the client counts for
// HTTPS as it does for HTTP, and from nobody else.
func TestPassthroughBehindProxies(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s := start(t, root, passing(t, headersBackend(t), `use-forwarded-headers: "true"`, `proxy-real-ip-cidr: "127.0.0.2"`), passingFlags...)
		asks := func(from, before, headers, name string) string {
			_, body, err := s.secured(secure{sni: "ours.example", host: "ours.example", from: from, before: before, headers: headers})
			if err != nil {
				return err.Error()
			}
			return told(body, name)
		}
		const claim = "X-Forwarded-For: 198.51.100.9\r\nX-Forwarded-Port: 8443\r\n"
		for _, test := range []struct{ from, headers, name, want string }{
			{"127.0.0.2", claim, "X-Real-Ip", "198.51.100.9"},
			{"127.0.0.2", claim, "X-Forwarded-Port", "8443"},
			{"127.0.0.2", "", "X-Real-Ip", "127.0.0.2"},
			{"127.0.0.3", claim, "X-Real-Ip", "127.0.0.3"},
			{"127.0.0.3", claim, "X-Forwarded-Port", "443"},
		} {
			if got := asks(test.from, "", test.headers, test.name); got != test.want {
				t.Errorf("from %s with %q: %s is %s, want %s", test.from, test.headers, test.name, got, test.want)
			}
		}
		s.noHeaderOfOurs(asks)

		s.write("config.yaml", settings(`use-proxy-protocol: "true"`, `proxy-real-ip-cidr: "127.0.0.2"`))
		const announced = "PROXY TCP4 203.0.113.20 192.0.2.1 4444 443\r\n"
		eventually(t, "the client to be whom the PROXY header names", func() bool { return asks("127.0.0.2", announced, claim, "X-Real-Ip") == "203.0.113.20" })
		eventually(t, "no older worker to accept", func() bool { return s.reloads() > 1 })
		if got := asks("127.0.0.3", announced, claim, "X-Real-Ip"); got != "127.0.0.3" {
			t.Errorf("a PROXY header of somebody else counts: %s", got)
		}
		if serial, _, err := s.secured(secure{sni: "pass.example", host: "pass.example", from: "127.0.0.2", before: announced}); serial != 21 {
			t.Errorf("pass.example presents %d (%v)", serial, err)
		}
		if got := asks("127.0.0.2", announced, "", "X-Forwarded-Port"); got != "443" {
			t.Errorf("X-Forwarded-Port is %s", got)
		}

		s.write("config.yaml", settings(`use-proxy-protocol: "true"`, `use-forwarded-headers: "true"`, `proxy-real-ip-cidr: "127.0.0.2,203.0.113.0/24"`))
		eventually(t, "the client to be whom the proxy in front names", func() bool { return asks("127.0.0.2", announced, claim, "X-Real-Ip") == "198.51.100.9" })
	})
}

// noHeaderOfOurs: the header that passes the address on is not told to backends.
func (s *sluice) noHeaderOfOurs(asks func(from, before, headers, name string) string) {
	s.t.Helper()
	conf, err := os.ReadFile(filepath.Join(s.State, "nginx.conf"))
	if err != nil {
		s.t.Fatal(err)
	}
	name := regexp.MustCompile(`real_ip_header (\S+);`).FindSubmatch(conf)
	if name == nil {
		s.t.Fatal("nothing passes the address on")
	}
	header := http.CanonicalHeaderKey(strings.ToLower(string(name[1])))
	if got := asks("127.0.0.2", "", "", header); got != "(none)" {
		s.t.Errorf("the backend is told %s: %s", header, got)
	}
}

// TestPassthroughIsTurnedOnAndOff: a reload is enough, plain HTTP goes on, and a
// change of endpoints takes effect.
func TestPassthroughIsTurnedOnAndOff(t *testing.T) {
	eachNginxAlone(t, func(t *testing.T, root string) {
		manifests := passing(t, headersBackend(t))
		on := manifests["pass.yaml"]
		manifests["pass.yaml"] = strings.ReplaceAll(on, `ssl-passthrough: "true"`, `ssl-passthrough: "false"`)
		s := start(t, root, manifests, passingFlags...)
		presents := func(host string) int64 {
			serial, _, _ := s.secured(secure{sni: host, host: host, from: "127.0.0.2"})
			return serial
		}
		if got := presents("pass.example"); got == 21 || got == 0 {
			t.Errorf("before it is turned on, pass.example presents %d", got)
		}
		load := s.generate("https://ours.example/", 2)
		s.write("pass.yaml", on)
		eventually(t, "pass.example to be passed through", func() bool { return presents("pass.example") == 21 })
		if got := presents("ours.example"); got != 22 {
			t.Errorf("ours.example presents %d", got)
		}
		other := tlsBackend(t, "other", newKeyPair(t, 31, "pass.example"))
		s.write("other.yaml", service("other", other))
		s.write("pass.yaml", strings.ReplaceAll(on, "name: passed", "name: other"))
		eventually(t, "pass.example to be passed to another Service", func() bool { return presents("pass.example") == 31 })
		s.write("other.yaml", service("other"))
		eventually(t, "connections to be closed without endpoints", func() bool { return presents("pass.example") == 0 })
		s.remove("pass.yaml")
		eventually(t, "nothing to be passed through", func() bool { got := presents("pass.example"); return got != 0 && got != 31 })
		load.none(t)
		if got := presents("ours.example"); got != 22 {
			t.Errorf("ours.example presents %d", got)
		}
	})
}
