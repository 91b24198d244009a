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

// uploads has three Ingresses of one path, which differ in the size of a body.
const uploads = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: default}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: large
  namespace: default
  annotations: {sluice.io/match-headers: 'X-Tenant: large', nginx.ingress.kubernetes.io/proxy-body-size: 8m}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: small
  namespace: default
  annotations: {sluice.io/match-headers: 'X-Tenant: small', nginx.ingress.kubernetes.io/proxy-body-size: 1k}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// TestDispatchLimitsBodies: the limit of a body is that of the Ingress that takes the request, also
// if the client announces the length: nginx compares that before it looks at other headers.
func TestDispatchLimitsBodies(t *testing.T) {
	t.Parallel()
	manifests := asking[:strings.Index(asking, "apiVersion")] + uploads
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, read, err)
	}))
	t.Cleanup(server.Close)
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "uploads", archive: txtar.Parse([]byte(manifests))}, 0)
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"web": {endpointAt(t, server.Listener.Addr())}})
			for _, c := range []struct {
				tenant string
				size   int
				want   int
			}{
				{"", 1000, 200}, {"", 2 << 20, 413},
				{"large", 2 << 20, 200}, {"large", 9 << 20, 413},
				{"small", 1000, 200}, {"small", 2000, 413},
			} {
				for major := 1; major <= 2; major++ {
					client, scheme := clientOf(t, nginx, major)
					for _, chunked := range []bool{false, true} {
						request, _ := http.NewRequest("PUT", scheme+"://shop.example/a", strings.NewReader(strings.Repeat("x", c.size)))
						request.Header.Set("X-Tenant", c.tenant)
						request.Header.Set("Expect", "100-continue")
						if chunked {
							request.ContentLength = -1
						}
						answer, err := client.Do(request)
						if err != nil {
							t.Errorf("HTTP/%d %q %d bytes, chunked %t: %v", major, c.tenant, c.size, chunked, err)
							continue
						}
						_ = answer.Body.Close()
						if answer.StatusCode != c.want {
							t.Errorf("HTTP/%d %q %d bytes, chunked %t: %d, want %d", major, c.tenant, c.size, chunked, answer.StatusCode, c.want)
						}
					}
				}
			}
		})
	}
}
