package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/assemble"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

// options are those of a controller without flags.
func options(t *testing.T) Options {
	t.Helper()
	set, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Templates:   set,
		Environment: render.Environment{HTTPPort: 80, HTTPSPort: 443, Workers: 1, StateDir: "/s", Lua: "/s/lua"},
		Translate:   translate.Options{IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", ManifestMode: true, AnnotationsPrefix: "nginx.ingress.kubernetes.io"},
	}
}

// read reads a file.
func read(text string) Manifests {
	var reader decode.Reader
	objects, notes, err := reader.Read("shop.yaml", []byte(text))
	return Manifests{Objects: objects, Documents: reader.Documents(), Notes: notes, Errors: decode.Errors(err)}
}

const missingService = `# A comment.
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

func TestLook(t *testing.T) {
	t.Parallel()
	want := Report{Errors: 1, Ingresses: 1, Served: 1, Findings: []Finding{{
		Severity: Error, Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"},
		Place: Place{File: "shop.yaml", Document: 1, Line: 2},
		Field: "spec.rules[0].http.paths[0].backend.service.name", Reason: model.NotFound, Text: "Service shop/web does not exist: 503 is answered",
	}}}
	got := Look(read(missingService), options(t))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	wantLine := "shop.yaml:2: error: Ingress shop/web: spec.rules[0].http.paths[0].backend.service.name: Service shop/web does not exist: 503 is answered [NotFound]"
	if line := got.Findings[0].String(); line != wantLine {
		t.Errorf("got  %s\nwant %s", line, wantLine)
	}
}

// What is not found in a document has no place, and a file that does not read
// has no object.
func TestFindingsWithoutAPlace(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Translate.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"}
	var lines []string
	for _, f := range Look(Manifests{Errors: []error{errors.New("a.yaml: permission\ndenied")}}, o).Findings {
		lines = append(lines, f.String())
	}
	want := []string{
		`error: a.yaml: permission\ndenied [Unreadable]`,
		"error: ConfigMap sluice/config: it does not exist: all settings have their defaults [NotFound]",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// JSON has a list where nothing was found, and says nothing of a place that is
// not known.
func TestReportAsJSON(t *testing.T) {
	t.Parallel()
	empty := options(t)
	empty.AllowEmpty = true
	for want, report := range map[string]Report{
		`{"findings":[],"errors":0,"warnings":0,"notes":0,"ingresses":0,"served":0}`: Look(Manifests{}, empty),
		`{"findings":[{"severity":"note","object":{"kind":"Ingress","name":"a"},"file":"f","document":2,"line":7,"field":"x","reason":"R","text":"t"}],"errors":0,"warnings":0,"notes":1,"ingresses":0,"served":0}`: count([]Finding{
			{Severity: Note, Object: model.ObjectRef{Kind: "Ingress", Name: "a"}, Place: Place{"f", 2, 7}, Field: "x", Reason: "R", Text: "t"}}),
		`{"findings":[{"severity":"error","object":{},"reason":"R","text":"t"}],"errors":1,"warnings":0,"notes":0,"ingresses":0,"served":0}`: count([]Finding{{Severity: Error, Reason: "R", Text: "t"}}),
	} {
		got, err := json.Marshal(report)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	}
}

func TestSeverities(t *testing.T) {
	t.Parallel()
	for reason, want := range map[model.Reason]Severity{
		model.InvalidValue: Error, model.NotFound: Error, model.Conflict: Error, model.Unsupported: Error, model.Refused: Error, model.NotDelegated: Error, translate.Unserved: Error,
		model.Unread: Warning, model.Shadowed: Warning, model.Ambiguous: Warning, model.CrossNamespace: Warning, assemble.Turned: Warning, assemble.Rewritten: Warning, assemble.Lifted: Warning,
		translate.OtherClass: Note, assemble.SharedHost: Note, assemble.Inherited: Note, assemble.Repeated: Note,
	} {
		if got := SeverityOf(model.Problem{Reason: reason}); got != want {
			t.Errorf("%s is of the severity %s, want %s", reason, got, want)
		}
	}
	if got := SeverityOf(model.Problem{Reason: model.Unread, Denies: true}); got != Error {
		t.Errorf("what closes a path is of the severity %s", got)
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		found, least Severity
		want         bool
	}{
		{Error, Error, true}, {Error, Warning, true}, {Error, Note, true},
		{Warning, Error, false}, {Warning, Warning, true}, {Warning, Note, true},
		{Note, Error, false}, {Note, Warning, false}, {Note, Note, true},
	} {
		if got := count([]Finding{{Severity: test.found}}).Has(test.least); got != test.want {
			t.Errorf("with one %s: Has(%s) = %v", test.found, test.least, got)
		}
	}
	if count(nil).Has(Note) {
		t.Error("nothing was found, and something weighs enough")
	}
}

// Patterns are compared with those before them, be they literal or not, and with
// none behind them.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	server := &model.Server{}
	for _, path := range []string{"/é/(.*)", "/foo/.+", "/foo/ba", "/FOO/BA", "/é/xyz", "/foo/?", "/foo", "/o{2}", "/oo"} {
		server.Locations = append(server.Locations, &model.Location{Modifier: model.Pattern, Path: "^" + path, Rule: model.Rule{Path: path, Field: path}})
	}
	server.Locations = append(server.Locations, &model.Location{Modifier: model.Prefix, Path: "/", Rule: model.Rule{Path: "/", Field: "/"}})
	told := []model.Problem{{Field: "/oo.path", Reason: model.Shadowed}, {Field: "/FOO/BA.path", Reason: model.Conflict}}
	var got []string
	for _, p := range overtaken([]*model.Server{server, {}}, told) {
		_, taker, _ := strings.Cut(p.Text, "it:  ")
		got = append(got, strings.TrimSuffix(p.Field, ".path")+" by "+strings.Fields(taker)[0])
	}
	want := []string{"/foo/ba by /foo/.+", "/FOO/BA by /foo/ba", "/é/xyz by /é/(.*)", "/foo by /foo/?"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A host with thousands of paths costs no more than each of them does: they are
// looked up, not compared with each other.
func TestManyPatterns(t *testing.T) {
	t.Parallel()
	before := passed{literal: map[string]tried{}}
	for i := range 30_000 {
		later := tried{text: fmt.Sprintf("^/p%06d", i), lead: fmt.Sprintf("/p%06d", i), literal: true}
		if taker, found := before.takerOf(later); found {
			t.Fatalf("%s takes %s", taker.text, later.text)
		}
		before.add(later)
	}
}
