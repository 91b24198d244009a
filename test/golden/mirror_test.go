package golden

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// mirroring has a host with four paths, each with a mirror, on the Services of the
// base file.
const mirroring = `Copies.
-- manifests.yaml --
# base: web.yaml
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: plain, namespace: default, annotations: {nginx.ingress.kubernetes.io/mirror-target: "http://shadow.test:8080/copy$request_uri"}}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /plain, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: rewritten
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/mirror-target: "http://shadow.test:8080"
    nginx.ingress.kubernetes.io/mirror-request-body: "off"
    nginx.ingress.kubernetes.io/rewrite-target: /other
    nginx.ingress.kubernetes.io/proxy-body-size: "10"
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /rewritten, pathType: ImplementationSpecific, backend: {service: {name: api, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: refused
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/mirror-target: "http://shadow.test:8080"
    nginx.ingress.kubernetes.io/denylist-source-range: 127.0.0.0/8
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /refused, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: v1
kind: Secret
metadata: {name: users, namespace: default}
data: {auth: YW5uOntQTEFJTn1zZWNyZXQK}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: guarded
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/mirror-target: "http://shadow.test:8080"
    nginx.ingress.kubernetes.io/auth-type: basic
    nginx.ingress.kubernetes.io/auth-secret: users
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /guarded, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: down, namespace: default, annotations: {nginx.ingress.kubernetes.io/mirror-target: "http://down.test"}}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /down, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: hangs, namespace: default, annotations: {nginx.ingress.kubernetes.io/mirror-target: "http://hangs.test"}}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /hangs, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: headers
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/mirror-target: "http://shadow.test:8080"
    sluice.io/request-headers: |
      Authorization:
      X-Remote-User: $arg_user of $request_method
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /headers, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: page
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/mirror-target: "http://shadow.test:8080"
    sluice.io/fallback-path: /index.html
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /page, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// received gives a server that tells of each request, and its endpoint. It answers 404 to
// paths that end with /missing.
func received(t *testing.T, by string) (model.Endpoint, chan string) {
	t.Helper()
	seen := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, _, _ := r.BasicAuth()
		seen <- strings.TrimSpace(fmt.Sprintf("%s %s %s %q %s%s", r.Method, r.Host, r.RequestURI, body, user, strings.Join(r.Header["X-Remote-User"], ",")))
		if strings.HasSuffix(r.URL.Path, "/missing") {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, by)
	}))
	t.Cleanup(server.Close)
	return endpointAt(t, server.Listener.Addr()), seen
}

func endpointAt(t *testing.T, at net.Addr) model.Endpoint {
	t.Helper()
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		t.Fatal(err)
	}
	number, _ := strconv.Atoi(port)
	return model.Endpoint{Address: host, Port: number}
}

// mute gives the endpoint of a server that takes connections and never answers.
func mute(t *testing.T) model.Endpoint {
	t.Helper()
	return model.Endpoint{Address: "127.0.0.1", Port: kit.Accept(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })}
}

// wantSeen compares what a server is asked for, "" for nothing, with what it should be.
func wantSeen(t *testing.T, who string, seen chan string, want string) {
	t.Helper()
	got, wait := "", kit.Patience
	if want == "" {
		wait = 200 * time.Millisecond
	}
	select {
	case got = <-seen:
	case <-time.After(wait):
	}
	if got != want {
		t.Errorf("%s is asked for %s, want %s", who, got, want)
	}
}

// TestCopies asks for mirrored paths: the copies go elsewhere than the requests
// themselves, which no target can delay or change.
func TestCopies(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "mirroring", archive: txtar.Parse([]byte(mirroring))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			web, asked := received(t, "web")
			api, rewritten := received(t, "api")
			shadow, copies := received(t, "shadow")
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{
				"web": {web}, "api": {api}, "shadow.test": {shadow}, "hangs.test": {mute(t)}, "down.test": {{Address: "127.0.0.1", Port: kit.Port(t)}},
			})
			// nginx gives up on a target that does not answer after a minute.
			client := &http.Client{Timeout: kit.RequestPatience / 2, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			ask := func(method, path, body, want string) {
				t.Helper()
				request, _ := http.NewRequest(method, fmt.Sprintf("http://127.0.0.1:%d%s", nginx.ports.HTTPPort, path), strings.NewReader(body))
				request.Host = "shop.example"
				request.SetBasicAuth("ann", "secret")
				if strings.HasPrefix(path, "/headers") {
					request.Header.Set("X-Remote-User", "admin")
				}
				answer, err := client.Do(request)
				if err != nil {
					t.Fatalf("%s: %v\n%s", path, err, nginx.Complaints(t))
				}
				defer answer.Body.Close()
				if text, _ := io.ReadAll(answer.Body); fmt.Sprint(answer.StatusCode, " ", string(text)) != want && strconv.Itoa(answer.StatusCode) != want {
					t.Errorf("%s: %d %s, want %s", path, answer.StatusCode, text, want)
				}
			}
			post := func(path, body, want string) {
				t.Helper()
				ask("POST", path, body, want)
			}
			post("/plain/%2e?a=b", "body", "200 web")
			wantSeen(t, "web", asked, `POST shop.example /plain/%2e?a=b "body" ann`)
			wantSeen(t, "the mirror", copies, `POST shadow.test /copy/plain/%2e?a=b "body" ann`)
			post("/rewritten", "", "200 api")
			wantSeen(t, "api", rewritten, `POST shop.example /other "" ann`)
			wantSeen(t, "the mirror", copies, `POST shadow.test /rewritten "" ann`)
			// A password that nginx checks goes nowhere.
			post("/guarded", "", "200 web")
			wantSeen(t, "web", asked, `POST shop.example /guarded ""`)
			wantSeen(t, "the mirror", copies, `POST shadow.test /guarded ""`)
			// Headers of request-headers are those of the copies too.
			post("/headers?user=bob", "", "200 web")
			wantSeen(t, "web", asked, `POST shop.example /headers?user=bob "" bob of POST`)
			wantSeen(t, "the mirror", copies, `POST shadow.test /headers?user=bob "" bob of POST`)
			// The page in place of 404 is no second request of the client.
			ask("GET", "/page/missing", "", "200 web")
			wantSeen(t, "web", asked, `GET shop.example /page/missing "" ann`)
			wantSeen(t, "web", asked, `GET shop.example /index.html "" ann`)
			wantSeen(t, "the mirror", copies, `GET shadow.test /page/missing "" ann`)
			post("/refused", "", "403")
			post("/rewritten", "more than ten bytes", "413")
			post("/down", "body", "200 web")
			post("/hangs", "body", "200 web")
			wantSeen(t, "web", asked, `POST shop.example /down "body" ann`)
			wantSeen(t, "web", asked, `POST shop.example /hangs "body" ann`)
			wantSeen(t, "the mirror", copies, "")
		})
	}
}
