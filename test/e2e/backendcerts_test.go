package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// askingBackend is an HTTPS backend that answers with the serial number of the certificate
// that nginx presented, 0 for none.
func askingBackend(t *testing.T) *httptest.Server {
	t.Helper()
	pair := newKeyPair(t, 99, "backend.internal")
	certificate, err := tls.X509KeyPair(pair.certificate, pair.key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serial := int64(0)
		if len(r.TLS.PeerCertificates) > 0 {
			serial = r.TLS.PeerCertificates[0].SerialNumber.Int64()
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Serial": serial, "Version": r.TLS.Version})
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// TestCertificateForBackends: nginx presents the certificate of the Secret that a path
// names, a new one after it changed, and no other host's connection has it. The key is in
// no file.
func TestCertificateForBackends(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := askingBackend(t)
		first := newKeyPair(t, 11, "ingress")
		to := func(name string, more ...string) string {
			return ingress(name, name+".example", []string{"/ Prefix web"}, append(more, "backend-protocol: HTTPS")...)
		}
		with := func(name string, pair keyPair) string {
			return dataSecret(name, "tls.crt", string(pair.certificate), "tls.key", string(pair.key))
		}
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "one.yaml": with("one", first), "two.yaml": with("two", newKeyPair(t, 22, "ingress")),
			"hosts.yaml": to("first", "proxy-ssl-secret: default/one") + to("second", "proxy-ssl-secret: default/two", "proxy-ssl-protocols: TLSv1.3") + to("none") +
				to("broken", "proxy-ssl-secret: default/nosuch"),
		})
		serial := func(host string) (serial int64, version uint16) {
			a, err := s.get("http://" + host + ".example/")
			var told struct {
				Serial  int64
				Version uint16
			}
			if err != nil || a.status != 200 || json.Unmarshal([]byte(a.body), &told) != nil {
				return -1, 0
			}
			return told.Serial, told.Version
		}
		is := func(host string, want int64) func() bool {
			return func() bool { got, _ := serial(host); return got == want }
		}
		eventually(t, "the certificate of the first host", is("first", 11))
		for range 5 {
			for host, want := range map[string]int64{"first": 11, "second": 22, "none": 0, "broken": -1} {
				got, version := serial(host)
				if got != want || host == "first" && version != tls.VersionTLS12 || host == "second" && version != tls.VersionTLS13 {
					t.Errorf("%s.example: certificate %d over TLS %x, want %d", host, got, version, want)
				}
			}
		}
		s.waitStatus("http://broken.example/", 503)
		nowhereOnDisk(t, s.State, first)
		s.write("one.yaml", with("one", newKeyPair(t, 12, "ingress")))
		eventually(t, "the next certificate", is("first", 12))
		s.write("one.yaml", dataSecret("one", "tls.crt", string(first.certificate), "tls.key", "nonsense"))
		s.waitStatus("http://first.example/", 503)
	})
}

// nowhereOnDisk looks for a private key in all files of a folder.
func nowhereOnDisk(t *testing.T, folder string, pair keyPair) {
	t.Helper()
	block, _ := pem.Decode(pair.key)
	line := bytes.Split(bytes.TrimSpace(pair.key), []byte("\n"))[1]
	files := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		files++
		if bytes.Contains(content, line) || bytes.Contains(content, block.Bytes) {
			t.Errorf("%s holds the private key", path)
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("looked into %d files: %v", files, err)
	}
}
