package golden

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// paging has error pages on a path that is told apart by a header: one of the host, two of a path.
const paging = `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data: {allow-snippet-annotations: "true", annotations-risk-level: "Critical"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/server-snippet: 'error_page 404 /missing;'
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /missing, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: tenant, namespace: default, annotations: {sluice.io/match-headers: 'X-Tenant: blue'}}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /missing, pathType: Exact, backend: {service: {name: api, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: gone
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/configuration-snippet: 'error_page 410 =203 /missing; error_page 429 = /missing; if ($arg_busy) { return 429; } return 410;'
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /gone, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// TestErrorPagesAreToldApart: an error page may lead to a path that several Ingresses share by a
// header. nginx follows one error page only.
func TestErrorPagesAreToldApart(t *testing.T) {
	t.Parallel()
	manifests := asking[:strings.Index(asking, "apiVersion")] + paging
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "paging", archive: txtar.Parse([]byte(manifests))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			web, asked := station(t, "web")
			api, matched := station(t, "api")
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"web": {web}, "api": {api}})
			client, scheme := clientOf(t, nginx, 1)
			for _, c := range []struct{ path, header, want string }{
				{"/missing", "", "200 web"},
				{"/missing", "X-Tenant: blue", "200 api"},
				{"/nowhere", "", "404 web"},
				{"/nowhere", "X-Tenant: blue", "404 api"},
				{"/nowhere", "X-Tenant: blue; Of-api: 500", "404 api"},
				{"/gone", "", "203 web"},
				{"/gone", "X-Tenant: blue", "203 api"},
				{"/gone?busy=1", "X-Tenant: blue; Of-api: 201", "201 api"},
			} {
				request, _ := http.NewRequest("GET", scheme+"://shop.example"+c.path, nil)
				request.Header = parseHeaders(c.header)
				answer, err := client.Do(request)
				if err != nil {
					t.Fatalf("%s {%s}: %v\n%s", c.path, c.header, err, nginx.Complaints(t))
				}
				_ = answer.Body.Close()
				if got := fmt.Sprint(answer.StatusCode) + askedSoon("web", asked) + askedSoon("api", matched); got != c.want {
					t.Errorf("%s {%s}: %s, want %s", c.path, c.header, got, c.want)
				}
			}
		})
	}
}

// idle has an error page on a path whose Service has no endpoints, beside a default-backend.
const idle = `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data: {allow-snippet-annotations: "true", annotations-risk-level: "Critical"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/server-snippet: 'error_page 404 /missing;'
    nginx.ingress.kubernetes.io/default-backend: api
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /missing, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// TestErrorPagesWithoutEndpoints: what answers in place of a Service without endpoints does so for
// error pages too.
func TestErrorPagesWithoutEndpoints(t *testing.T) {
	t.Parallel()
	manifests := asking[:strings.Index(asking, "apiVersion")] + idle
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "idle", archive: txtar.Parse([]byte(manifests))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			api, seen := station(t, "api")
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"web": {}, "api": {api}})
			client, scheme := clientOf(t, nginx, 1)
			for path, want := range map[string]string{"/missing": "200 api", "/nowhere": "404 api"} {
				answer, err := client.Get(scheme + "://shop.example" + path)
				if err != nil {
					t.Fatal(err, nginx.Complaints(t))
				}
				_ = answer.Body.Close()
				if got := fmt.Sprint(answer.StatusCode) + askedSoon("api", seen); got != want {
					t.Errorf("%s: %s, want %s", path, got, want)
				}
			}
		})
	}
}
