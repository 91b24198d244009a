package route

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

func TestRenameReferences(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		target, want string
		ok           bool
	}{
		{"/$1/x", "/$1/x", true},
		{"/$id/${id}x/$idx", "/$p_id/${p_id}x/$idx", true},
		{"/$p_id", "/$p_id", false},
		{"/${p_other}", "/${p_other}", false},
		{"/$uri", "/$uri", true},
	} {
		if got, ok := RenameReferences(test.target, []string{"id"}); got != test.want || ok != test.ok {
			t.Errorf("RenameReferences(%s) = %s, %v; want %s, %v", test.target, got, ok, test.want, test.ok)
		}
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	pattern := func(path, pathType string) *model.Location {
		return &model.Location{Modifier: model.Pattern, Path: "^" + path, Rule: model.Rule{Path: path, PathType: pathType}}
	}
	want := []*model.Location{
		proxied(model.Equal, "/a"), proxied(model.Equal, "/b"),
		proxied(model.Prefix, "/"), proxied(model.PrefixFirst, "/a/"), proxied(model.Prefix, "/b"),
		pattern("/foo/bar/.+", "ImplementationSpecific"), pattern("/same", "Exact"), pattern("/axb", "Prefix"), pattern("/a.b", "Prefix"), pattern("/", "Prefix"),
	}
	for seed := range uint64(20) {
		got := append([]*model.Location(nil), want...)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	for _, types := range [][]string{{"Prefix", "Exact"}, {"Exact", "Prefix"}} {
		got := []*model.Location{pattern("/same", types[0]), pattern("/same", types[1]), pattern("/longer", "Prefix")}
		want := []*model.Location{got[2], got[0], got[1]}
		if Sort(got); !slices.Equal(got, want) {
			t.Errorf("patterns of one text change their order: %s before %s", got[1].Rule.PathType, got[2].Rule.PathType)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	rule := model.Rule{Object: model.ObjectRef{Kind: "Ingress", Namespace: "ns", Name: "a"}, Path: "/foo", PathType: "Prefix", Kind: model.RuleWritten}
	twin, prefix := proxied(model.Equal, "/foo"), proxied(model.PrefixFirst, "/foo/")
	twin.Rule, prefix.Rule = rule, rule
	prefix.Blocks, twin.Blocks = []model.Block{{Name: "cors"}}, []model.Block{{Name: "cors"}}
	shadow := proxied(model.Prefix, "/bar")
	shadow.Rule.Kind = model.RuleShadow
	slashed := proxied(model.Equal, "/bar/")
	slashed.Rewrite = &model.Rewrite{Pattern: "(?i)/bar/", Target: "/"}
	fallback := &model.Location{Path: "/", Return: &model.Return{Code: 404}, Rule: model.Rule{Path: "/", Kind: model.RuleFallback}}
	s := server("shop.example", slashed, twin, fallback, shadow, prefix, proxied(model.Pattern, "^/x"))
	s.RedirectToHTTPS = &model.Redirect{Code: 308}
	var got []string
	for _, row := range Table([]*model.Server{server("", fallback), s}) {
		got = append(got, strings.Join(append([]string{row.Host, row.Match, row.Path, row.Answer}, row.Extras...), "  "))
	}
	want := []string{
		"*  fallback  /  404",
		"shop.example  exact  /bar/  ns/s/80  rewrite  https",
		"shop.example  prefix  /foo  ns/s/80  https  cors",
		"shop.example  fallback  /  404  https",
		"shop.example  pattern  ^/x  ns/s/80  https",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRewritten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pattern, target, path, want string }{
		{"(?i)/pre(/|$)(.*)", "/$2", "/PRE/x/y", "/x/y"},
		{"(?i)/pre", "/new", "/other", "/other"}, // it does not match
		{"(?i)/b", "/new", "/a/b/c", "/new"},     // nor is it anchored
		{"(?i)/(?<p_id>[0-9]+)(x)?", "/$p_id/${p_id}y/$2/$3", "/7", "/7/7y//"},
		{"(?i)/(a)", "/$10", "/a", "/a0"},
		{"(?i)/(?=a)(a)", "/$1", "/A", "/A"},
		{"(?i)/(?!api/)(.*)", "/v1/$1", "/x/API/y", "/v1/x/API/y"},
	} {
		got, ok := Rewritten(&model.Rewrite{Pattern: test.pattern, Target: test.target}, test.path)
		if got != test.want || !ok {
			t.Errorf("%s to %s: %s becomes %q, %v; want %q", test.pattern, test.target, test.path, got, ok, test.want)
		}
	}
	for _, r := range []*model.Rewrite{{Pattern: "/(", Target: "/x"}, {Pattern: "/(a)", Target: "/$host/$1"}} {
		if got, ok := Rewritten(r, "/a"); ok {
			t.Errorf("%s to %s gives %q", r.Pattern, r.Target, got)
		}
	}
}

func TestPassed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, uri, want string }{
		{"/new", "/old", "/new"},
		{"/a b%?é", "/old?", "/a%20b%25%3F%C3%A9"},
		{"/new", "/old?x=/y%20z#f", "/new?x=/y%20z"},
		{"/new", "/old#?x", "/new"},
		{"/~-._:@!$&'()*+,;=[]", "/", "/~-._:@!$&'()*+,;=[]"},
	} {
		if got := Passed(test.path, test.uri); got != test.want {
			t.Errorf("%s of %s is passed as %s; want %s", test.path, test.uri, got, test.want)
		}
	}
}
