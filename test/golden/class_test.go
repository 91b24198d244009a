package golden

import (
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
	return string(file.Bytes())
}

// What a class says in its ConfigMap is for its Ingresses what an annotation on each
// of them would be, whatever the key and the value, also where the controller says
// something else for all.
func TestAClassSaysWhatAnnotationsSay(t *testing.T) {
	t.Parallel()
	for _, b := range annotations.All() {
		for _, doc := range b.Keys {
			if doc.From == "" {
				continue
			}
			t.Run(doc.Key, func(t *testing.T) {
				t.Parallel()
				tried, without := 0, inClass(t, "inner", "", "", "")
				for _, value := range valuesOf(doc) {
					setting, annotation := entry(doc.From, value), entry(annotations.FieldOf(annotationsPrefix+"/", doc.Key), value)
					got := inClass(t, "inner", setting, "", "")
					if diff := cmp.Diff(inClass(t, "nginx", "", "", annotation), got); diff != "" {
						t.Errorf("%s by its class and not by an annotation:\n%s", sample(value), diff)
					}
					if got != without {
						tried++
					}
					for _, other := range valuesOf(doc) {
						general := entry(doc.From, other)
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
