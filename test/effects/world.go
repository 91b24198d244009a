package effects

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/test/kit"
)

// Objects are the manifests that the table names, and settings with which all of it may be used.
var Objects = Under("")

// Under returns Objects with further settings, in the lines of a YAML mapping, indented by two spaces.
func Under(further string) string { return settings + further + objects }

var objects = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: snippets, namespace: sluice}
data:
  team: |
    parameters:
      name: {type: string}
    text: |
      add_header X-Team {{ .name }} always;
---
apiVersion: v1
kind: ConfigMap
metadata: {name: answered, namespace: default}
data: {X-Answered: "yes"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: asked, namespace: default}
data: {X-Asked: "yes"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: parameters, namespace: default}
data: {HTTP_X_PARAMETER: "yes"}
---
apiVersion: v1
kind: Secret
metadata: {name: users, namespace: default}
stringData: {auth: "ann:{PLAIN}secret"}
---
apiVersion: v1
kind: Secret
metadata: {name: clients, namespace: default}
stringData:
  ca.crt: ` + literal(Ann().PEM) + `
---
apiVersion: v1
kind: Secret
metadata: {name: services, namespace: default}
stringData:
  ca.crt: ` + literal(kit.Authority()) + `
  tls.crt: ` + literal(Ann().PEM) + `
  tls.key: ` + literal(Ann().Key) + `
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
` + web + "---\n" + fallback + "---\n" + other

// settings allow all annotations of the table.
const settings = `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data:
  allow-snippet-annotations: "true"
  annotations-risk-level: Critical
  global-allowed-response-headers: X-Answered
`

var (
	web      = service("web", "10.0.0.1")
	fallback = service("fallback", "10.0.0.2")
	other    = service("other", "10.0.0.3")
)

func service(name, address string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: default}
spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: %[1]s-1, namespace: default, labels: {kubernetes.io/service-name: %[1]s}}
addressType: IPv4
endpoints: [{addresses: [%[2]s], conditions: {ready: true}}]
ports: [{name: http, port: 8080}]
`, name, address)
}

// Endpoints returns the servers of the table: Services that tell what they got, and a server that
// decides who may pass. They answer until the test ends.
func Endpoints(t testing.TB) func(*model.Backend) []model.Endpoint {
	t.Helper()
	web, other, deciding := serve(t, teller("web")), serve(t, teller("other")), serve(t, http.HandlerFunc(decide))
	return func(b *model.Backend) []model.Endpoint {
		switch {
		case b.Target.Host == "auth.test":
			return deciding
		case b.Target.Name == "other":
			return other
		}
		return web
	}
}

func serve(t testing.TB, handler http.Handler) []model.Endpoint {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go kit.SpeakTLS(listener, handler)
	return []model.Endpoint{{Address: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port}}
}

// decide lets requests pass that have no header X-Refused.
func decide(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-User", "bob")
	w.Header().Set("Set-Cookie", "asked=1")
	if r.Header.Get("X-Unknown") != "" {
		w.WriteHeader(http.StatusUnauthorized)
	}
	if r.Header.Get("X-Refused") != "" {
		w.WriteHeader(http.StatusForbidden)
	}
}

// teller is a Service that tells its name.
func teller(service string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Service", service)
		tell(w, r)
	})
}

// tell answers with what it got in headers Got-NAME. The headers Want-NAME are those of the answer;
// Want-Status and Want-Body are its status and its body.
func tell(w http.ResponseWriter, r *http.Request) {
	length, _ := io.Copy(io.Discard, r.Body)
	for name, value := range map[string]string{
		"Got-Method": r.Method, "Got-Uri": r.RequestURI, "Got-Host": r.Host, "Got-Protocol": r.Proto,
		"Got-Length": strconv.FormatInt(length, 10), "Got-X-Code": r.Header.Get("X-Code"),
		"Got-Tls": strconv.FormatBool(r.TLS != nil),
	} {
		w.Header().Set(name, value)
	}
	if uri := fcgi.ProcessEnv(r)["DOCUMENT_URI"]; uri != "" {
		w.Header().Set("Got-Protocol", "FastCGI")
		w.Header().Set("Got-Uri", uri)
	}
	for name, values := range r.Header {
		if wanted, is := strings.CutPrefix(name, "Want-"); is && wanted != "Status" && wanted != "Body" {
			w.Header()[wanted] = values
		} else if !is && len(values[0]) < 100 {
			w.Header()["Got-"+name] = values
		}
	}
	if r.Header.Get("X-Code") != "" {
		w.Header().Set("Service", "fallback")
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if status, err := strconv.Atoi(r.Header.Get("Want-Status")); err == nil && !strings.HasSuffix(r.URL.Path, "/index.html") {
		w.WriteHeader(status)
	}
	_, _ = io.WriteString(w, r.Header.Get("Want-Body"))
}
