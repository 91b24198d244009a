package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/debugapi"
)

// inNamespace moves manifests of the namespace default to another one.
func inNamespace(namespace, manifests string) string {
	return strings.ReplaceAll(manifests, "namespace: default", "namespace: "+namespace)
}

// longer repeats a certificate, so that its chain has at least this many bytes.
func (p keyPair) longer(size int) keyPair {
	return keyPair{bytes.Repeat(p.certificate, 1+size/len(p.certificate)), p.key}
}

// memory is what /general tells of the dictionary of certificates.
func (s *sluice) memory() debugapi.Memory {
	s.t.Helper()
	for _, m := range viewed[debugapi.General](s, "/general").Nginx.Memory {
		if m.Name == "certificate_data" {
			return m
		}
	}
	s.t.Fatal("no memory is told")
	return debugapi.Memory{}
}

// TestCertificatesOfOneNamespaceTakeNoOthersRoom: one namespace has more than
// nginx can hold, and chains of a megabyte. Another one's certificates are
// presented and renewed, also after nginx was killed and while the size is
// changed, and everybody concerned is told.
func TestCertificatesOfOneNamespaceTakeNoOthersRoom(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		files := map[string]string{
			"class.yaml": class, "settings.yaml": settings(`lua-shared-dicts: "certificate_data: 1"`),
			"small.yaml": inNamespace("small", service("web", web)+secret("own", newKeyPair(t, 7, "small.example"))+
				withTLS(ingress("small", "small.example", []string{"/ Prefix web"}), "own", "small.example")),
			"web.yaml": service("web", web),
			"huge.yaml": secret("huge", newKeyPair(t, 8, "huge.example").longer(1<<20)) +
				withTLS(ingress("huge", "huge.example", []string{"/ Prefix web"}), "huge", "huge.example"),
		}
		for n := range 30 {
			host := fmt.Sprintf("h%02d.example", n)
			files[host+".yaml"] = secret(host, newKeyPair(t, int64(100+n), host).longer(50_000)) + withTLS(ingress(host, host, []string{"/ Prefix web"}), host, host)
		}
		s := start(t, root, files, "--configmap", "default/config")
		eventually(t, "the small namespace's certificate", s.presents("small.example", 7))
		s.waitLine("want at most 65536 bytes of certificates (got ")
		s.waitLine("no room for its certificate, so nginx presents the default one")
		s.waitLine("nginx's memory fills up: certificate_data")
		if m := s.memory(); m.Size != 1<<20 || m.Used < 800_000 {
			t.Errorf("the memory of certificates is %+v", m)
		}
		kept := 0
		for n := range 30 {
			if s.presents(fmt.Sprintf("h%02d.example", n), int64(100+n))() {
				kept++
			}
		}
		if kept < 15 || kept > 18 {
			t.Errorf("the large namespace has %d certificates", kept)
		}
		renew := func(serial int64) {
			s.write("small.yaml", inNamespace("small", service("web", web)+secret("own", newKeyPair(t, serial, "small.example"))+
				withTLS(ingress("small", "small.example", []string{"/ Prefix web"}), "own", "small.example")))
			eventually(t, "the renewed certificate", s.presents("small.example", serial))
		}
		renew(20)
		before := s.reloads()
		kill(t, s.master())
		eventually(t, "the reload after a crash", func() bool { return s.reloads() > before })
		eventually(t, "the certificate after a crash", s.presents("small.example", 20))
		if m := s.memory(); m.Size != 1<<20 {
			t.Errorf("the memory of certificates is %+v after a crash", m)
		}
		before = s.reloads()
		s.write("settings.yaml", settings(`lua-shared-dicts: "certificate_data: 2"`))
		s.waitLine("restart Sluice to change them")
		renew(21)
		if s.reloads() != before || s.memory().Size != 1<<20 {
			t.Errorf("another size made %d reloads; the memory is %+v", s.reloads()-before, s.memory())
		}
		s.stop()
		s.launch()
		eventually(t, "the certificate after a start", s.presents("small.example", 21))
		if m := s.memory(); m.Size != 2<<20 {
			t.Errorf("the memory of certificates is %+v after a start", m)
		}
	})
}
