package chart

import (
	"strings"
	"testing"

	"sluice/test/chart/rendering"
)

// static is what deploy/static.yaml begins with.
const static = `# Sluice with the default values of charts/sluice, for those who do not use Helm:
#
#   kubectl apply -f deploy/static.yaml
#
# A ValidatingAdmissionPolicy wants Kubernetes 1.30; with an older one, leave out the two
# objects with this in their kind.
#
# ` + "`make manifests`" + ` writes this file. Each rule says what it is for and what becomes
# of Sluice without it; docs/rbac.md has them in tables. With other values, the rights
# are others: helm template sluice ./charts/sluice --namespace sluice --values FILE
# renders these.
apiVersion: v1
kind: Namespace
metadata:
  name: sluice
  labels:
    pod-security.kubernetes.io/enforce: restricted
`

// granted are the values whose rights the tests of test/cluster run Sluice with, and
// take away one by one, by the file in its testdata/chart.
var granted = map[string]string{
	"all-namespaces":     "rbac: {configMapNames: {settings: [internal]}}",
	"single-secrets":     "rbac: {configMapNames: {settings: [internal]}, secretNames: {shop: [shop-tls]}}",
	"all-secrets":        "rbac: {configMapNames: {settings: [internal]}}\ncontroller: {extraArgs: {watch-secrets: metadata}}",
	"namespace-selector": "rbac: {configMapNames: {settings: [internal]}}\ncontroller: {scope: {namespaceSelector: team=web}}",
	"status-from-nodes":  "rbac: {configMapNames: {settings: [internal]}}\ncontroller: {publishService: {enabled: false}}",
	"streams":            "rbac: {configMapNames: {settings: [internal]}}\ntcp: {\"9000\": shop/web:80}\nudp: {\"9000\": shop/web:80}",
	"headers":            "rbac: {configMapNames: {settings: [internal]}}\ncontroller: {config: {global-allowed-response-headers: X-One}}",
	"single-headers":     "rbac: {configMapNames: {settings: [internal]}, headerConfigMaps: {shop: [headers]}}\ncontroller: {config: {global-allowed-response-headers: X-One}}",
	"one-namespace":      "rbac: {scope: true}\ncontroller: {scope: {enabled: true, namespace: shop}}",
	"own-namespace":      "rbac: {scope: true}\ncontroller: {scope: {enabled: true}}",
}

// TestManifestsAreFresh: deploy/static.yaml, and what the cluster tests run with, is
// what the chart renders.
func TestManifestsAreFresh(t *testing.T) {
	t.Parallel()
	fresh(t, "deploy/static.yaml", static+withoutHelm(render(t, "").Manifests))
	for name, values := range granted {
		text := "# charts/sluice with these values, rendered by `make manifests`:\n#\n"
		for line := range strings.Lines(values) {
			text += "#   " + strings.TrimSpace(line) + "\n"
		}
		fresh(t, "test/cluster/testdata/chart/"+name+".yaml", text+withoutHelm(render(t, values).Manifests))
	}
}

func render(t testing.TB, values string) *rendering.Rendering {
	t.Helper()
	r, err := rendering.Default().Render(values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// withoutHelm leaves out the labels that say that Helm manages an object.
func withoutHelm(manifests string) string {
	var all strings.Builder
	for line := range strings.Lines(manifests) {
		label := strings.TrimSpace(line)
		if label != "app.kubernetes.io/managed-by: Helm" && !strings.HasPrefix(label, "helm.sh/chart: ") {
			all.WriteString(line)
		}
	}
	return all.String()
}
