package golden

import (
	"net/http"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// identities has two paths that tell their Services who the client is. The second one asks nobody
// about clients in its list.
const identities = `Identities.
-- manifests.yaml --
# base: web.yaml
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: asking
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/check
    nginx.ingress.kubernetes.io/auth-response-headers: X-User
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /asking, pathType: Prefix, backend: {service: {name: api, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: listed
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/check
    nginx.ingress.kubernetes.io/auth-response-headers: X-User
    nginx.ingress.kubernetes.io/allowlist-source-range: 127.0.0.0/8
    nginx.ingress.kubernetes.io/satisfy: any
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /listed, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// TestIdentityStaysWithItsPath: an X-Accel-Redirect leads a request to the path of another Ingress,
// which asks nobody about this client. Its Service does not get the identity that the server of the
// first path gave: that server can be anybody's.
func TestIdentityStaysWithItsPath(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "identities", archive: txtar.Parse([]byte(identities))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			auth, _ := station(t, "auth")
			api, asked := station(t, "api")
			web, listed := station(t, "web")
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"auth.test": {auth}, "api": {api}, "web": {web}})
			for _, major := range []int{1, 2} {
				client, scheme := clientOf(t, nginx, major)
				request, _ := http.NewRequest("GET", scheme+"://shop.example/asking", nil)
				request.Header = http.Header{"Accel-Api": {"/listed"}}
				answer, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				if got, want := <-asked, "GET shop.example/asking user=ann"; got != want {
					t.Errorf("the first Service got %q, want %q", got, want)
				}
				if got, want := <-listed, "GET shop.example/listed user="; got != want {
					t.Errorf("the second Service got %q, want %q", got, want)
				}
			}
		})
	}
}
