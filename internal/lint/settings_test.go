package lint

import (
	"slices"
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

// The settings in the input count without being named, by their usual name. Where
// several have one, none counts, which is an error.
func TestSettingsAreFound(t *testing.T) {
	t.Parallel()
	usual := configMap("ingress", "web-ingress-nginx-controller")
	const none = "settings: not known, as no ConfigMap is found: the defaults are assumed; --configmap names it"
	const two = "2 ConfigMaps could have the settings, such as b/sluice-controller and ingress/web-ingress-nginx-controller: all have their defaults; --configmap names the right one"
	for name, test := range map[string]struct{ manifests, want, says, problem string }{
		"none":                             {configMap("shop", "prices"), "/", none, ""},
		"by its name":                      {configMap("shop", "prices") + usual, "ingress/web-ingress-nginx-controller", "settings: ConfigMap ingress/web-ingress-nginx-controller, by its name", ""},
		"the same one twice":               {usual + usual, "ingress/web-ingress-nginx-controller", "settings: ConfigMap ingress/web-ingress-nginx-controller, by its name", ""},
		"two":                              {usual + configMap("b", "sluice-controller"), "/", "settings: " + two, two},
		"two, in another order":            {configMap("b", "sluice-controller") + usual, "/", "settings: " + two, two},
		"a name that only ends like usual": {configMap("a", "mysluice"), "/", none, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, how, problems := FindSettings(read(test.manifests).Objects)
			if got.String() != test.want || how != test.says {
				t.Errorf("found %v, %s", got, how)
			}
			if (test.problem == "") != (len(problems) == 0) || len(problems) > 0 && (problems[0].Text != test.problem || SeverityOf(problems[0]) != Error) {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

// What is known before is told with the place of its object, a Deployment's too.
func TestKnownProblemsAreFindings(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.AllowEmpty = true
	o.Known = []model.Problem{{Object: model.ObjectRef{Kind: "Deployment", Namespace: "ingress", Name: "nginx"}, Field: "--x", Reason: Several, Text: "y"}}
	report := Look(read(deployment), o)
	if len(report.Findings) != 1 || report.Findings[0].String() != "shop.yaml:2: error: Deployment ingress/nginx: --x: y [Several]" {
		t.Errorf("got %+v", report)
	}
}

// An Ingress that is not of a class or namespace that is served counts for none.
func TestNoServedIngressIsAnError(t *testing.T) {
	t.Parallel()
	class := strings.ReplaceAll(missingService, "spec:\n  ingressClassName: nginx", "spec:\n  ingressClassName: other")
	class += "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: other}\nspec: {controller: example.org/other}\n"
	elsewhere := strings.ReplaceAll(class, "spec:\n  ingressClassName: other", "spec:")
	elsewhere = strings.ReplaceAll(elsewhere, "namespace: shop", "namespace: shop, annotations: {kubernetes.io/ingress.class: traefik}")
	for name, test := range map[string]struct {
		manifests, namespace string
		notes                int
	}{
		"another class":          {class, "", 0},
		"another class by name":  {elsewhere, "", 1},
		"another namespace":      {missingService, "office", 1},
		"a class without a note": {class, "shop", 0},
	} {
		o := options(t)
		o.Watch.Namespace = test.namespace
		report := Look(read(test.manifests), o)
		if report.Errors != 1 || report.Findings[0].Reason != Empty || report.Notes != test.notes || report.Ingresses != 1 || report.Served != 0 {
			t.Errorf("%s: got %+v", name, report)
		}
		if o.AllowEmpty = true; Look(read(test.manifests), o).Errors != 0 {
			t.Errorf("%s: it is an error though it is allowed", name)
		}
	}
}

// Of an Ingress that is passed over it is said why, and not that there is none.
func TestPassedOverIngresses(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"apiVersion: extensions/v1beta1\nkind: Ingress", "apiVersion: v1\nkind: Ingress", "apiVersion: networking.k8s.io/v1\nkind: ingress"} {
		report := Look(read(header+"\nmetadata: {name: web}\n"), options(t))
		if report.Errors != 1 || report.Findings[0].Reason != model.Unsupported || report.Findings[0].Line != 1 {
			t.Errorf("%s: got %+v", header, report)
		}
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
		"tls-acme that is no boolean":  {`{kubernetes.io/tls-acme: "no"}`, nil, model.NotFound},
		"the kind of an issuer alone":  {"{cert-manager.io/issuer-kind: ClusterIssuer}", nil, model.NotFound},
		"a former issuer":              {"{certmanager.k8s.io/cluster-issuer: letsencrypt}", nil, model.NotFound},
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

// An annotation that made certificates once is named with the one that does.
func TestFormerIssuers(t *testing.T) {
	t.Parallel()
	report := Look(read(strings.ReplaceAll(covered, "ANNOTATIONS", "{certmanager.k8s.io/issuer: ca}")), options(t))
	const want = "; cert-manager has not read the annotation certmanager.k8s.io/issuer since 0.11: write cert-manager.io/issuer"
	if len(report.Findings) != 1 || !strings.HasSuffix(report.Findings[0].Text, want) {
		t.Errorf("got %+v", report)
	}
}

// The default certificate is a Secret as others are.
func TestDefaultCertificateIsAssumed(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.AllowEmpty, o.Translate.DefaultCertificate = true, snapshot.Name{Namespace: "ingress", Name: "default"}
	if report := Look(Manifests{}, o); report.Errors != 1 {
		t.Errorf("got %+v", report)
	}
	o.SecretThere = func(name snapshot.Name) bool { return name == o.Translate.DefaultCertificate }
	if report := Look(Manifests{}, o); report.Errors != 0 {
		t.Errorf("got %+v", report)
	}
}

// A Secret that a Namespace names for all its Ingresses is assumed as one that they name.
func TestSecretOfANamespaceIsAssumed(t *testing.T) {
	t.Parallel()
	manifests := strings.ReplaceAll(covered, "ANNOTATIONS", "{}") + `---
apiVersion: v1
kind: Namespace
metadata: {name: shop, annotations: {sluice.io/defaults: "auth-type: basic\nauth-secret: users"}}
`
	o := options(t)
	there := []string{"cert"}
	o.SecretThere = func(name snapshot.Name) bool { return slices.Contains(there, name.Name) }
	if report := Look(read(manifests), o); report.Errors != 1 || report.Findings[0].Object.Kind != "Namespace" {
		t.Errorf("got %+v", report)
	}
	there = append(there, "users")
	if report := Look(read(manifests), o); report.Errors != 0 {
		t.Errorf("got %+v", report)
	}
}
