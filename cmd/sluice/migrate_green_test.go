package main

import (
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// migrateParts are the objects that the cases of TestMigrateIsNotGreen combine.
var migrateParts = map[string]string{
	"service": "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n",
	"ready":   ingressOf("web", "ingressClassName: nginx, "),
	"alone":   ingressOf("alone", ""),
	"nobody":  ingressOf("nobody", "ingressClassName: nowhere, "),
	"deployment": `apiVersion: apps/v1
kind: Deployment
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx, labels: {app.kubernetes.io/name: ingress-nginx}}
spec: {template: {spec: {containers: [{name: controller, image: registry.k8s.io/ingress-nginx/controller:v1.15.1, args: [/nginx-ingress-controller, --configmap=ingress-nginx/settings]}]}}}
`,
	"unexpanded":   "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\nspec: {template: {spec: {containers: [{name: controller, image: registry.k8s.io/ingress-nginx/controller:v1.15.1, args: [/nginx-ingress-controller, --configmap=$(PLACE)/settings]}]}}}\n",
	"settings":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: ingress-nginx}\n",
	"global-limit": strings.Replace(ingressOf("limited", "ingressClassName: nginx, "), "namespace: shop", `namespace: shop, annotations: {nginx.ingress.kubernetes.io/global-rate-limit: "100", nginx.ingress.kubernetes.io/global-rate-limit-window: 1s}`, 1),
}

func ingressOf(name, class string) string {
	return fmt.Sprintf(`apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: %[1]s, namespace: shop}
spec: {%[2]srules: [{host: %[1]s.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`, name, class)
}

// manifestsOf writes parts to a file.
func manifestsOf(t *testing.T, names string) string {
	t.Helper()
	var all []string
	for name := range strings.FieldsSeq(names) {
		if migrateParts[name] == "" {
			t.Fatalf("no part %s", name)
		}
		all = append(all, migrateParts[name])
	}
	path := filepath.Join(t.TempDir(), "manifests.yaml")
	if err := os.WriteFile(path, []byte(strings.Join(all, "---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMigrateIsNotGreen: the report does not pass if something that decides is not known, or
// an Ingress is served by nobody.
func TestMigrateIsNotGreen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parts, flags string
		status       int
		want         string
	}{
		{"service ready", "", 0, "READY      shop/web"},
		{"service ready deployment settings", "", 0, "READY      shop/web"},
		{"service ready deployment", "", 1, "ConfigMap ingress-nginx/settings: the settings are not known"},
		{"service ready deployment", "--configmap ingress-nginx/other", 1, "ConfigMap ingress-nginx/other: the settings are not known"},
		{"service ready unexpanded", "", 1, "--configmap: the settings are not known: want a value that the manifests give"},
		{"service ready unexpanded settings", "--configmap ingress-nginx/settings", 0, "READY      shop/web"},
		{"service ready alone", "", 1, "shop/alone: the Ingress names no class"},
		{"service ready alone", "--fail-on 503", 0, "1 that no known controller serves"},
		{"service ready alone", "--watch-ingress-without-class", 0, "READY      shop/alone"},
		{"service ready nobody", "", 1, `shop/nobody: no IngressClass has the name "nowhere"`},
		{"service ready global-limit", "", 1, "DIFFERENT  shop/limited"},
		{"service ready", "--namespace other", 1, `no Ingress of the namespace "other"`},
		{"service ready", "--namespace other --allow-empty", 0, "0 Ingresses"},
		{"service", "", 1, "no Ingress is among the manifests"},
		{"service", "--allow-empty", 0, "0 Ingresses"},
		{"service ready", "--context production", 2, "want --from-cluster"},
		{"service ready", "--kubeconfig config", 2, "want --from-cluster"},
		{"service ready", "--token secret", 2, "want --from-cluster"},
	} {
		t.Run(strings.TrimSpace(test.parts+" "+test.flags), func(t *testing.T) {
			t.Parallel()
			out, errs, status := command(t, "migrate -f "+manifestsOf(t, test.parts)+" "+test.flags)
			if status != test.status || !strings.Contains(out+errs, test.want) {
				t.Errorf("status %d, want %d with %q:\n%s%s", status, test.status, test.want, out, errs)
			}
		})
	}
}

// TestMigrateNeedsTheFlags: without the Deployments of a cluster, the report does not pass
// unless the command line or manifests say what they would.
func TestMigrateNeedsTheFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		deployments int // the status of their list
		parts       string
		flags       string
		status      int
		want        string
	}{
		{nethttp.StatusForbidden, "service ready", "", 1, "the flags of ingress-nginx are not known: you may not list deployments"},
		{nethttp.StatusOK, "service ready", "", 1, "no Deployment and no DaemonSet has the label app.kubernetes.io/name=ingress-nginx"},
		{nethttp.StatusForbidden, "service ready settings", "--configmap ingress-nginx/settings", 0, "READY      shop/web"},
		{nethttp.StatusForbidden, "service ready settings deployment", "", 0, "READY      shop/web"},
		{nethttp.StatusForbidden, "service ready deployment", "", 1, "ConfigMap ingress-nginx/settings: the settings are not known"},
	} {
		t.Run(fmt.Sprint(test.deployments, " ", test.parts, " ", test.flags), func(t *testing.T) {
			t.Parallel()
			out, errs, status := command(t, "migrate --from-cluster --kubeconfig "+emptyCluster(t, test.deployments)+" -f "+manifestsOf(t, test.parts)+" "+test.flags)
			if status != test.status || !strings.Contains(out, test.want) {
				t.Errorf("status %d, want %d with %q:\n%s%s", status, test.status, test.want, out, errs)
			}
		})
	}
}

// emptyCluster is a cluster without objects. It returns its kubeconfig.
func emptyCluster(t *testing.T, deployments int) string {
	t.Helper()
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		status := nethttp.StatusOK
		switch {
		case strings.HasPrefix(r.URL.Path, "/apis/apps/"):
			status = deployments
		case strings.Contains(r.URL.Path, "/namespaces/"):
			status = nethttp.StatusNotFound
		}
		w.WriteHeader(status)
		if status != nethttp.StatusOK {
			fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "code": %d}`, strings.ReplaceAll(nethttp.StatusText(status), " ", ""), status)
			return
		}
		fmt.Fprint(w, `{"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []}`)
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "config")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: '" + server.URL + "'}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
