package e2e

import (
	"fmt"
	"net/http/httptest"
	"strings"
)

// class is the IngressClass that sluice serves.
const class = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
`

// oneHost gives the manifests of a.example, which one backend serves.
func oneHost(web *httptest.Server) map[string]string {
	return map[string]string{
		"class.yaml": class, "web.yaml": service("web", web), "a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
	}
}

// service gives a Service with the endpoints of some backends.
func service(name string, backends ...*httptest.Server) string {
	var slices strings.Builder
	fmt.Fprintf(&slices, `
apiVersion: v1
kind: Service
metadata: {name: %s, namespace: default}
spec:
  ports: [{name: http, port: 80, targetPort: 8080}]
---
`, name)
	for i, backend := range backends {
		slices.WriteString(endpoint(name, i, "127.0.0.1", portOf(backend)))
	}
	return slices.String()
}

// endpoint gives the EndpointSlice of one endpoint of a Service.
func endpoint(service string, number int, address string, port int) string {
	return fmt.Sprintf(`
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: %s-%d, namespace: default, labels: {kubernetes.io/service-name: %s}}
addressType: IPv4
ports: [{name: http, port: %d, protocol: TCP}]
endpoints: [{addresses: [%s], conditions: {ready: true}}]
---
`, service, number, service, port, address)
}

// settings gives the ConfigMap default/config; data are "key: value".
func settings(data ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: default}\ndata: {%s}\n", strings.Join(data, ", "))
}

// ingress gives an Ingress of one host; paths are "PATH TYPE SERVICE",
// annotations "key: value" without the prefix of ingress-nginx.
func ingress(name, host string, paths []string, annotations ...string) string {
	var out strings.Builder
	fmt.Fprintf(&out, `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: %s
  namespace: default
  annotations: {`, name)
	for _, annotation := range annotations {
		key, value, _ := strings.Cut(annotation, ": ")
		if !strings.Contains(key, "/") {
			key = "nginx.ingress.kubernetes.io/" + key
		}
		fmt.Fprintf(&out, "\n    %s: %q,", key, value)
	}
	fmt.Fprintf(&out, "}\nspec:\n  ingressClassName: nginx\n  rules:\n  - host: %q\n    http:\n      paths:\n", host)
	for _, path := range paths {
		words := strings.Fields(path)
		fmt.Fprintf(&out, "      - {path: %q, pathType: %s, backend: {service: {name: %s, port: {number: 80}}}}\n", words[0], words[1], words[2])
	}
	return out.String() + "---\n"
}
