package golden

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// caching has paths whose answers of the authentication are kept: by a cookie, and by a
// key without any credential.
const caching = `Answers of an authentication server.
-- manifests.yaml --
# base: web.yaml
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: cookie
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/check
    nginx.ingress.kubernetes.io/auth-response-headers: X-User
    nginx.ingress.kubernetes.io/auth-cache-key: $cookie_session
spec:
  ingressClassName: nginx
  rules:
  - host: "*.shop.example"
    http:
      paths:
      - {path: /a, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /b, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: static
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/check?u=$http_x_tenant
    nginx.ingress.kubernetes.io/auth-cache-key: everybody
    nginx.ingress.kubernetes.io/auth-cache-duration: 200 201 10m, 401 10m, 204 10m
spec:
  ingressClassName: nginx
  rules:
  - host: static.example
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
`

// TestKeptAnswersAreThoseOfTheClient asks twice or with a difference: an answer is used
// again for the same client, path and method only, and only if it can be kept.
func TestKeptAnswersAreThoseOfTheClient(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "caching", archive: txtar.Parse([]byte(caching))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			questions := make(chan string, 100)
			auth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { question(w, r, questions) }))
			t.Cleanup(auth.Close)
			web, _ := station(t, "web")
			nginx, access := o.serveTo(t, installed, map[string][]model.Endpoint{"auth.test": {endpointAt(t, auth.Listener.Addr())}, "web": {web}})
			client, scheme := clientOf(t, nginx, 1)
			asked := func(method, host, path, header string, want int, asks bool) {
				t.Helper()
				request, _ := http.NewRequest(method, scheme+"://"+host+path, nil)
				request.Header = parseHeaders(header)
				answer, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				_, _ = io.Copy(io.Discard, answer.Body)
				if got := len(questions); answer.StatusCode != want || (got == 1) != asks || got > 1 {
					t.Errorf("%s %s%s {%s}: %d after %d questions, want %d, asked %v\n%s", method, host, path, header, answer.StatusCode, got, want, asks, nginx.Complaints(t))
				}
				for len(questions) > 0 {
					<-questions
				}
			}
			one, two := "Cookie: session=1", "Cookie: session=2"
			asked("GET", "x.shop.example", "/a", one, 200, true)
			asked("GET", "x.shop.example", "/a", one, 200, false)
			asked("GET", "x.shop.example", "/a/below?x", one+"; theme=dark", 200, false)
			asked("GET", "x.shop.example", "/a", two, 200, true)
			asked("GET", "x.shop.example", "/a", one+"; Authorization: Bearer x", 200, true)
			asked("GET", "x.shop.example", "/a", one+"; Authorization: Bearer y", 200, true)
			asked("POST", "x.shop.example", "/a", one, 200, true)
			asked("GET", "x.shop.example", "/b", one, 200, true)
			asked("GET", "y.shop.example", "/a", one, 200, true)
			asked("GET", "x.shop.example", "/a", one, 200, false)

			asked("GET", "static.example", "/", "", 200, true)
			asked("GET", "static.example", "/", "", 200, false)
			for _, header := range []string{one, two, "Authorization: Basic YTph", "Authorization: Basic YTpi", "X-Tenant: a", "X-Tenant: b"} {
				asked("GET", "static.example", "/", header, 200, true)
				asked("GET", "static.example", "/", header, 200, false)
			}
			for header, kept := range map[string]bool{
				"Answer: 401": true, "Answer: 201": true, "Answer: 204": true, "Answer: 500": false, "Answer: cookie": false, "Answer: private": false,
				"Answer: large": false, "Answer: unknown": false, "Answer: largest": true,
			} {
				want := map[string]int{"Answer: 401": 401, "Answer: 500": 500}[header]
				if want == 0 {
					want = 200
				}
				asked("GET", "static.example", "/", header+"; X-Tenant: "+header[8:], want, true)
				asked("GET", "static.example", "/", header+"; X-Tenant: "+header[8:], want, !kept)
			}
			wantNoCredentials(t, filepath.Dir(access))
		})
	}
}

// question answers like an authentication server, in a way that the client chose.
func question(w http.ResponseWriter, r *http.Request, questions chan<- string) {
	questions <- r.RequestURI
	w.Header().Set("X-User", "ann")
	switch answer := r.Header.Get("Answer"); answer {
	case "cookie":
		w.Header().Set("Set-Cookie", "session=new")
	case "private":
		w.Header().Set("Cache-Control", "private")
	case "large":
		w.Header().Set("Content-Length", "10000")
		_, _ = io.WriteString(w, strings.Repeat("x", 10000))
	case "largest":
		w.Header().Set("Content-Length", "9999")
		_, _ = io.WriteString(w, strings.Repeat("x", 9999))
	case "unknown":
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "x")
	case "":
	default:
		var status int
		_, _ = fmt.Sscan(answer, &status)
		w.WriteHeader(status)
	}
}

// wantNoCredentials looks for kept answers, and for cookies and passwords in them.
func wantNoCredentials(t *testing.T, state string) {
	t.Helper()
	kept := 0
	err := filepath.Walk(filepath.Join(state, "temp", "auth_cache_default"), func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		kept++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "session=") || strings.Contains(string(text), "YTph") || strings.Contains(string(text), "Bearer") {
			t.Errorf("%s has a credential:\n%s", path, text)
		}
		return err
	})
	if err != nil || kept == 0 {
		t.Errorf("%d answers are kept: %v", kept, err)
	}
}

// byAddress has a path whose answers are kept by the address of the client, which a header of
// a proxy names behind a PROXY header.
const byAddress = `Answers about an address.
-- manifests.yaml --
# base: web.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data: {use-proxy-protocol: "true", use-forwarded-headers: "true", proxy-real-ip-cidr: 127.0.0.0/8}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: address
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/check
    nginx.ingress.kubernetes.io/auth-cache-key: ip-$remote_addr
spec:
  ingressClassName: nginx
  rules:
  - host: address.example
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
`

// TestKeptAnswersAreThoseOfTheAddress: a server that lets in one address only keeps out the others,
// also when its answer about that one is kept.
func TestKeptAnswersAreThoseOfTheAddress(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "address", archive: txtar.Parse([]byte(byAddress))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			asked := make(chan string, 100)
			auth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- r.Header.Get("X-Real-IP")
				if r.Header.Get("X-Real-IP") != "192.0.2.1" {
					w.WriteHeader(http.StatusForbidden)
				}
			}))
			t.Cleanup(auth.Close)
			web, _ := station(t, "web")
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"auth.test": {endpointAt(t, auth.Listener.Addr())}, "web": {web}})
			for _, c := range []struct {
				announced, sent string
				status          int
				asks            bool
			}{
				{"127.0.0.9", "192.0.2.1", 200, true}, {"127.0.0.9", "192.0.2.1", 200, false}, {"127.0.0.9", "192.0.2.2", 403, true},
				{"192.0.2.3", "192.0.2.1", 403, true}, {"192.0.2.1", "", 200, true}, {"192.0.2.1", "", 200, false},
			} {
				r := request{method: "GET", scheme: "http", uri: "/", host: "address.example", announced: "TCP4 " + c.announced + " 127.0.0.1 4444 80", header: http.Header{"X-Forwarded-For": {c.sent}}}
				connection, _, err := nginx.dial(r)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = connection.Write(r.bytes())
				answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				connection.Close()
				if got := len(asked); answer.StatusCode != c.status || (got > 0) != c.asks {
					t.Errorf("from %s with %q: %d after %d questions, want %d, asked %v", c.announced, c.sent, answer.StatusCode, got, c.status, c.asks)
				}
				for len(asked) > 0 {
					t.Logf("the question names %s", <-asked)
				}
			}
		})
	}
}
