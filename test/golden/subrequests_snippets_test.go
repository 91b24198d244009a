package golden

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// inheriting has a host with a server snippet, of which one path is asked about and copied, and
// another lets nobody in.
const inheriting = `
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: all-%[1]d
  namespace: default
  creationTimestamp: "2026-01-01T00:00:00Z"
  annotations:
    nginx.ingress.kubernetes.io/auth-url: http://auth.test/check
    nginx.ingress.kubernetes.io/mirror-target: http://shadow.test
    nginx.ingress.kubernetes.io/server-snippet: %[2]q
spec:
  ingressClassName: nginx
  rules: [{host: host-%[1]d.example, http: {paths: [{path: /all, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: victim-%[1]d, namespace: default, annotations: {nginx.ingress.kubernetes.io/denylist-source-range: 127.0.0.0/8}}
spec:
  ingressClassName: nginx
  rules: [{host: host-%[1]d.example, http: {paths: [{path: /victim, pathType: Prefix, backend: {service: {name: api, port: {number: 80}}}}]}}]
`

// TestServerSnippetsDoNotLeadSubrequests: nginx checks no password and no list for a subrequest, so
// that no server snippet may answer one, or lead it to the path of another Ingress.
func TestServerSnippetsDoNotLeadSubrequests(t *testing.T) {
	t.Parallel()
	manifests := asking[:strings.Index(asking, "apiVersion")] + `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data: {allow-snippet-annotations: "true", annotations-risk-level: "Critical"}
`
	snippets := []string{
		"proxy_intercept_errors on; error_page 404 /victim;",
		"proxy_intercept_errors on; error_page 404 /yes; location = /yes { return 204; }",
		`if ($uri ~ "^/[.]sluice/") { return 204; }`,
		`if ($request_uri !~ victim) { rewrite ^/[.] /victim last; }`,
		"rewrite ^/[.]sluice/ /yes last; location = /yes { return 204; }",
		"rewrite ^/[.]sluice/auth-(.*) /.sluice/mirror-$1 last;",
	}
	for i, snippet := range snippets {
		manifests += fmt.Sprintf(inheriting, i, snippet)
	}
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "inheriting", archive: txtar.Parse([]byte(manifests))}, 0)
			if len(o.problems) > 0 {
				t.Fatal(o.problems)
			}
			auth, questions := station(t, "auth")
			shadow, copies := station(t, "shadow")
			web, asked := station(t, "web")
			api, victims := station(t, "api")
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"auth.test": {auth}, "shadow.test": {shadow}, "web": {web}, "api": {api}})
			client, scheme := clientOf(t, nginx, 1)
			for i, snippet := range snippets {
				host := fmt.Sprintf("host-%d.example", i)
				for header, want := range map[string]string{
					"":               "200 auth shadow web",
					"Of-auth: 403":   "403 auth",
					"Of-auth: 404":   "500 auth",
					"Of-shadow: 404": "200 auth shadow web",
				} {
					request, _ := http.NewRequest("GET", scheme+"://"+host+"/all", nil)
					request.Header = parseHeaders(header)
					answer, err := client.Do(request)
					if err != nil {
						t.Fatalf("%s {%s}: %v\n%s", snippet, header, err, nginx.Complaints(t))
					}
					_ = answer.Body.Close()
					got := fmt.Sprint(answer.StatusCode)
					for _, asked := range []struct {
						name string
						seen chan string
					}{{"auth", questions}, {"shadow", copies}, {"web", asked}, {"api", victims}} {
						got += askedSoon(asked.name, asked.seen)
					}
					if got != want {
						t.Errorf("%s {%s}: %s, want %s", snippet, header, got, want)
					}
				}
			}
		})
	}
}

// askedSoon returns the name of a server once for each request that it gets, each with a space before.
func askedSoon(name string, seen chan string) (names string) {
	for {
		select {
		case <-seen:
			names += " " + name
		case <-time.After(200 * time.Millisecond):
			return names
		}
	}
}
