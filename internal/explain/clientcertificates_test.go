package explain

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/selfsigned"
)

// TestNeighbourOfClientCertificates: nginx asks for the certificates of all clients of a host,
// also where another Ingress wants them.
func TestNeighbourOfClientCertificates(t *testing.T) {
	t.Parallel()
	made, err := selfsigned.Certificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	authority := fmt.Sprintf("---\napiVersion: v1\nkind: Secret\nmetadata: {name: ca, namespace: shop}\ndata: {ca.crt: %s}\n",
		base64.StdEncoding.EncodeToString(made.Chain))
	plain := ingress("a", []string{"shop.example /a Prefix web"})
	in := inputOf(t, authority+plain+ingress("b", []string{"shop.example / Prefix web"}, "auth-tls-secret: shop/ca"), nil)
	const want = ", unless the client has no certificate that the auth-tls-secret of Ingress shop/b accepts"
	for line, end := range map[string]string{
		"https://shop.example/a": want,
		"http://shop.example/a":  "",
		"https://shop.example/":  ", unless client-check refuses it",
	} {
		if e := asked(t, in, line); !strings.HasSuffix(e.Summary, end) || strings.Contains(e.Summary, ", unless") != (end != "") {
			t.Errorf("%s: %s", line, e.Summary)
		}
	}
	in = inputOf(t, authority+plain+ingress("b", []string{"shop.example / Prefix web"}, "auth-tls-secret: shop/ca", "auth-tls-verify-client: optional"), nil)
	if e := asked(t, in, "https://shop.example/a"); !strings.Contains(e.Summary, "the client has a certificate that the auth-tls-secret of Ingress shop/b does not accept") {
		t.Errorf("optional: %s", e.Summary)
	}
}

// TestHostClosedByClientCertificates: each Ingress of the host is told which one closes it, in
// the words of its own Problem.
func TestHostClosedByClientCertificates(t *testing.T) {
	t.Parallel()
	in := inputOf(t, ingress("a", []string{"else.example /a Prefix web", "shop.example /a Prefix web", "shop.example /c Prefix web"})+
		ingress("b", []string{"shop.example / Prefix web"}, "auth-tls-secret: shop/nosuch"), nil)
	for _, path := range []string{"/a", "/c"} {
		e := asked(t, in, "https://shop.example"+path)
		if !strings.Contains(e.Outcome, "Ingress shop/b asks for certificates of clients, which cannot be verified") {
			t.Errorf("%s: %s", path, e.Outcome)
		}
	}
	if e := asked(t, in, "https://shop.example/"); !strings.Contains(e.Outcome, "Secret shop/nosuch does not exist") {
		t.Errorf("/: %s", e.Outcome)
	}
}
