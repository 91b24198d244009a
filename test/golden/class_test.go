package golden

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/test/edges"
	"sluice/test/kit"
)

// classes are two classes, one with settings, and an Ingress of each of two hosts,
// the first of which has a certificate. %CLASS% and so on are put in.
const classes = `apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: inner}
spec: {controller: k8s.io/ingress-nginx, parameters: {kind: ConfigMap, name: inner, scope: Namespace, namespace: team}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inner, namespace: team}
data: {%SETTING%}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data: {%GENERAL%}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: covered, namespace: default, annotations: {%ANNOTATION%}}
spec:
  ingressClassName: %CLASS%
  tls: [{hosts: [covered.example]}]
  rules:
  - host: covered.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: plain, namespace: default, annotations: {%ANNOTATION%}}
spec:
  ingressClassName: %CLASS%
  rules:
  - host: plain.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

// inClass gives nginx.conf with a setting of the class, or of the controller, or an
// annotation; each may be empty.
func inClass(t *testing.T, class, setting, general, annotation string) string {
	t.Helper()
	text := strings.NewReplacer("%CLASS%", class, "%SETTING%", setting, "%GENERAL%", general, "%ANNOTATION%", annotation).Replace(classes)
	objects, _, err := decode.FromYAML("classes.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	snap, _ := snapshot.New(objects)
	options := kit.Options(t)
	options.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"}
	config, problems := translate.Config(snap, options, nil)
	invalid := func(p model.Problem) bool { return p.Reason == model.InvalidValue || p.Object.Kind == "IngressClass" }
	if at := slices.IndexFunc(problems, invalid); at >= 0 {
		t.Fatal(problems[at])
	}
	file, unprintable := kit.Templates(t).Render(config.Static, printed, nil)
	if len(unprintable) > 0 {
		t.Fatal(unprintable)
	}
	return serverOfClass.ReplaceAllString(string(file.Bytes()), "/.sluice/auth/")
}

// What a class says in its ConfigMap is for its Ingresses what an annotation on each
// of them would be, whatever the key and the value, also where the controller says
// something else for all.
func TestAClassSaysWhatAnnotationsSay(t *testing.T) {
	t.Parallel()
	for _, b := range annotations.All() {
		for _, doc := range b.Keys {
			own := strings.HasPrefix(doc.Key, "auth-cache-")         // a class has a cache of its own
			alone := doc.Key == "proxy-busy-buffers-size"            // its values do not fit the same buffers
			if doc.From == "" || doc.Allowed != "" || own || alone { // a class cannot allow snippets
				continue
			}
			t.Run(doc.Key, func(t *testing.T) {
				t.Parallel()
				settingBeside, annotationBeside := besides(doc)
				always := ofAll(doc)
				tried, without := 0, inClass(t, "inner", settingBeside, always, "")
				for _, value := range valuesOf(doc) {
					setting, annotation := settingBeside+entry(doc.From, value), annotationBeside+entry(annotations.FieldOf(annotationsPrefix+"/", doc.Key), value)
					got := inClass(t, "inner", setting, always, "")
					if diff := cmp.Diff(inClass(t, "nginx", "", always, annotation), got); diff != "" {
						t.Errorf("%s by its class and not by an annotation:\n%s", sample(value), diff)
					}
					if got != without {
						tried++
					}
					for _, other := range valuesOf(doc) {
						general := always + settingBeside + entry(doc.From, other)
						if diff := cmp.Diff(inClass(t, "nginx", "", general, annotation), inClass(t, "inner", setting, general, "")); diff != "" {
							t.Errorf("%s where the controller says %s:\n%s", sample(value), sample(other), diff)
						}
					}
				}
				if tried == 0 {
					t.Errorf("no value that a class gives %s has an effect", doc.From)
				}
			})
		}
	}
}

// authURL is a server that authenticates.
const authURL = "http://auth.example/"

// besides are the entries without which a key has no effect: one of a setting and one of
// an annotation, each with a comma behind.
func besides(doc keys.Doc) (setting, annotation string) {
	switch {
	case doc.Key == "proxy-redirect-from":
		return entry("proxy-redirect-to", "/") + ", ", entry(annotationsPrefix+"/proxy-redirect-to", "/") + ", "
	case doc.Key == "proxy-redirect-to":
		return entry("proxy-redirect-from", "/") + ", ", entry(annotationsPrefix+"/proxy-redirect-from", "/") + ", "
	case strings.HasPrefix(doc.Key, "opentelemetry-"):
		return entry("enable-opentelemetry", "true") + ", ", entry(annotationsPrefix+"/enable-opentelemetry", "true") + ", "
	case doc.Key == "limit-by":
		return entry("default-annotations", "limit-rps: 5") + ", ", entry(annotationsPrefix+"/limit-rps", "5") + ", "
	case doc.Key == "enable-owasp-core-rules":
		return entry("enable-modsecurity", "true") + ", ", entry(annotationsPrefix+"/enable-modsecurity", "true") + ", "
	case strings.HasPrefix(doc.From, "global-auth-") && doc.Key != "auth-url":
		setting, annotation = entry("global-auth-url", authURL)+", ", entry(annotationsPrefix+"/auth-url", authURL)+", "
		if doc.Key != "auth-signin" {
			setting, annotation = setting+entry("global-auth-signin", authURL)+", ", annotation+entry(annotationsPrefix+"/auth-signin", authURL)+", "
		}
	}
	return setting, annotation
}

// ofAll are the settings of the controller without which an annotation has no effect.
func ofAll(doc keys.Doc) string {
	if strings.Contains(doc.Key, "opentelemetry") {
		return entry("otlp-collector-host", "collector.example") + ", "
	}
	return ""
}

// serverOfClass is the part of the name of an internal location that says whose server it
// asks: that of a class, or that of an annotation.
var serverOfClass = regexp.MustCompile(`/\.sluice/auth-[0-9a-f]+/(?:default|team)/`)

func entry(key, value string) string { return strconv.Quote(key) + ": " + strconv.Quote(value) }

// valuesOf are values of an annotation that the setting of its default takes too.
func valuesOf(doc keys.Doc) []string {
	var of keys.Doc
	for _, setting := range keys.Describe(settings.Settings{}) {
		if setting.Key == doc.From {
			of = setting
		}
	}
	var both []string
	for _, edge := range edges.Of(doc) {
		if slices.Contains(edges.Of(of), edge) {
			both = append(both, edge)
		}
	}
	return both
}
