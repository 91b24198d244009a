package migrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/lint"
)

// layered are two Ingresses of the namespace default: one of the class nginx, and one of the
// class internal, with settings of its own.
const layered = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: internal}
spec: {controller: k8s.io/ingress-nginx, parameters: {kind: ConfigMap, name: internal, scope: Namespace, namespace: ingress-nginx}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
data: {%s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: internal, namespace: ingress-nginx}
data: {%s}
---
apiVersion: v1
kind: Namespace
metadata: {name: default, annotations: {%s}}
`

// ofClass is an Ingress.
const ofClass = `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web-%[2]d, namespace: default}
spec:
  ingressClassName: %[1]s
  rules:
  - host: %[1]s-%[2]d.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

// TestLayersAreToldOnce: rows that settings of the controller, of a class or of a Namespace
// give to all their Ingresses are there once, at the object that gives them.
func TestLayersAreToldOnce(t *testing.T) {
	t.Parallel()
	const traced = "enable-opentelemetry: true"
	for _, test := range []struct{ controller, class, namespace, row, want string }{
		{`enable-opentelemetry: "true", otlp-collector-host: traces.example`, "", "", "tracing", "every Ingress"},
		{`otlp-collector-host: traces.example, default-annotations: "` + traced + `"`, "", "", "tracing", "every Ingress"},
		{`otlp-collector-host: traces.example, fixed-annotations: "` + traced + `"`, "", "", "tracing", "every Ingress"},
		{`otlp-collector-host: traces.example`, `enable-opentelemetry: "true"`, "", "tracing", "ConfigMap ingress-nginx/internal"},
		{`otlp-collector-host: traces.example`, `default-annotations: "` + traced + `"`, "", "tracing", "ConfigMap ingress-nginx/internal"},
		{`otlp-collector-host: traces.example`, "", `sluice.io/defaults: "` + traced + `"`, "tracing", "Namespace default"},
		{`otlp-collector-host: traces.example`, "", `sluice.io/fixed: "nginx.ingress.kubernetes.io/` + traced + `"`, "tracing", "Namespace default"},
		{`otlp-collector-host: traces.example, enable-opentelemetry: "true"`, `enable-opentelemetry: "true"`, `sluice.io/defaults: "` + traced + `"`, "tracing", "every Ingress"},
		{`otlp-collector-host: traces.example`, `enable-opentelemetry: "true"`, `sluice.io/defaults: "` + traced + `"`, "tracing", "ConfigMap ingress-nginx/internal, Namespace default"},
		{`otlp-collector-host: traces.example, opentelemetry-operation-name: one`, "", `sluice.io/defaults: "` + traced + `"`, "span-name", ""},
		{"", "", `sluice.io/defaults: "auth-url: https://sign-in.example/"`, "auth-connections", "Namespace default"},
		{"", "", `sluice.io/defaults: "#auth-url: https://sign-in.example/"`, "auth-connections", ""},
		{`custom-http-errors: "413"`, "", "", "error-413", "every Ingress"},
		{"", `default-annotations: "custom-http-errors: 413"`, "", "error-413", "ConfigMap ingress-nginx/internal"},
	} {
		t.Run(strings.Join([]string{test.controller, test.class, test.namespace}, " "), func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf(layered, test.controller, test.class, test.namespace)
			for i := range 3 {
				text += fmt.Sprintf(ofClass, "nginx", i) + fmt.Sprintf(ofClass, "internal", i+3)
			}
			m := read(t, text)
			if len(m.Errors) > 0 {
				t.Fatal(m.Errors[0])
			}
			if got := placesOf(m, optionsFor(t), test.row); got != test.want {
				t.Errorf("%s is at %q, want %q", test.row, got, test.want)
			}
		})
	}
}

// placesOf returns the objects of a report with a row.
func placesOf(m lint.Manifests, o lint.Options, row string) string {
	r := Look(m, o, Setup{})
	items := slices.Concat(r.Everywhere, r.Objects)
	for _, i := range r.Ingresses {
		items = append(items, i.Items...)
	}
	var places []string
	for _, item := range items {
		if item.Difference == nil || item.Difference.ID != row {
			continue
		}
		if place := strings.TrimSpace(item.Object.String()); place != "" {
			places = append(places, place)
		} else {
			places = append(places, "every Ingress")
		}
	}
	slices.Sort(places)
	return strings.Join(places, ", ")
}
