package translate

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// surprises returns the findings of Surprises, which are never those of Config.
func (w world) surprises(t *testing.T) []model.Problem {
	t.Helper()
	snap := newSnapshot(t, w.objects(t))
	memo := NewMemo()
	_, told := Config(snap, w.flags(), memo)
	found := Surprises(snap, w.flags(), memo)
	if diff := cmp.Diff(Surprises(snap, w.flags(), nil), found); diff != "" {
		t.Errorf("the memo of Config changes the surprises (-without +with):\n%s", diff)
	}
	for _, p := range told {
		for _, surprise := range found {
			if p == surprise {
				t.Errorf("told twice: %s", p)
			}
		}
	}
	return found
}

func TestSurprises(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		world world
		want  []string
	}{
		"nothing": {
			world{ingresses: []ing{{name: "a", rules: []string{"h /foo P a:80", "h /foo E b:80", "h / P c:80"}}}}, nil},
		"patterns that were meant": {
			world{ingresses: []ing{{name: "a", annotations: regex(), rules: []string{"h /x[0-9] I a:80", "h / P c:80"}}}}, nil},
		"a neighbour": {
			world{ingresses: []ing{{name: "a", annotations: regex(), rules: []string{"h /x I a:80"}}, {name: "b", rules: []string{"h /b P a:80", "h / P a:80", "other /b P a:80"}}}},
			[]string{"Turned Ingress default/a use-regex", "Turned Ingress default/b spec.rules[0].http.paths[0].path"}},
		"the setting regex-scope": {
			world{config: onlyPath, ingresses: []ing{{name: "a", annotations: regex(), rules: []string{"h /x I a:80"}}, {name: "b", rules: []string{"h /b P a:80"}}}}, nil},
		"a rewrite that is the path itself": {
			world{ingresses: []ing{{name: "a", annotations: rewriteTo("/"), rules: []string{"h / P a:80"}}, {name: "b", rules: []string{"h /b P a:80"}}}}, nil},
		"a rewrite with a mistake": {
			world{ingresses: []ing{{name: "a", annotations: rewriteTo("/$1?x"), rules: []string{"h /x(.*) I a:80"}}, {name: "b", rules: []string{"h /b P a:80"}}}}, nil},
		"a path that lost": {
			world{ingresses: []ing{{name: "a", age: 2, annotations: regex(), rules: []string{"h /x I a:80"}}, {name: "b", age: 1, rules: []string{"h /x P b:80"}}}}, nil},
		"a wildcard host": {
			world{ingresses: []ing{{name: "a", annotations: regex(), rules: []string{"*.h /x E a:80"}}}},
			[]string{"Turned Ingress default/a use-regex"}},
		"rules without a host": {
			world{ingresses: []ing{{name: "a", annotations: regex(), rules: []string{"* /x E a:80"}}}},
			[]string{"Turned Ingress default/a use-regex"}},
		"a fallback that is not rewritten": {
			world{ingresses: []ing{{name: "a", annotations: rewriteTo("/new"), rules: []string{"h /x I a:80"}}}}, nil},
		"the default class is another's": {
			world{ingresses: []ing{{name: "a", spec: "ingressClassName:\n", rules: []string{"h / P a:80"}}}, yaml: "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: x, annotations: {ingressclass.kubernetes.io/is-default-class: \"true\"}}\nspec: {controller: example.org/x}\n"},
			nil},
		"no default class": {
			world{ingresses: []ing{{name: "a", spec: "ingressClassName:\n", rules: []string{"h / P a:80"}}}},
			[]string{"Unserved Ingress default/a spec.ingressClassName"}},
		"left out by a flag": {
			world{ingresses: []ing{{name: "a", spec: "defaultBackend: {service: {name: a, port: {number: 80}}}\n"}}, options: func(o *Options) { o.DisableCatchAll = true }}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, summaries(test.world.surprises(t))); diff != "" {
				t.Errorf("surprises (-want +got):\n%s", diff)
			}
		})
	}
}

// A finding describes the pattern that the path became.
func TestWhatIsSaidOfTurnedPaths(t *testing.T) {
	t.Parallel()
	matches := regexp.MustCompile(`such as (\S+)(?: and ([^;\s]+))?;`)
	misses := regexp.MustCompile(`it does not match (\S+?)(?: itself)?;`)
	w := world{ingresses: []ing{
		{name: "asks", annotations: regex(), rules: []string{"h /[0-9]+ I a:80"}},
		{name: "b", rules: []string{"h /foo P a:80", "h /foo/ P a:80", "h /foo/ E b:80", "h /bar E a:80", "h /a.b P a:80", "h /c+d E a:80", "h /e(f P a:80", "h /x|y P a:80", "h /q? E a:80", "h /n$ P a:80", "h /Up I a:80"}},
	}}
	examples := 0
	for _, p := range w.surprises(t) {
		if p.Object.Name != "b" || p.Reason == Strict {
			continue
		}
		said := p.Text + ";"
		l := locationFor(t, w, p)
		compiled := regexp.MustCompile("(?i)" + l.Path)
		for _, found := range matches.FindAllStringSubmatch(said, -1) {
			for _, example := range found[1:] {
				if example == "" {
					continue
				}
				if examples++; !compiled.MatchString(example) {
					t.Errorf("%s does not match %q: %s", l.Path, example, p.Text)
				}
			}
		}
		for _, found := range misses.FindAllStringSubmatch(said, -1) {
			if examples++; compiled.MatchString(found[1]) {
				t.Errorf("%s matches %q: %s", l.Path, found[1], p.Text)
			}
		}
		if strings.Contains(said, "it is quoted") != (l.Path == "^"+pcre.Quote(l.Rule.Path) && l.Path != "^"+l.Rule.Path) {
			t.Errorf("%s: %s", l.Path, p.Text)
		}
	}
	if examples < 10 {
		t.Errorf("only %d examples were looked at", examples)
	}
}

// locationFor is the location of a Problem's path.
func locationFor(t *testing.T, w world, p model.Problem) *model.Location {
	t.Helper()
	config, _ := w.translate(t)
	for _, l := range serverNamed(t, config, "h").Locations {
		if l.Rule.Object == p.Object && l.Rule.Field+".path" == p.Field {
			return l
		}
	}
	t.Fatalf("no location for %s", p)
	return nil
}
