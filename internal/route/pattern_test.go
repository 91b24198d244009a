package route

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

func TestRename(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, want string
		names         []string
	}{
		{`/plain/.*`, `/plain/.*`, nil},
		{`/(?<id>\d+)`, `/(?<p_id>\d+)`, []string{"id"}},
		{`/(?P<id>x)(?'b'y)`, `/(?<p_id>x)(?<p_b>y)`, []string{"id", "b"}},
		{`/(?<route>((?<upstream>.)))`, `/(?<p_route>((?<p_upstream>.)))`, []string{"route", "upstream"}},
		{`/\(?<id>`, `/\(?<id>`, nil},   // an optional "("
		{`/[(?<id>]`, `/[(?<id>]`, nil}, // a class
		{`/[]](?<id>x)`, `/[]](?<p_id>x)`, []string{"id"}},
		{`/[^]](?<id>x)`, `/[^]](?<p_id>x)`, []string{"id"}},
		{`/[[:alpha:]](?<id>x)`, `/[[:alpha:]](?<p_id>x)`, []string{"id"}},
		{`/[\]](?<id>x)`, `/[\]](?<p_id>x)`, []string{"id"}},
		{`/\\(?<id>x)`, `/\\(?<p_id>x)`, []string{"id"}},
		{`/\Q(?<id>x)\E`, `/\Q(?<id>x)\E`, nil}, // literal
		{`/a(?#(?<id>x)b`, `/a(?#)b`, nil},      // a comment ends at its first ")"
		{`/(a)\1(?#b)0`, `/(a)\1(?#)0`, nil},
		{`/(?:a|b)(?=c)(?!d)(?<=e)(?<!f)(?>g)`, `/(?:a|b)(?=c)(?!d)(?<=e)(?<!f)(?>g)`, nil},
		{`/(?i)a(?-i:b)`, `/(?i)a(?-i:b)`, nil},
		{`/(?<other>x(?P<id>y))`, `/(x(?<p_id>y))`, []string{"other", "id"}}, // no name that nobody uses
	} {
		got, names, err := Rename(test.pattern, "id", "a", "b", "route", "upstream")
		if err != nil || got != test.want || !cmp.Equal(names, test.names) {
			t.Errorf("Rename(%s) = %s, %v, %v; want %s, %v", test.pattern, got, names, err, test.want, test.names)
		}
	}
}

// Each of these hides a group from a reader that takes it for something else,
// or refers to one by a name that would no longer be there.
func TestRenameRefuses(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		`/\c[(?<route>x)]`, `/[\c](?<route>x)]`, `/[\E][](?<route>x)]`, `/\E`, `/[[:](?<route>x)[:]]`, `/[[.](?<route>x)[.]]`,
		`/[\Q](?<route>x)\E]`, `/\Q(?<route>x)`, `/(?x)#(`, `/(?xi:a)`, `/(?n)(a)`, `/(?J)(?<a>)`, `/(*ACCEPT)`, `/(?&a)`, `/(?P=a)`, `/(?P>a)`, `/(?(1)a)`, `/(?R)`,
		`/(?1)`, `/(?C1)`, `/\k<a>`, `/\g{a}`, `/(?<a-b>x)`, `/(?<>x)`, `/(?<a`, `/(?<é>x)`, `/(?<` + strings.Repeat("a", 31) + `>x)`,
		`/(?<a>x)(?<a>y)`, `/[a`, `/a\`, `/(?#a`,
	} {
		if got, _, err := Rename(pattern); err == nil {
			t.Errorf("Rename(%s) = %s; want an error", pattern, got)
		}
	}
}

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

func TestCompiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern  string
		compiles bool
	}{
		{"/api/v[0-9]+", true},
		{"/api/v1/hooks/.*/callback", true},
		{"/ab?", true},
		{"/a|/b", true},
		{"/a(b", false},
		{"/a)b", false},
		{"/[a", false},
		{"/[z-a]", false},
		{"/(+)", false},
		{`/a\`, false},
		{"/c++", false},    // possessive for PCRE
		{"/(?=a)b", false}, // PCRE has it, Go has not
		{"/(?<!a)b", false},
		{"/(?<a>b)", false},   // would set a variable
		{"/[:alpha:]", false}, // PCRE: only within a class
		{"/a$?", false},       // PCRE: an assertion is not repeated
		{"/[[.a.]]", false},
		{`/\x{100}`, false},
	} {
		if got := Compiles(test.pattern); got != test.compiles {
			t.Errorf("Compiles(%s) = %v", test.pattern, got)
		}
	}
}

func TestQuotedTextMatchesItself(t *testing.T) {
	t.Parallel()
	text := `/a(b)[c]{d}^e$f.g|h*i+j?k\l#m n"o`
	if matches, known := matchPattern("^"+Quote(text)+"$", text); !matches || !known {
		t.Errorf("%s does not match %s", Quote(text), text)
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
		pattern("/foo/bar/.+", "ImplementationSpecific"), pattern("/same", "Exact"), pattern("/same", "Prefix"), pattern("/axb", "Prefix"), pattern("/a.b", "Prefix"), pattern("/", "Prefix"),
	}
	for seed := range uint64(20) {
		got := append([]*model.Location(nil), want...)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
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
		got = append(got, row.String())
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

// FuzzRename: whatever is taken sets no variable but those with the prefix, and
// matches what it matched before.
func FuzzRename(f *testing.F) {
	f.Add(`/(?<a>x)(?<b>y)`, "a", "/xy")
	for _, seed := range []string{`/(?<a>x)`, `/[[:alpha:](?<a>]`, `/\Q(?<a>\E`, `/(?#(?<a>)`, `/(?i:(?P<a>x))`} {
		f.Add(seed, "b", "/x")
	}
	f.Fuzz(func(t *testing.T, pattern, keep, path string) {
		renamed, _, err := Rename(pattern, keep)
		if err != nil {
			return
		}
		after, err := pcre.Compile(renamed, 0)
		if err != nil {
			return
		}
		for _, name := range after.GroupNames() {
			if name != "" && name != groupPrefix+keep {
				t.Errorf("%q became %q, which has the group %q", pattern, renamed, name)
			}
		}
		before, err := pcre.Compile(pattern, 0)
		if err != nil {
			return
		}
		want, _, err1 := before.Match(path)
		got, _, err2 := after.Match(path)
		if err1 == nil && err2 == nil && !slices.Equal(got, want) {
			t.Errorf("%q became %q: on %q %v became %v", pattern, renamed, path, want, got)
		}
	})
}

func TestRewritten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pattern, target, path, want string }{
		{"(?i)/pre(/|$)(.*)", "/$2", "/PRE/x/y", "/x/y"},
		{"(?i)/pre", "/new", "/other", "/other"}, // it does not match
		{"(?i)/b", "/new", "/a/b/c", "/new"},     // nor is it anchored
		{"(?i)/(?<p_id>[0-9]+)(x)?", "/$p_id/${p_id}y/$2/$3", "/7", "/7/7y//"},
		{"(?i)/(a)", "/$10", "/a", "/a0"},
		{"(?i)/(?=(a))a", "/$1", "/A", "/A"},
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
