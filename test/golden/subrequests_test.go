package golden

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// asking has a host on which all that makes subrequests is on one path, beside a path
// that lets nobody in.
const asking = `Subrequests.
-- manifests.yaml --
# base: web.yaml
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: all
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/check
    nginx.ingress.kubernetes.io/auth-response-headers: X-User
    nginx.ingress.kubernetes.io/auth-signin: https://login.test/start
    nginx.ingress.kubernetes.io/mirror-target: http://shadow.test
    nginx.ingress.kubernetes.io/rewrite-target: /other/$2
    nginx.ingress.kubernetes.io/proxy-next-upstream: error http_502
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: "/all(/|$)(.*)", pathType: ImplementationSpecific, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: keyed
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/check
    nginx.ingress.kubernetes.io/auth-response-headers: X-User
    nginx.ingress.kubernetes.io/auth-signin: https://login.test/start
    nginx.ingress.kubernetes.io/mirror-target: http://shadow.test
    nginx.ingress.kubernetes.io/rewrite-target: /other/$2
    nginx.ingress.kubernetes.io/proxy-next-upstream: error http_502
    nginx.ingress.kubernetes.io/affinity: cookie
    nginx.ingress.kubernetes.io/session-cookie-path: /keyed
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: "/keyed(/|$)(.*)", pathType: ImplementationSpecific, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: down, namespace: default, annotations: {nginx.ingress.kubernetes.io/auth-url: "http://down.test"}}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /down, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: unresolved, namespace: default, annotations: {nginx.ingress.kubernetes.io/auth-url: "http://unresolved.test"}}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /unresolved, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: victim, namespace: default, annotations: {nginx.ingress.kubernetes.io/denylist-source-range: 127.0.0.0/8}}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /victim, pathType: Prefix, backend: {service: {name: api, port: {number: 80}}}}]}}]
`

// station gives a server that tells what it was asked for and by whom, with the header Proxy,
// which nobody is to get, and its endpoint.
// It answers what the headers of the request say that it is to answer: "Of-<name>" is a
// status, "Accel-<name>" an X-Accel-Redirect.
func station(t *testing.T, name string) (model.Endpoint, chan string) {
	t.Helper()
	seen := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- fmt.Sprintf("%s %s%s user=%s%s", r.Method, r.Host, r.RequestURI, r.Header.Get("X-User"), r.Header.Get("Proxy"))
		w.Header().Set("X-User", "ann")
		if to := r.Header.Get("Accel-" + name); to != "" {
			w.Header().Set("X-Accel-Redirect", to)
		}
		var status int
		if _, err := fmt.Sscan(r.Header.Get("Of-"+name), &status); err == nil {
			w.WriteHeader(status)
		}
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(server.Close)
	return endpointAt(t, server.Listener.Addr()), seen
}

// clientOf speaks one version of HTTP with an nginx: plain HTTP/1.1, or HTTP/2 over TLS.
func clientOf(t *testing.T, nginx *running, major int) (client *http.Client, scheme string) {
	t.Helper()
	port := nginx.ports.HTTPPort
	transport := &http.Transport{DisableKeepAlives: major == 1, ForceAttemptHTTP2: major == 2, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	if scheme = "http"; major == 2 {
		scheme, port = "https", nginx.ports.HTTPSPort
	}
	transport.Dial = func(string, string) (net.Conn, error) { return net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)) }
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: kit.Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, scheme
}

// TestSubrequestsDoNotLeak asks for paths on which a server is asked who may pass,
// requests are copied, rewritten and tried again, and refusals are redirected. Whatever
// the servers answer, each request goes where its own location sends it.
func TestSubrequestsDoNotLeak(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "asking", archive: txtar.Parse([]byte(asking))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			auth, questions := station(t, "auth")
			shadow, copies := station(t, "shadow")
			web, asked := station(t, "web")
			failing, _ := station(t, "failing")
			api, victims := station(t, "api")
			nginx, access := o.serveTo(t, installed, map[string][]model.Endpoint{
				"auth.test": {auth}, "shadow.test": {shadow}, "web": {web, failing}, "api": {api},
				"down.test": {{Address: "127.0.0.1", Port: kit.Port(t)}}, "unresolved.test": nil,
			})
			internal := ""
			for _, l := range o.config.Static.Servers[len(o.config.Static.Servers)-1].Internal {
				if strings.HasSuffix(l.Path, "_auth.test/80") {
					internal = l.Path
				}
			}
			const question, refused = "GET auth.test/check user=forged", ""
			for _, major := range []int{1, 2} {
				client, scheme := clientOf(t, nginx, major)
				get := func(path, header, want string) {
					t.Helper()
					request, _ := http.NewRequest("GET", scheme+"://shop.example"+path, nil)
					request.Header = parseHeaders(header)
					request.Header.Set("X-User", "forged")
					request.Header.Set("Proxy", "http://evil.test")
					request.Header.Set("Of-failing", "502")
					answer, err := client.Do(request)
					if err != nil {
						t.Fatalf("%s: %v\n%s", path, err, nginx.Complaints(t))
					}
					defer answer.Body.Close()
					body, _ := io.ReadAll(answer.Body)
					got := fmt.Sprint(answer.StatusCode, " ", string(body))
					if answer.StatusCode >= 300 {
						got = strings.TrimSpace(fmt.Sprint(answer.StatusCode, " ", answer.Header.Get("Location")))
					}
					if got != want || answer.ProtoMajor != major {
						t.Errorf("%s {%s} by HTTP/%d: %s, want %s", path, header, answer.ProtoMajor, got, want)
					}
				}
				expect := func(asks, copied, passes string) {
					t.Helper()
					wantSeen(t, "the authentication", questions, asks)
					wantSeen(t, "the mirror", copies, copied)
					wantSeen(t, "web", asked, passes)
				}
				for _, path := range []string{"/all", "/keyed"} {
					passed, copied := "GET shop.example/other/x?y=1 user=ann", "GET shadow.test"+path+"/x?y=1 user=ann"
					for range 4 {
						get(path+"/x?y=1", "", "200 web")
						expect(question, copied, passed)
					}
					for _, header := range []string{"Accel-auth: /victim", "Accel-shadow: /victim", "Accel-shadow: " + internal, "Accel-auth: @nobody", "Of-shadow: 500"} {
						get(path+"/x?y=1", header, "200 web")
						expect(question, copied, passed)
					}
					get(path+"/x?y=1", "Accel-web: "+internal, "404")
					expect(question, copied, passed)
					get(path+"/x?y=1", "Of-auth: 401", "302 https://login.test/start?rd="+scheme+"://shop.example%2F"+path[1:]+"%2Fx%3Fy%3D1")
					expect(question, "", refused)
					for auth, want := range map[string]string{"403": "403", "500": "500", "302": "500", "304": "500"} {
						get(path+"/x?y=1", "Of-auth: "+auth, want)
						wantSeen(t, "the authentication", questions, question)
					}
					expect("", "", refused)
				}
				get("/down", "", "500")
				get("/unresolved", "", "500")
				get(internal, "", "404")
				get("/all/victim", "Accel-web: /victim", "403")
				expect(question, "GET shadow.test/all/victim user=ann", "GET shop.example/other/victim user=ann")
				last := fmt.Sprintf("/victim?%d", major)
				get(last, "", "403")
				expect("", "", refused)
				wantNoLeak(t, access, last)
			}
			wantSeen(t, "api", victims, "")
		})
	}
}

// wantNoLeak looks for requests that were logged with the backend of another location,
// once the last request is there.
func wantNoLeak(t *testing.T, access, last string) {
	t.Helper()
	kit.Await(t, "the log of all requests", func() bool {
		text, _ := os.ReadFile(access)
		return strings.Contains(string(text), last+" HTTP")
	})
	text, err := os.ReadFile(access)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, "/victim") && strings.Contains(line, "default-api-80") {
			t.Errorf("a subrequest changed its parent: %s", line)
		}
	}
}

// serveTo loads the configuration of an outcome into an nginx, with endpoints for the
// names of Services and hosts, and gives the path of its access log too.
func (o *outcome) serveTo(t *testing.T, installed kit.Nginx, endpoints map[string][]model.Endpoint) (nginx *running, access string) {
	t.Helper()
	site := installed.Site(t)
	file, _ := kit.Templates(t).Render(o.config.Static, site.Environment, nil)
	access = site.State + "/access.log"
	site.Write(t, file.Trust(), logsOf(file.Bytes(), access))
	site.WriteUsers(t, o.config.Dynamic.Users)
	backends := o.config.Dynamic.Backends
	for i, b := range backends {
		with := *b
		with.ExternalName, with.Endpoints = "", endpoints[b.Target.Name+b.Target.Host]
		backends[i] = &with
	}
	nginx = &running{Server: site.Start(t), ports: site.Environment}
	if err := nginx.Client.Push(t.Context(), o.config.Dynamic); err != nil {
		t.Fatal(err)
	}
	return nginx, access
}
