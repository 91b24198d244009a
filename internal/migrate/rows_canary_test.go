package migrate

import (
	"fmt"
	"slices"
	"testing"
)

// canaryOf is a canary of the Ingress of around.
const canaryOf = `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: canary, namespace: default, annotations: {nginx.ingress.kubernetes.io/canary: "true", nginx.ingress.kubernetes.io/canary-weight: "10"%s}}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http: {paths: [{path: %s, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

// ingressNamed returns the part of a report about an Ingress of the namespace default.
func ingressNamed(t *testing.T, r Report, name string) Ingress {
	t.Helper()
	at := slices.IndexFunc(r.Ingresses, func(i Ingress) bool { return i.Name == name })
	if at < 0 {
		t.Fatalf("no Ingress %s: %+v", name, r.Ingresses)
	}
	return r.Ingresses[at]
}

// TestCanariesWithoutRequests: a canary that gets no requests is not ready, and its item says
// which Ingress to correct.
func TestCanariesWithoutRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		main, canary, path string
		status             Status
		row, remedy        string
	}{
		{`nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/33`, "", "/", Unavailable, "canary-closed", "Correct the Ingress that the text names."},
		{"", "", "/other", LeftOut, "canary-path", "Add the path to the main Ingress, or remove it from the canary."},
		{"", ", nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/8", "/", LeftOut, "canary-protected", "Write the same value in the main Ingress."},
		{`nginx.ingress.kubernetes.io/permanent-redirect: "https://other.example/"`, "", "/", Ready, "", "Correct the Ingress whose path the canary shares, or give the canary another path."},
	} {
		m := read(t, fmt.Sprintf(around, test.main, "")+fmt.Sprintf(canaryOf, test.canary, test.path))
		i := ingressNamed(t, Look(m, optionsFor(t), Setup{}), "canary")
		if i.Status != test.status || !slices.ContainsFunc(i.Items, func(item Item) bool {
			return item.Remedy == test.remedy && (item.Difference == nil) == (test.row == "") && (item.Difference == nil || item.Difference.ID == test.row)
		}) {
			t.Errorf("%s %s %s: %s, want %s with %s and %q: %+v", test.main, test.canary, test.path, i.Status, test.status, test.row, test.remedy, i.Items)
		}
	}
}
