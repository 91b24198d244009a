package render

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/model"
)

// dispatched returns a server with a location that dispatches.
func dispatched(candidates ...model.Candidate) *model.Server {
	s := &model.Server{Host: "shop.example", Locations: []*model.Location{{Modifier: model.PrefixFirst, Path: "/a/", Dispatch: candidates, Rule: model.Rule{Object: web}}}}
	for _, name := range []string{"first", "second", "last"} {
		s.Internal = append(s.Internal, &model.Internal{Location: &model.Location{Modifier: model.Named, Path: name, Return: &model.Return{Code: 404}}})
	}
	return s
}

// dispatchText prints the server.
func dispatchText(t *testing.T, candidates ...model.Candidate) (string, []model.Problem) {
	t.Helper()
	file, problems := load(t).Render(model.Static{Servers: []*model.Server{catchAll(), dispatched(candidates...)}}, testEnvironment(), nil)
	return string(file.Bytes()), problems
}

var web = model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}

func header(name, pattern string) model.Condition {
	return model.Condition{Of: model.OfHeader, Name: name, Pattern: pattern}
}

// The maps of a dispatch name the first candidate whose conditions hold.
func TestDispatch(t *testing.T) {
	t.Parallel()
	text, _ := dispatchText(t,
		model.Candidate{To: "first", Conditions: []model.Condition{{Of: model.OfMethod, Pattern: `^PUT\z`}, header("x-a", `^"\$\\\z`)}},
		model.Candidate{To: "second", Conditions: []model.Condition{{Of: model.OfQuery, Name: "a b", Pattern: `^1\z`}}},
		model.Candidate{To: "last"},
	)
	for _, want := range []string{
		"\n\tlocation ^~ \"/a/\" {\n\t\tclient_max_body_size 0;\n\t\tset $unlimited_length \"\";\n\t\tset $dispatch $dispatch_",
		"map $http_x_a $match_", "\t\"~(*LIMIT_MATCH=", `)^\"\\$\\\\\\z" 1;`, "map $request_method $match_", "map $args $query_", " $1;\n",
		"\tdefault @last;\n\t\"~^11.\" @first;\n\t\"~^..1\" @second;\n}",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

// Several maps share more conditions than one map takes.
func TestDispatchWithManyConditions(t *testing.T) {
	t.Parallel()
	var candidates []model.Candidate
	for i := range 250 {
		candidates = append(candidates, model.Candidate{To: "first", Conditions: []model.Condition{header("x", fmt.Sprintf(`^%d\z`, i))}})
	}
	text, _ := dispatchText(t, append(candidates, model.Candidate{To: "last"})...)
	if got := strings.Count(text, "default $dispatch_"); got != 2 {
		t.Errorf("%d maps lead to another, want 2 of 3", got)
	}
}

// A dispatch that is not valid is closed, and its owner gets a Problem.
func TestUnprintableDispatch(t *testing.T) {
	t.Parallel()
	for name, candidates := range map[string][]model.Candidate{
		"a name that is no location": {{To: "other"}},
		"nothing for all requests":   {{To: "first", Conditions: []model.Condition{header("x", "^a")}}},
		"a line end in a pattern":    {{To: "first", Conditions: []model.Condition{header("x", "^a\n")}}, {To: "last"}},
		"a header that is no name":   {{To: "first", Conditions: []model.Condition{header("x;y", "^a")}}, {To: "last"}},
	} {
		text, problems := dispatchText(t, candidates...)
		if len(problems) != 1 || problems[0].Object != web || !strings.Contains(text, "location ^~ \"/a/\" {\n\t\treturn 503;\n\t}") {
			t.Errorf("%s: got %v and\n%s", name, problems, text)
		}
	}
}
