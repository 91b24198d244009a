package lint

import (
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const deployment = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: nginx, namespace: ingress}
spec: {template: {spec: {containers: [{name: other}, {name: controller, args: [/nginx-ingress-controller, ARGUMENT]}]}}}
`

func configMap(namespace, name string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + namespace + "}\n"
}

// The settings in the input count without being named: by the flag of the
// Deployment, else by their usual name.
func TestSettingsAreFound(t *testing.T) {
	t.Parallel()
	flag := func(text string) string { return strings.ReplaceAll(deployment, "ARGUMENT", text) }
	usual := configMap("ingress", "web-ingress-nginx-controller")
	for name, test := range map[string]struct{ manifests, want, says string }{
		"none":                             {configMap("shop", "prices"), "", "settings: no ConfigMap found: all have their defaults; --configmap names it"},
		"by its name":                      {configMap("shop", "prices") + usual, "ingress/web-ingress-nginx-controller", "settings: ConfigMap ingress/web-ingress-nginx-controller, by its name"},
		"by the flag":                      {usual + configMap("ingress", "mine") + flag("--configmap=$(POD_NAMESPACE)/mine"), "ingress/mine", "settings: ConfigMap ingress/mine, which Deployment nginx names"},
		"by the flag of two words":         {configMap("a", "mine") + flag("--configmap, a/mine"), "a/mine", "settings: ConfigMap a/mine, which Deployment nginx names"},
		"by a flag, of what is not there":  {usual + flag("--configmap=a/mine"), "", "settings: ConfigMap a/mine, which Deployment nginx names, is not among the manifests: all have their defaults"},
		"two":                              {usual + configMap("b", "sluice-controller"), "", "settings: 2 ConfigMaps could have them, such as ingress/web-ingress-nginx-controller and b/sluice-controller: all have their defaults; --configmap names the right one"},
		"a Deployment of something else":   {usual + flag("--port=80"), "ingress/web-ingress-nginx-controller", "settings: ConfigMap ingress/web-ingress-nginx-controller, by its name"},
		"a name that only ends like usual": {configMap("a", "mysluice"), "", "settings: no ConfigMap found: all have their defaults; --configmap names it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, how := FindSettings(read(test.manifests))
			if got.String() != test.want && (got != snapshot.Name{} || test.want != "") || how != test.says {
				t.Errorf("found %v, %s", got, how)
			}
		})
	}
}

// Manifests without an Ingress are hardly meant.
func TestNoIngressIsAnError(t *testing.T) {
	t.Parallel()
	for _, manifests := range []string{"", deployment, configMap("a", "b")} {
		o := options(t)
		report := Look(read(manifests), o)
		if report.Errors != 1 || report.Findings[0].Reason != Empty {
			t.Errorf("got %+v", report)
		}
		if o.AllowEmpty = true; Look(read(manifests), o).Errors != 0 {
			t.Error("it is an error though it is allowed")
		}
	}
}

// What is ignored is counted, and nothing else is left out.
func TestIgnoredReasons(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Ignored = []string{"notfound"}
	if report := Look(read(missingService), o); len(report.Findings) != 0 || report.Errors != 0 || report.Ignored != 1 {
		t.Errorf("got %+v", report)
	}
	o.Ignored = []string{"Unread"}
	if report := Look(read(missingService), o); report.Errors != 1 || report.Ignored != 0 {
		t.Errorf("got %+v", report)
	}
}

const covered = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, annotations: ANNOTATIONS}
spec:
  ingressClassName: nginx
  tls: [{hosts: [shop.example], secretName: cert}]
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// A Secret that an issuer is to make is worth a note, one that is taken as there
// nothing; any other that is missing is an error.
func TestMissingSecrets(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		annotations string
		there       func(snapshot.Name) bool
		want        model.Reason
	}{
		"nobody makes it":              {"{}", nil, model.NotFound},
		"an issuer":                    {"{cert-manager.io/issuer: ca}", nil, ToBeIssued},
		"an issuer of the cluster":     {"{cert-manager.io/cluster-issuer: letsencrypt}", nil, ToBeIssued},
		"tls-acme":                     {`{kubernetes.io/tls-acme: "true"}`, nil, ToBeIssued},
		"tls-acme that is off":         {`{kubernetes.io/tls-acme: "false"}`, nil, model.NotFound},
		"taken as there":               {"{}", func(n snapshot.Name) bool { return n == snapshot.Name{Namespace: "shop", Name: "cert"} }, ""},
		"another one is there":         {"{}", func(n snapshot.Name) bool { return n.Name == "other" }, model.NotFound},
		"taken as there, by an issuer": {"{cert-manager.io/issuer: ca}", func(snapshot.Name) bool { return true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			o.SecretThere = test.there
			var got model.Reason
			for _, f := range Look(read(strings.ReplaceAll(covered, "ANNOTATIONS", test.annotations)), o).Findings {
				got = f.Reason
				if (f.Severity == Note) != (f.Reason == ToBeIssued) {
					t.Errorf("%s is of the severity %s", f.Reason, f.Severity)
				}
			}
			if got != test.want {
				t.Errorf("the finding is %q, want %q", got, test.want)
			}
		})
	}
}
