package requests

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/model"
	"sluice/test/kit"
)

// web is a Service with an endpoint and the class that Ingresses name.
const web = `---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}}]
ports: [{name: http, port: 8080}]`

// asking has hosts whose paths ask a server who may pass: each by its own annotations, and one by the
// settings. One host sends copies too.
const asking = `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data:
  global-auth-url: http://auth.test/global
  allow-snippet-annotations: "true"
  annotations-risk-level: Critical
` + web + `
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: global, namespace: default, annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 8m, nginx.ingress.kubernetes.io/proxy-buffer-size: 16k}}
spec:
  ingressClassName: nginx
  rules: [{host: global.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: own
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/own
    nginx.ingress.kubernetes.io/auth-response-headers: X-Token
    nginx.ingress.kubernetes.io/auth-signin: https://login.test/start
    nginx.ingress.kubernetes.io/auth-always-set-cookie: "true"
    nginx.ingress.kubernetes.io/proxy-body-size: 8m
    nginx.ingress.kubernetes.io/proxy-buffer-size: 16k
    nginx.ingress.kubernetes.io/mirror-target: http://shadow.test
spec:
  ingressClassName: nginx
  rules: [{host: own.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: unlimited
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/unlimited
    nginx.ingress.kubernetes.io/proxy-body-size: "0"
    nginx.ingress.kubernetes.io/proxy-buffering: "on"
    nginx.ingress.kubernetes.io/proxy-request-buffering: "off"
    nginx.ingress.kubernetes.io/proxy-buffer-size: 8k
    nginx.ingress.kubernetes.io/auth-snippet: |
      proxy_buffer_size 16k;
      proxy_buffers 4 16k;
      proxy_busy_buffers_size 32k;
      client_max_body_size 16m;
spec:
  ingressClassName: nginx
  rules: [{host: unlimited.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// answersOf makes a server that reads each request, tells of the length of its body, and answers.
func answersOf(t *testing.T, answer http.HandlerFunc) (at []model.Endpoint, lengths chan string) {
	t.Helper()
	lengths = make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, err := io.Copy(io.Discard, r.Body)
		lengths <- fmt.Sprint(read, " ", err)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return []model.Endpoint{{Address: "127.0.0.1", Port: server.Listener.Addr().(*net.TCPAddr).Port}}, lengths
}

// next waits for the next message.
func next(messages chan string) string {
	select {
	case got := <-messages:
		return got
	case <-time.After(kit.Patience):
		return "nothing"
	}
}

// sized is a text of a length.
func sized(length int) string { return strings.Repeat("x", length) }

// TestSubrequestsTakeWhatTheirPathsTake sends bodies over 1 MiB, which only the path limits, to paths
// that ask a server and send copies.
func TestSubrequestsTakeWhatTheirPathsTake(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			auth, _ := answersOf(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Token", sized(6000))
				w.Header()["Set-Cookie"] = r.Header["Want-Cookie"]
				if r.Header.Get("Want-Refusal") != "" {
					w.WriteHeader(http.StatusUnauthorized)
				}
			})
			shadow, copies := answersOf(t, func(http.ResponseWriter, *http.Request) {})
			web, bodies := answersOf(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Got-Token", fmt.Sprint(len(r.Header.Get("X-Token"))))
			})
			served := installed.Serve(t, asking, func(b *model.Backend) []model.Endpoint {
				return map[string][]model.Endpoint{"auth.test": auth, "shadow.test": shadow, "": web}[b.Target.Host]
			})
			if len(served.Problems) > 0 {
				t.Fatal(served.Problems)
			}
			ask := func(host string, body io.Reader, length int64, header http.Header) *http.Response {
				t.Helper()
				request, _ := http.NewRequest("PUT", fmt.Sprintf("http://127.0.0.1:%d/", served.Environment.HTTPPort), body)
				request.Host, request.ContentLength, request.Header = host, length, header
				answer, err := http.DefaultTransport.RoundTrip(request)
				if err != nil {
					t.Fatalf("%s: %v\n%s", host, err, served.Complaints(t))
				}
				_ = answer.Body.Close()
				return answer
			}
			size := 2 << 20
			for _, length := range []int64{int64(size), -1} {
				for _, host := range []string{"own.example", "unlimited.example", "global.example"} {
					answer := ask(host, strings.NewReader(sized(size)), length, http.Header{})
					if answer.StatusCode != http.StatusOK {
						t.Errorf("%s: a body of %d bytes gets %d\n%s", host, length, answer.StatusCode, served.Complaints(t))
						continue
					}
					if got := next(bodies); got != fmt.Sprint(size, " <nil>") {
						t.Errorf("%s: the Service got %s", host, got)
					}
					if host != "own.example" {
						continue
					}
					if got := answer.Header.Get("Got-Token"); got != "6000" {
						t.Errorf("%s: the Service got a token of %s bytes, want 6000", host, got)
					}
					if got := next(copies); got != fmt.Sprint(size, " <nil>") {
						t.Errorf("%s: the mirror got %s", host, got)
					}
				}
			}
			for _, host := range []string{"own.example", "unlimited.example", "global.example"} {
				cookies := []string{"a=1; Path=/; Expires=Wed, 21 Oct 2032 07:28:00 GMT", "b=2, c; Path=/b", "d=4"}
				answer := ask(host, nil, 0, http.Header{"Want-Cookie": cookies})
				if got := answer.Header["Set-Cookie"]; answer.StatusCode != http.StatusOK || !slices.Equal(got, cookies) {
					t.Errorf("%s: %d %q, want %q", host, answer.StatusCode, got, cookies)
				}
			}
			answer := ask("own.example", nil, 0, http.Header{"Want-Cookie": {"a=1", "b=2"}, "Want-Refusal": {"yes"}})
			if got := answer.Header["Set-Cookie"]; answer.StatusCode != http.StatusFound || !slices.Equal(got, []string{"a=1", "b=2"}) {
				t.Errorf("the sign-in page: %d %q, want 302 with both cookies", answer.StatusCode, got)
			}
		})
	}
}
