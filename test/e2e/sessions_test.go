package e2e

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// client asks a host as `openssl s_client` does and returns what it prints.
func (s *sluice) client(host string, options ...string) string {
	s.t.Helper()
	command := exec.Command("openssl", append([]string{"s_client", "-connect", fmt.Sprintf("127.0.0.1:%d", s.HTTPS), "-servername", host}, options...)...)
	in, out, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), out.Close() }()
	// s_client ends when its input ends, so the input stays open until the answer came.
	_, _ = io.WriteString(out, "GET / HTTP/1.0\r\nHost: "+host+"\r\n\r\n")
	command.Stdin = in
	text, _ := command.CombinedOutput()
	return string(text)
}

// ticketKey is a new value of ssl-session-ticket-key.
func ticketKey(t *testing.T, size int) string {
	t.Helper()
	key := make([]byte, size)
	if _, err := rand.Read(key); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(key)
}

func withTickets(key string) string {
	return settings(`ssl-session-tickets: "true"`, fmt.Sprintf("ssl-session-ticket-key: %q", key))
}

// resumes reports whether a session of one Sluice goes on at another one.
func resumes(t *testing.T, from, to *sluice, host, version string) bool {
	t.Helper()
	file := filepath.Join(t.TempDir(), "session")
	if first := from.client(host, version, "-sess_out", file); !strings.Contains(first, "New, TLS") {
		t.Fatalf("no session: %s", first)
	}
	return strings.Contains(to.client(host, version, "-sess_in", file), "Reused, TLS")
}

// TestSessionTicketKey: two Sluices with the same key resume each other's sessions, also after
// reloads. Another key ends that without a reload. The key is never on disk.
func TestSessionTicketKey(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		for _, size := range []int{48, 80} {
			web, key, pair := backend(t, "web"), ticketKey(t, size), newKeyPair(t, 7, "a.example")
			begin := func() *sluice {
				return start(t, root, map[string]string{
					"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": withTickets(key), "secret.yaml": secret("cert", pair),
					"a.yaml": withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "cert", "a.example"),
				}, "--configmap", "default/config")
			}
			one, other := begin(), begin()
			for _, s := range []*sluice{one, other} {
				eventually(t, "the certificate", s.presents("a.example", 7))
			}
			for _, version := range []string{"-tls1_2", "-tls1_3"} {
				if !resumes(t, one, other, "a.example", version) || !resumes(t, other, one, "a.example", version) {
					t.Errorf("%d bytes, %s: the same key does not resume", size, version)
				}
			}
			one.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
			one.waitBackend("http://b.example/", "web")
			if !resumes(t, one, other, "a.example", "-tls1_3") {
				t.Errorf("%d bytes: the key is gone after a reload", size)
			}
			before := one.reloads()
			one.write("settings.yaml", withTickets(ticketKey(t, size)))
			eventually(t, "another key", func() bool { return !resumes(t, one, other, "a.example", "-tls1_3") })
			if !resumes(t, one, one, "a.example", "-tls1_2") {
				t.Errorf("%d bytes: the other key does not resume", size)
			}
			one.noReloadSince(before, "another key")
			nowhere(t, one, key)
		}
	})
}

// nowhere looks for a key, in base64 and as bytes, in all files of a Sluice, and in its log.
func nowhere(t *testing.T, s *sluice, key string) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	if lines := s.lines(key[:20]); len(lines) > 0 {
		t.Errorf("the log has the key: %s", lines[0])
	}
	files := 0
	err = filepath.WalkDir(s.State, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil {
			files++
		}
		if bytes.Contains(content, []byte(key[:20])) || bytes.Contains(content, raw[:16]) || bytes.Contains(content, raw[len(raw)-16:]) {
			t.Errorf("%s has the key", path)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files looked at: %v", files, err)
	}
}

// TestEarlyData: a request in early data reaches the backend with Early-Data: 1, and others
// without it. Hosts that verify clients accept none. It is off by default.
func TestEarlyData(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		var early atomic.Value
		early.Store("")
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" { // s_client asks for / after the early data
				early.Store(strings.Join(r.Header.Values("Early-Data"), ", "))
			}
			echo("web").ServeHTTP(w, r)
		}))
		t.Cleanup(web.Close)
		ca := newClientCA(t)
		manifests := map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings(`ssl-early-data: "false"`),
			"secret.yaml": secret("cert", newKeyPair(t, 7, "a.example", "strict.example")), "ca.yaml": dataSecret("ca", "ca.crt", string(ca.pem)),
			"a.yaml": withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "cert", "a.example"),
			"s.yaml": withTLS(ingress("s", "strict.example", []string{"/ Prefix web"}, "auth-tls-secret: default/ca", "auth-tls-verify-client: optional"), "cert", "strict.example"),
		}
		s := start(t, root, manifests, "--configmap", "default/config")
		eventually(t, "the certificate", s.presents("a.example", 7))
		data, session := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "session")
		try := func(host string) string {
			if err := os.WriteFile(data, []byte("GET /early HTTP/1.1\r\nHost: "+host+"\r\n\r\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s.client(host, "-tls1_3", "-sess_out", session)
			early.Store("not asked")
			switch text := s.client(host, "-tls1_3", "-sess_in", session, "-early_data", data); {
			case strings.Contains(text, "Early data was accepted"):
				return "accepted"
			case strings.Contains(text, "Early data was not sent"):
				return "not sent"
			case strings.Contains(text, "Early data was rejected"):
				return "rejected"
			default:
				return text
			}
		}
		if got := try("a.example"); got != "not sent" {
			t.Errorf("by default: %s", got)
		}
		s.write("settings.yaml", settings(`ssl-early-data: "true"`))
		eventually(t, "early data", func() bool { return try("a.example") == "accepted" && early.Load() == "1" })
		if got := try("strict.example"); got == "accepted" {
			t.Error("a host that verifies clients accepts early data")
		}
		for header, want := range map[string]string{"": "", "1": "1"} {
			sent := http.Header{}
			if header != "" {
				sent.Set("Early-Data", header)
			}
			if a, err := s.ask(http.MethodGet, "https://a.example/late", sent); err != nil || a.backend != "web" || early.Load() != want {
				t.Errorf("a request after the handshake with Early-Data %q: the backend got %q, want %q: %v", header, early.Load(), want, err)
			}
		}
	})
}

// TestDHParam: DHE ciphers need the parameters of the Secret, on shared and own TLS contexts.
// Parameters that are too small leave HTTPS as it is.
func TestDHParam(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		group := func(name string) string {
			out, err := exec.Command("openssl", "genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:"+name).Output()
			if err != nil {
				t.Fatal(err)
			}
			return dataSecret("dh", "dhparam.pem", string(out))
		}
		web, pair := backend(t, "web"), rsaPair(t, 7, "a.example", "own.example")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": settings(`ssl-dh-param: "default/dh"`), "dh.yaml": group("ffdhe2048"),
			"secret.yaml": secret("cert", pair),
			"a.yaml":      withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "cert", "a.example"),
			"own.yaml":    withTLS(ingress("own", "own.example", []string{"/ Prefix web"}, "ssl-ciphers: DHE-RSA-AES128-GCM-SHA256"), "cert", "own.example"),
		}, "--configmap", "default/config")
		dhe := func(host, bits string) func() bool {
			return func() bool {
				return strings.Contains(s.client(host, "-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"), "Server Temp Key: DH, "+bits+" bits")
			}
		}
		eventually(t, "DHE with 2048 bits", dhe("a.example", "2048"))
		eventually(t, "DHE on a host with its own ciphers", dhe("own.example", "2048"))
		s.write("dh.yaml", group("ffdhe3072"))
		eventually(t, "DHE with 3072 bits", dhe("a.example", "3072"))
		s.write("dh.yaml", group("modp_1536"))
		s.waitLine("want a prime of 2048 to 8192 bits (got one of 1536)")
		eventually(t, "no DHE", func() bool { return !dhe("a.example", "3072")() && !dhe("a.example", "1536")() })
		s.waitBackend("https://a.example/", "web")
	})
}
