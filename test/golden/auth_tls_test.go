package golden

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// verifying asks three hosts; %s is the authority of two of them.
const verifying = `Servers with TLS.
-- manifests.yaml --
# base: web.yaml
apiVersion: v1
kind: Secret
metadata: {name: authority, namespace: default}
data: {ca.crt: %s}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: known
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: https://example.com/check
    nginx.ingress.kubernetes.io/auth-ssl-secret: authority
spec:
  ingressClassName: nginx
  rules: [{host: known.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: other
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: https://auth.test/check
    nginx.ingress.kubernetes.io/auth-ssl-secret: authority
spec:
  ingressClassName: nginx
  rules: [{host: other.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: anybody
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: https://auth.test/check
spec:
  ingressClassName: nginx
  rules: [{host: anybody.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// TestAuthenticationServersAreVerified asks a server whose certificate is for example.com:
// under that name, under another one, and without verification. None of them uses the
// connections of another.
func TestAuthenticationServersAreVerified(t *testing.T) {
	t.Parallel()
	auth := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(auth.Close)
	auth.TLS.MinVersion = tls.VersionTLS12
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: auth.Certificate().Raw})
	manifests := fmt.Sprintf(verifying, base64.StdEncoding.EncodeToString(authority))
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "verifying", archive: txtar.Parse([]byte(manifests))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			web, _ := station(t, "web")
			at := []model.Endpoint{endpointAt(t, auth.Listener.Addr())}
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"example.com": at, "auth.test": at, "web": {web}})
			client, scheme := clientOf(t, nginx, 1)
			for range 2 {
				for host, want := range map[string]int{"known.example": 200, "other.example": 500, "anybody.example": 200} {
					answer, err := client.Get(scheme + "://" + host + "/")
					if err != nil {
						t.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
					if answer.StatusCode != want {
						t.Errorf("%s: %d, want %d\n%s", host, answer.StatusCode, want, nginx.Complaints(t))
					}
				}
			}
		})
	}
}
