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

// migrateParts are the objects that the cases of TestMigrateDecides combine.
var migrateParts = map[string]string{
	"service":      "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n",
	"ready":        ingressOf("web", "ingressClassName: nginx, "),
	"alone":        ingressOf("alone", ""),
	"nobody":       ingressOf("nobody", "ingressClassName: nowhere, "),
	"deployment":   deploymentWith("--configmap=ingress-nginx/settings"),
	"second":       strings.ReplaceAll(deploymentWith("--configmap=ingress-nginx/other, --v=2"), "name: ingress-nginx-controller", "name: second"),
	"unexpanded":   deploymentWith("--configmap=$(PLACE)/settings"),
	"zones":        deploymentWith("--configmap=ingress-nginx/settings, --enable-topology-aware-routing"),
	"main-closed":  inTeam("main", `nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/33`),
	"canary":       inTeam("canary", `nginx.ingress.kubernetes.io/canary: "true", nginx.ingress.kubernetes.io/canary-weight: "10"`),
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

// inTeam is an Ingress of the host main.example in the namespace team.
func inTeam(name, annotations string) string {
	text := strings.ReplaceAll(ingressOf("main", "ingressClassName: nginx, "), "name: main, namespace: shop", "name: "+name+", namespace: team, annotations: {"+annotations+"}")
	return text
}

func deploymentWith(arguments string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx, labels: {app.kubernetes.io/name: ingress-nginx}}
spec: {template: {spec: {containers: [{name: controller, image: registry.k8s.io/ingress-nginx/controller:v1.15.1, args: [/nginx-ingress-controller, ` + arguments + `]}]}}}
`
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
	return written(t, "manifests.yaml", strings.Join(all, "---\n"))
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// migrateCase is a run of sluice migrate.
type migrateCase struct {
	parts, flags string
	// values are those of the chart, empty for none.
	values string
	// deployments is the status of their list in a cluster without objects, 0 for no cluster.
	deployments int
	status      int
	want        string
}

func (c migrateCase) name() string {
	return strings.TrimSpace(fmt.Sprint(c.parts, " ", c.flags, " ", c.values, " ", c.deployments))
}

func (c migrateCase) arguments(t *testing.T) string {
	t.Helper()
	arguments := "migrate -f " + manifestsOf(t, c.parts) + " " + c.flags
	if c.values != "" {
		arguments += " --values " + written(t, "old-values.yaml", c.values)
	}
	if c.deployments != 0 {
		arguments += " --from-cluster --kubeconfig " + emptyCluster(t, c.deployments)
	}
	return arguments
}

// The report passes only if all that decides is known: the settings, the flags, and a class for
// each Ingress. The flags are those of the command line, of a Deployment or of values.
var migrateCases = []migrateCase{
	{parts: "service ready", want: "READY      shop/web"},
	{parts: "service ready deployment settings", want: "READY      shop/web"},
	{parts: "service ready deployment", status: 1, want: "ConfigMap ingress-nginx/settings: the settings are not known"},
	{parts: "service ready deployment", flags: "--configmap ingress-nginx/other", status: 1, want: "ConfigMap ingress-nginx/other: the settings are not known"},
	{parts: "service ready unexpanded", status: 1, want: "--configmap: the settings are not known: want a value that the manifests give"},
	{parts: "service ready unexpanded settings", flags: "--configmap ingress-nginx/settings", want: "READY      shop/web"},
	{parts: "service ready alone", status: 1, want: "shop/alone: the Ingress names no class"},
	{parts: "service ready alone", flags: "--fail-on 503", want: "1 that no known controller serves"},
	{parts: "service ready alone", flags: "--watch-ingress-without-class", want: "READY      shop/alone"},
	{parts: "service ready nobody", status: 1, want: `shop/nobody: no IngressClass has the name "nowhere"`},
	{parts: "service ready global-limit", status: 1, want: "DIFFERENT  shop/limited"},
	{parts: "service ready", flags: "--namespace other", status: 1, want: `no Ingress of the namespace "other"`},
	{parts: "service ready", flags: "--namespace other --allow-empty", want: "0 Ingresses"},
	{parts: "service", status: 1, want: "no Ingress is among the manifests"},
	{parts: "service", flags: "--allow-empty", want: "0 Ingresses"},
	{parts: "service ready", flags: "--context production", status: 2, want: "want --from-cluster"},
	{parts: "service ready", flags: "--kubeconfig config", status: 2, want: "want --from-cluster"},
	{parts: "service ready", flags: "--token secret", status: 2, want: "want --from-cluster"},

	{parts: "service ready", deployments: nethttp.StatusForbidden, status: 1, want: "the flags of ingress-nginx are not known: you may not list deployments"},
	{parts: "service ready", deployments: nethttp.StatusOK, status: 1, want: "no Deployment and no DaemonSet has the label app.kubernetes.io/name=ingress-nginx"},
	{parts: "service ready settings", flags: "--configmap ingress-nginx/settings", deployments: nethttp.StatusForbidden, want: "READY      shop/web"},
	{parts: "service ready settings deployment", deployments: nethttp.StatusForbidden, want: "READY      shop/web"},
	{parts: "service ready deployment", deployments: nethttp.StatusForbidden, status: 1, want: "ConfigMap ingress-nginx/settings: the settings are not known"},

	{parts: "service ready", values: "{}", want: "flags: --configmap=ingress-nginx/ingress-nginx-controller --controller-class=k8s.io/ingress-nginx --ingress-class=nginx, which Chart ingress-nginx (old-values.yaml) gives"},
	{parts: "service ready", values: "{}", deployments: nethttp.StatusForbidden, want: "settings: ConfigMap ingress-nginx/ingress-nginx-controller, which Chart ingress-nginx (old-values.yaml) names"},
	{parts: "service ready deployment settings", values: "{}", want: "values: those of old-values.yaml are checked only, as the flags and settings are those of a Deployment"},
	{parts: "service ready", values: "controller: {configMapNamespace: edge}", status: 1, want: "ConfigMap edge/ingress-nginx-controller: the settings are not known"},
	{parts: "service ready", values: `tcp: {"5432": "no service"}`, status: 1, want: "(stream-entry)"},
	{parts: "service ready", values: `{udp: {"53": "no service"}, controller: {udp: {configMapNamespace: edge}}}`, status: 1, want: "--udp-services-configmap=edge/ingress-nginx-udp"},
	{parts: "service ready", values: "{defaultBackend: {enabled: true}}", want: "--default-backend-service=ingress-nginx/ingress-nginx-defaultbackend"},
	{parts: "service ready", values: "controller: {healthCheckPath: /alive}", want: "--health-check-path=/alive"},
	{parts: "service ready", values: `controller: {extraArgs: {disable-catch-all: ""}}`, want: "--disable-catch-all=true"},
	{parts: "service ready", values: "controller: {addHeaders: {Strict-Transport-Security: max-age=1}}", want: "(add-headers-hsts)"},
	{parts: "service ready", values: "controller: {enableTopologyAwareRouting: true}", want: "(topology-zones)"},
	{parts: "service ready zones settings", want: "(topology-zones)"},

	{parts: "service ready main-closed canary settings", flags: "--namespace team", status: 1, want: "503        team/canary"},
	{parts: "service ready", want: "settings: not known, as no ConfigMap is found: the defaults are assumed"},
	{parts: "service ready", values: "controller: {replicaCont: 2}", status: 1, want: "unknown: controller.replicaCont: "},
	{parts: "service ready", values: "controller: {replicaCont: 2}", flags: "--fail-on 503", want: "unknown: controller.replicaCont: "},
	{parts: "service ready", values: "controller: {replicaCount: three}", status: 1, want: `refused: controller.replicaCount: want a whole number (got "three")`},
	{parts: "service ready", values: "controller: {config: {no-such: 1}}", want: "unknown: controller.config.no-such: "},
	{parts: "service ready deployment settings", values: `controller: {config: {block-cidrs: "no such"}}`, flags: "--fail-on 503", status: 1, want: "503: controller.config.block-cidrs: "},
	{parts: "service ready", values: "controller: {extraArgs: {default-ssl-certificate: wildcard}}", status: 1, want: `refused: controller.extraArgs.default-ssl-certificate: want NAMESPACE/NAME (got "wildcard")`},
	{parts: "service ready", values: "controller: {extraArgs: {default-ssl-certificate: $(POD_NAMESPACE)/wildcard}}", want: "READY      shop/web"},
	{parts: "service ready", values: "controller: {extraArgs: {disable-catch-all: maybe}}", status: 1, want: `refused: controller.extraArgs.disable-catch-all: want true or false (got "maybe")`},
	{parts: "service ready", values: "controller: {extraArgs: [a]}", status: 1, want: `refused: controller.extraArgs: want an object (got ["a"])`},
	{parts: "service ready", flags: "-o json -o csv", status: 2, want: "want it once"},
	{parts: "service ready settings deployment second", status: 1, want: "Flags:\n  changed: --configmap: it differs between the Deployments, so that it counts for none"},
	{parts: "service ready", values: "# nothing", status: 2, want: "old-values.yaml: want values of a Helm chart (got none)"},
}

// TestMigrateDecides: each case has its exit status, and says why.
func TestMigrateDecides(t *testing.T) {
	t.Parallel()
	for _, test := range migrateCases {
		t.Run(test.name(), func(t *testing.T) {
			t.Parallel()
			out, errs, status := command(t, test.arguments(t))
			if status != test.status || !strings.Contains(out+errs, test.want) {
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
	return written(t, "config", "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: '"+server.URL+"'}}]\n")
}
