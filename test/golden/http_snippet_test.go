package golden

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// schemed has an http-snippet with headers that Sluice sets too, and a path with one of its own.
const schemed = `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data: {allow-snippet-annotations: "true", annotations-risk-level: "Critical", http-snippet: 'proxy_set_header "x-scheme" own; proxy_set_header X-Extra more; %s'}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: default}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: other, namespace: default, annotations: {nginx.ingress.kubernetes.io/configuration-snippet: "proxy_set_header X-Forwarded-Prefix /x;"}}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /other, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// TestHeadersOfTheHTTPSnippetReplaceOurs: a backend gets each header once.
func TestHeadersOfTheHTTPSnippetReplaceOurs(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header
		_, _ = fmt.Fprint(w, r.Host, h["X-Scheme"], h["X-Extra"], h["X-Forwarded-Proto"], h["X-Real-Ip"], h["X-Forwarded-Prefix"])
	}))
	t.Cleanup(server.Close)
	for _, installed := range kit.Nginxes(t) {
		for host, snippet := range map[string]string{"shop.example": "", "own.example": "proxy_set_header Host own.example;"} {
			t.Run(installed.Name+" "+host, func(t *testing.T) {
				t.Parallel()
				manifests := asking[:strings.Index(asking, "apiVersion")] + fmt.Sprintf(schemed, snippet)
				o := workOut(t, &testCase{path: "schemed", archive: txtar.Parse([]byte(manifests))}, 0)
				if len(o.problems) > 0 {
					t.Fatal(o.problems)
				}
				nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"web": {endpointAt(t, server.Listener.Addr())}})
				client, scheme := clientOf(t, nginx, 1)
				for path, prefix := range map[string]string{"/": "[]", "/other": "[/x]"} {
					answer, err := client.Get(scheme + "://shop.example" + path)
					if err != nil {
						t.Fatal(err, nginx.Complaints(t))
					}
					got, _ := io.ReadAll(answer.Body)
					_ = answer.Body.Close()
					if want := host + "[own] [more] [" + scheme + "] [127.0.0.1] " + prefix; string(got) != want {
						t.Errorf("%s: %s, want %s", path, got, want)
					}
				}
			})
		}
	}
}
