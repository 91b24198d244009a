package golden

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/test/edges"
	"sluice/test/kit"
)

const annotationsPrefix = "nginx.ingress.kubernetes.io"

// key is an annotation or a setting that Sluice reads.
type key struct {
	keys.Doc
	// behaviour are the annotations that are followed or left out together; it
	// is nil for a setting.
	behaviour []keys.Doc
}

// TestEveryKeyIsCovered wants three things of the cases for each annotation and
// each setting: one that would fail without it (shown), one with a value that is
// not valid (refused), and each value at an edge of what is valid (edge), which
// every nginx then takes or refuses.
func TestEveryKeyIsCovered(t *testing.T) {
	t.Parallel()
	if *update {
		t.Skip("the cases are being written")
	}
	paths, err := filepath.Glob("cases/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var cases []*testCase
	for _, path := range paths {
		cases = append(cases, readCase(t, path))
	}
	all := usesIn(t, cases)
	for _, k := range keysRead() {
		switch k.Key {
		case "use-geoip2":
			continue // the cases have no databases: TestGeoIP of test/e2e shows it, setting-geoip its Problem
		case "hand-over":
			continue // only the webhook reads it: TestReview of internal/admission, and the case hand-over-bad
		case "disable-ipv6-dns":
			continue // only the resolver reads it: TestNoIPv6Names of internal/resolver, settings-refused its Problem
		case "controller-log-level":
			continue // nothing of nginx depends on it: TestLevelOfTheLog of test/e2e shows it, log-sampling-bad its Problem
		}
		t.Run(k.name(), func(t *testing.T) {
			t.Parallel()
			for _, line := range k.uncovered(t, all) {
				t.Error(line)
			}
		})
	}
}

// keysRead are all keys, in the order of the reference.
func keysRead() []key {
	var all []key
	for _, b := range annotations.All() {
		for _, doc := range b.Keys {
			all = append(all, key{doc, b.Keys})
		}
	}
	for _, doc := range keys.Describe(settings.Settings{}) {
		all = append(all, key{doc, nil})
	}
	return all
}

func (k key) kind() string {
	if k.behaviour == nil {
		return "setting"
	}
	return "annotation"
}

func (k key) name() string { return k.kind() + " " + k.Key }

// field is how Problems name the key.
func (k key) field(name string) string {
	if k.behaviour == nil {
		return name
	}
	return annotations.FieldOf(annotationsPrefix+"/", name)
}

// use is one value that a case gives to an annotation or a setting.
type use struct {
	in         *testCase
	kind       string
	name       string // the key, or an alias of it
	value      string
	object     model.ObjectRef
	complaints []model.Problem // all of the object
	keys       int             // how many the case gives
}

// usesIn finds what the cases give, that of cases with few keys first.
func usesIn(t *testing.T, cases []*testCase) []use {
	t.Helper()
	var all []use
	for _, c := range cases {
		all = append(all, c.uses(t)...)
	}
	slices.SortStableFunc(all, func(a, b use) int { return cmp.Compare(a.keys, b.keys) })
	return all
}

// uses leaves out a case that nginx is to refuse: it shows nothing else.
func (c *testCase) uses(t *testing.T) []use {
	t.Helper()
	if _, refused := c.section("refused"); refused {
		return nil
	}
	text, _ := c.section("manifests.yaml")
	objects, _, _ := decode.FromYAML(c.path, []byte(text)) // what does not decode gives nothing
	var found []use
	add := func(kind string, object model.ObjectRef, values map[string]string) {
		for name, value := range values {
			found = append(found, use{in: c, kind: kind, name: name, value: strings.TrimSpace(value), object: object})
		}
	}
	for _, ing := range objects.Ingresses {
		values := map[string]string{}
		for name, value := range ing.Annotations {
			if name, ok := annotations.KeyOf(annotationsPrefix+"/", name); ok {
				values[name] = value
			}
		}
		add("annotation", model.ObjectRef{Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name}, values)
	}
	options := c.options(t, objects)
	for _, m := range objects.ConfigMaps {
		if m.Namespace == options.ConfigMap.Namespace && m.Name == options.ConfigMap.Name {
			add("setting", model.ObjectRef{Kind: "ConfigMap", Namespace: m.Namespace, Name: m.Name}, m.Data)
		}
	}
	return c.judged(t, found)
}

// judged adds what Sluice says of the objects.
func (c *testCase) judged(t *testing.T, found []use) []use {
	t.Helper()
	if len(found) == 0 {
		return nil
	}
	problems := workedOut(t, c).problems
	for i := range found {
		found[i].keys = len(found)
		for _, p := range problems {
			if p.Object == found[i].object {
				found[i].complaints = append(found[i].complaints, p)
			}
		}
	}
	slices.SortFunc(found, func(a, b use) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.object.String(), b.object.String()))
	})
	return found
}

// followed is true if the value is in force: nothing is said against it, against
// the rest of its behaviour, or against writing any of it to nginx.conf.
func (u use) followed(k key) bool {
	return !slices.ContainsFunc(u.complaints, func(p model.Problem) bool {
		beside := slices.ContainsFunc(k.behaviour, func(d keys.Doc) bool { return p.Field == k.field(d.Key) && p.Reason == model.InvalidValue })
		return beside || p.Field == k.field(u.name) || p.Reason == model.Refused
	})
}

// refused is true if the case shows that the value is not valid.
func (u use) refused(k key) bool {
	_, shown := u.in.section("problems")
	return shown && slices.ContainsFunc(u.complaints, func(p model.Problem) bool {
		return p.Field == k.field(u.name) && p.Reason == model.InvalidValue
	})
}

// gives is true if the value is an edge, or a list with it.
func (u use) gives(edge string) bool {
	items := strings.FieldsFunc(u.value, func(r rune) bool { return strings.ContainsRune(", \t\n", r) })
	return u.value == edge || slices.Contains(items, edge)
}

// uncovered says in a line each what the cases do not show of a key.
func (k key) uncovered(t *testing.T, all []use) []string {
	t.Helper()
	var followed, refused []use
	for _, u := range all {
		switch {
		case u.kind != k.kind() || u.name != k.Key && !slices.Contains(k.Aliases, u.name):
		case u.followed(k):
			followed = append(followed, u)
		case u.refused(k):
			refused = append(refused, u)
		}
	}
	var lines []string
	say := func(format string, a ...any) { lines = append(lines, k.name()+": "+fmt.Sprintf(format, a...)) }
	if !k.shown(t, followed) {
		say("shown: no case would fail without it in its requests, nginx.conf, backends, routes or Problems of Secrets; give it a value such as %s", sample(k.unusual()))
	}
	if len(refused) == 0 {
		say("refused: no case has the problem InvalidValue for it; give it a value such as %s", sample(k.notValid()))
	}
	if len(edges.Of(k.Doc)) == 0 && k.Key != "annotation-value-word-blocklist" { // any text is a word
		say("edge: its tags say none; give it a rule such as min, max or oneof")
	}
	for _, edge := range edges.Of(k.Doc) {
		if edge != k.usual() && !slices.ContainsFunc(followed, func(u use) bool { return u.gives(edge) }) {
			say("edge: no case gives it %s", sample(edge))
		}
	}
	for _, alias := range k.Aliases {
		if !slices.ContainsFunc(followed, func(u use) bool { return u.name == alias }) {
			say("alias: no case calls it %q", alias)
		}
	}
	return lines
}

// sample quotes a value, and says of a long one how long it is.
func sample(value string) string {
	if len(value) > 100 {
		return fmt.Sprintf("%s, %d bytes in all", model.Quoted(value), len(value))
	}
	return strconv.Quote(value)
}

// shown looks for a case that fails if the key is not there. Asking an nginx
// takes longer, so that the parts of nginx.conf and the routes are compared first.
func (k key) shown(t *testing.T, followed []use) bool {
	t.Helper()
	var served []*testCase
	for _, u := range followed {
		without := u.in.without(k.field(u.name))
		o := workOut(t, without, 0)
		routes, hasRoutes := u.in.section("routes")
		parts, _ := u.in.section("nginx.conf")
		if backends, ok := u.in.section("backends"); ok && backends != o.backends() {
			return true
		}
		if traces, ok := u.in.section("traces"); ok && traces != o.traces() {
			return true
		}
		if k.onlyLint() && u.in.lints(t, without) {
			return true
		}
		if hasRoutes && routes != o.routes() || len(missingParts(parts, string(o.file.Bytes()))) > 0 {
			return true
		}
		if others := ofSecrets(o); len(others) > 0 && u.in.hasProblems() && !slices.Equal(others, ofSecrets(workedOut(t, u.in))) {
			return true
		}
		if len(u.in.requests(t)) > 0 && !slices.ContainsFunc(served, func(c *testCase) bool { return c.path == u.in.path }) {
			served = append(served, without)
		}
	}
	return slices.ContainsFunc(served, func(without *testCase) bool {
		requests, _ := without.section("requests")
		log, _ := without.section("log")
		got, nginxes := workOut(t, without, 0), kit.Nginxes(t)
		able := slices.IndexFunc(nginxes, func(n kit.Nginx) bool { return got.isServedBy(n) })
		if able < 0 {
			return false // no nginx here has its module: a part of nginx.conf has to show the key
		}
		answers, logged := serveCase(t, without, got, nginxes[able])
		return requests != answers || log != logged
	})
}

// onlyLint reports whether a key changes nothing but the findings of lint.
func (k key) onlyLint() bool { return k.Key == "strict-validate-path-type" }

// lints reports whether lint finds something else in another case.
func (c *testCase) lints(t *testing.T, other *testCase) bool {
	return workedOut(t, c).lintLines(t) != workOut(t, other, 0).lintLines(t)
}

// ofSecrets are the Problems of Secrets. They show a setting without an effect on nginx.conf.
func ofSecrets(o *outcome) []model.Problem {
	return slices.DeleteFunc(slices.Clone(o.problems), func(p model.Problem) bool { return p.Object.Kind != "Secret" })
}

func (c *testCase) hasProblems() bool {
	_, ok := c.section("problems")
	return ok
}

// without gives the case with another name, which nobody reads, for a key.
func (c *testCase) without(field string) *testCase {
	archive := &txtar.Archive{Comment: c.archive.Comment, Files: slices.Clone(c.archive.Files)}
	name := regexp.MustCompile(`(^|[\s{,"])` + regexp.QuoteMeta(field) + `("?:)`)
	for i, file := range archive.Files {
		if file.Name == "manifests.yaml" {
			archive.Files[i].Data = name.ReplaceAll(file.Data, []byte("${1}not-read${2}"))
		}
	}
	return &testCase{path: c.path, archive: archive}
}

func TestGapsAreSeen(t *testing.T) {
	t.Parallel()
	at := slices.IndexFunc(keysRead(), func(k key) bool { return k.name() == "setting keep-alive" })
	k := keysRead()[at]
	bare := func(value, sections string) *testCase {
		config := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: sluice}\ndata: {keep-alive: \"" + value + "\"}\n"
		return &testCase{path: value + ".txtar", archive: txtar.Parse([]byte("A case.\n-- manifests.yaml --\n" + config + sections))}
	}
	least, most := bare("0", ""), bare("31536000", "")
	bad := bare("-1", "-- problems --\nInvalidValue ...\n")
	inFile := bare("7", "-- nginx.conf --\nkeepalive_timeout 7s;\n")
	for name, test := range map[string]struct {
		cases []*testCase
		gaps  []string
	}{
		"no case":                        {nil, []string{"shown", "refused", "edge", "edge"}},
		"values without effect":          {[]*testCase{least, most, bare("7", "-- nginx.conf --\nevents\n")}, []string{"shown", "refused"}},
		"a problem that is not expected": {[]*testCase{least, most, inFile, bare("-1", "")}, []string{"refused"}},
		"one end":                        {[]*testCase{most, inFile, bad}, []string{"edge"}},
		"everything":                     {[]*testCase{least, most, inFile, bad}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var gaps []string
			for _, line := range k.uncovered(t, usesIn(t, test.cases)) {
				gap, _, _ := strings.Cut(strings.TrimPrefix(line, "setting keep-alive: "), ":")
				gaps = append(gaps, gap)
			}
			if diff := gocmp.Diff(test.gaps, gaps); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// usual is what holds where nobody writes the key: each case has it.
func (k key) usual() string {
	if k.From == "" {
		return k.Default
	}
	defaults, _ := settings.Read(nil)
	value, _ := defaults.Value(k.From)
	return value
}

// unusual is a valid value that is not the default, for who is to write a case.
func (k key) unusual() string {
	for _, edge := range edges.Of(k.Doc) {
		if edge != k.usual() {
			return edge
		}
	}
	return "one that is not the default"
}

// notValid is a value that is refused, for who is to write a case.
func (k key) notValid() string {
	for _, value := range []string{"no such value", "-1", "no\tsuch value"} {
		if k.refuses(value) {
			return value
		}
	}
	return "one that is not valid"
}

// refuses tries a value by itself.
func (k key) refuses(value string) bool {
	var problems []model.Problem
	if k.behaviour == nil {
		_, problems = settings.Read(&corev1.ConfigMap{Data: map[string]string{k.Key: value}})
	} else {
		defaults, _ := settings.Read(nil)
		meta := metav1.ObjectMeta{Annotations: map[string]string{k.field(k.Key): value}}
		problems = annotations.Read(&networkingv1.Ingress{ObjectMeta: meta}, defaults, annotationsPrefix).Problems()
	}
	return slices.ContainsFunc(problems, func(p model.Problem) bool { return p.Reason == model.InvalidValue })
}
