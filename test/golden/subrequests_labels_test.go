package golden

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// redirected has a host that redirects to HTTPS as a whole, and asks a server about each request.
const redirected = `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data: {debug-header-secret: sluice/debug, debug-header-cidrs: "127.0.0.1", force-ssl-redirect: "true"}
---
apiVersion: v1
kind: Secret
metadata: {name: debug, namespace: sluice}
stringData: {token: 0123456789abcdef}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: default, annotations: {nginx.ingress.kubernetes.io/auth-url: "http://auth.test/check"}}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// TestSubrequestsKeepTheDecision: nginx obeys the server for a subrequest too, which shares the
// variables of its parent. The decision about the parent, and its labels in metrics, stay.
func TestSubrequestsKeepTheDecision(t *testing.T) {
	t.Parallel()
	manifests := asking[:strings.Index(asking, "apiVersion")] + redirected
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "redirected", archive: txtar.Parse([]byte(manifests))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			auth, _ := station(t, "auth")
			web, _ := station(t, "web")
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"auth.test": {auth}, "web": {web}})
			client, scheme := clientOf(t, nginx, 2)
			for body, want := range map[string]string{
				"":                         `200 "object":"Ingress default/shop"`,
				strings.Repeat("x", 2<<20): `413 "host":"shop.example"`, // before nginx looks for a location
			} {
				request, _ := http.NewRequest("GET", scheme+"://shop.example/", strings.NewReader(body))
				request.Header.Set("X-Sluice-Debug", "0123456789abcdef")
				answer, err := client.Do(request)
				if err != nil {
					t.Fatal(err, nginx.Complaints(t))
				}
				_ = answer.Body.Close()
				status, part, _ := strings.Cut(want, " ")
				if got := answer.Header.Get("X-Sluice-Debug"); !strings.HasPrefix(answer.Status, status) || !strings.Contains(got, part) {
					t.Errorf("%s, decision %s, want %s", answer.Status, got, want)
				}
			}
		})
	}
}
