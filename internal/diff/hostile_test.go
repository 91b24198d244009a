package diff

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const twoPaths = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: nginx
  tls: [{hosts: [shop.example], secretName: shop}]
  rules:
  - host: shop.example
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /x, pathType: Prefix, backend: {service: {name: cart, port: {number: 80}}}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
`

// objectsWith returns the objects above after a change.
func objectsWith(t *testing.T, change func(*networkingv1.Ingress), secrets ...*corev1.Secret) Side {
	t.Helper()
	objects := objectsOf(t, "shop.yaml", []byte(twoPaths))
	if change != nil {
		change(objects.Ingresses[0])
	}
	objects.Secrets = secrets
	return sideOf(t, objects, nil)
}

// Whatever users write: each line of the text and of the Markdown outside of the lines of
// nginx.conf is printable, cells stay cells, and no value is read as Markdown or HTML.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	values := []string{"|", "\\|", "`", "``|`", "<b>x</b>", "</code></summary><script>", "@team #1 https://x.example [a](b) *b* _i_", "\n\n# heading\n", "\x1b[31m", "\u202e", "\xff", "```\n</details>", "-->", strings.Repeat("`|", 3000)}
	for _, value := range values {
		r := Compare(objectsWith(t, nil), objectsWith(t, func(ing *networkingv1.Ingress) {
			ing.Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-read-timeout": value, "nginx.ingress.kubernetes.io/cors-allow-origin": value, "nginx.ingress.kubernetes.io/enable-cors": "true"}
			ing.Spec.Rules[0].HTTP.Paths[1].Path = "/" + value
			ing.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name = value
			other := ing.Spec.Rules[0]
			other.Host = value
			ing.Spec.Rules = append(ing.Spec.Rules, other)
		}))
		var text, markdown bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteMarkdown(&markdown); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(text.String()+markdown.String(), "\n") {
			if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }) {
				t.Errorf("%.20q: this does not print: %.200q", value, line)
			}
		}
		checkMarkdown(t, value, markdown.String())
	}
}

// checkMarkdown reads the tables as GitHub does: cells end at a "|" without a backslash, and
// a value is within backticks.
func checkMarkdown(t *testing.T, value, text string) {
	t.Helper()
	fence, columns := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(run) >= 3 && strings.TrimLeft(line, "`") == "diff":
			fence = run
		case fence != "" && line == fence:
			fence = ""
		case fence != "":
		case strings.HasPrefix(line, "| "):
			cells := cellsOf(line)
			if columns == 0 {
				columns = len(cells)
			}
			if len(cells) != columns {
				t.Errorf("%.20q: %d cells, not %d: %.300s", value, len(cells), columns, line)
			}
			for _, cell := range cells {
				if strings.ContainsAny(outsideCode(strings.ReplaceAll(cell, "<br>", "")), "<>@#*_[]()\\`") {
					t.Errorf("%.20q: not all is code: %.300s", value, cell)
				}
			}
		case strings.HasPrefix(line, "<details><summary><code>"):
			if strings.Count(line, "<") != 5 {
				t.Errorf("%.20q: HTML: %.300s", value, line)
			}
		default:
			if columns = 0; strings.HasPrefix(line, "|---") {
				columns = strings.Count(line, "|") - 1
			}
		}
	}
	if fence != "" {
		t.Errorf("%.20q: a block of code has no end", value)
	}
}

func cellsOf(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	return strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
}

// outsideCode returns a text without its spans of code, as CommonMark defines them.
func outsideCode(text string) string {
	var out strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '`')
		if at < 0 {
			out.WriteString(text)
			break
		}
		out.WriteString(text[:at])
		text = text[at:]
		run := len(text) - len(strings.TrimLeft(text, "`"))
		rest, end := text[run:], -1
		for i := 0; i < len(rest); {
			if rest[i] != '`' {
				i++
				continue
			}
			n := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
			if n == run {
				end = i
				break
			}
			i += n
		}
		if end < 0 {
			out.WriteString(text[:run])
			text = rest
			continue
		}
		text = rest[end+run:]
	}
	return out.String()
}

// A comment of a pull request has a bound, whatever changes.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	r := Compare(objectsWith(t, nil), objectsWith(t, func(ing *networkingv1.Ingress) {
		for i := range 800 {
			rule := *ing.Spec.Rules[0].DeepCopy()
			rule.Host = fmt.Sprintf("host-%d.example", i)
			ing.Spec.Rules = append(ing.Spec.Rules, rule)
		}
	}))
	var out bytes.Buffer
	if err := r.WriteMarkdown(&out); err != nil {
		t.Fatal(err)
	}
	if out.Len() > mostMarkdown+100 || out.Len() < mostTables {
		t.Errorf("it has %d bytes", out.Len())
	}
	for _, want := range []string{"**1600 routes gained;", "... and ", "### nginx.conf", "... and the lines of "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it has no %q", want)
		}
	}
}

// secretOf returns a Secret with a certificate.
func secretOf(t *testing.T, serial int64) *corev1.Secret {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(serial)}, ed25519.SeedSize))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "shop.example"}, DNSNames: []string{"shop.example"},
		NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2026, 1, 1+int(serial), 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})},
	}
}

// Certificates are compared by name, and no key is in any form.
func TestCertificates(t *testing.T) {
	t.Parallel()
	none, one, two := objectsWith(t, nil), objectsWith(t, nil, secretOf(t, 1)), objectsWith(t, nil, secretOf(t, 2))
	for _, test := range []struct {
		before, after Side
		want          string
	}{
		{one, one, ""},
		{none, one, "  + shop.example: the default certificate -> "},
		{one, none, " -> the default certificate\n"},
		{one, two, "for shop.example until 2026-01-02 -> "},
	} {
		r := Compare(test.before, test.after)
		got := string(shown(t, r, "text"))
		if r.Reload || len(r.Certificates) != len(test.want[:min(len(test.want), 1)]) || !strings.Contains(got, test.want) {
			t.Errorf("want %q; got\n%s", test.want, got)
		}
		for _, form := range []string{"text", "json", "markdown"} {
			if text := string(shown(t, r, form)); strings.Contains(text, "PRIVATE") || strings.Contains(text, "BEGIN") {
				t.Errorf("a key is in\n%s", text)
			}
		}
	}
}

// problemOf is a Problem of an Ingress.
func problemOf(name, text string) model.Problem {
	return model.Problem{Object: snapshot.IngressRef(snapshot.Name{Namespace: "shop", Name: name}), Reason: model.InvalidValue, Text: text}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	gained, mended := problems([]model.Problem{problemOf("a", "x"), problemOf("c", "x"), problemOf("b", "old")}, []model.Problem{problemOf("b", "new"), problemOf("d", "x"), problemOf("c", "x")})
	if len(gained) != 2 || gained[0].Text != "new" || gained[1].Object.Name != "d" || len(mended) != 2 || mended[0].Object.Name != "a" || mended[1].Text != "old" {
		t.Errorf("gained %v, mended %v", gained, mended)
	}
}
