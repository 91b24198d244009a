package migrate

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"sluice/internal/lint"
	"sluice/internal/manifest/decode"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

// optionsFor are those of a controller with ingress-nginx's defaults.
func optionsFor(t testing.TB) lint.Options {
	t.Helper()
	set, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	return lint.Options{
		Translate: translate.Options{
			IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io", HealthPath: "/healthz", ManifestMode: true,
			ConfigMap: snapshot.Name{Namespace: "ingress-nginx", Name: "ingress-nginx-controller"},
		},
		Templates: set, SecretThere: func(snapshot.Name) bool { return true },
		Environment: render.Environment{
			HTTPPort: 80, HTTPSPort: 443, Workers: 1, OpenFiles: 1 << 20, MostOpenFiles: 1 << 20, StateDir: "/state", Lua: "/lua", Token: "TOKEN", CoreRules: render.DebianCoreRules,
			Capabilities: render.Capabilities{HTTP2Directive: true, Stream: true, SSLPreread: true, StreamRealIP: true, HeadersMore: true, ModSecurity: true},
		},
	}
}

// read decodes manifests.
func read(t testing.TB, text string) lint.Manifests {
	t.Helper()
	var reader decode.Reader
	objects, notes, err := reader.Read("manifests.yaml", []byte(text))
	return lint.Manifests{Objects: objects, Documents: reader.Documents(), Notes: notes, Errors: decode.Errors(err)}
}

// many makes Ingresses of ten kinds, each with a host and a Service.
func many(n int) string {
	kinds := []string{
		"", "limit-rps: '20'", "auth-url: https://sign-in.example/verify", "rewrite-target: /$2\n    nginx.ingress.kubernetes.io/use-regex: 'true'",
		"enable-cors: 'true'", "affinity: cookie", "proxy-body-size: 1g", "whitelist-source-range: 10.0.0.0/8",
		"configuration-snippet: 'more_set_headers \"X-Frame-Options: DENY\";'", "backend-protocol: GRPC",
	}
	var all strings.Builder
	for i := range n {
		annotations := ""
		if kind := kinds[i%len(kinds)]; kind != "" {
			annotations = "\n  annotations:\n    nginx.ingress.kubernetes.io/" + kind
		}
		fmt.Fprintf(&all, `---
apiVersion: v1
kind: Service
metadata: {name: web-%[1]d, namespace: team-%[2]d}
spec: {ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web-%[1]d
  namespace: team-%[2]d%[3]s
spec:
  ingressClassName: nginx
  tls: [{hosts: [web-%[1]d.shop.example], secretName: web-tls}]
  rules:
  - host: web-%[1]d.shop.example
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web-%[1]d, port: {number: 80}}}}
      - {path: /api/, pathType: Prefix, backend: {service: {name: web-%[1]d, port: {number: 80}}}}
`, i, i%100, annotations)
	}
	return all.String()
}

// BenchmarkLook5000 reports 5,000 Ingresses: once from manifests that are read already, and
// once with the page in HTML.
func BenchmarkLook5000(b *testing.B) {
	manifests, o := read(b, many(5000)), optionsFor(b)
	if len(manifests.Errors) > 0 {
		b.Fatal(manifests.Errors[0])
	}
	for _, form := range []string{"report", "html"} {
		b.Run(form, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := Look(manifests, o, Setup{})
				if len(r.Ingresses) != 5000 {
					b.Fatalf("%d Ingresses", len(r.Ingresses))
				}
				if form == "html" {
					if err := r.HTML(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
