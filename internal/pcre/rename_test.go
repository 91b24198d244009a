package pcre

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// What a pattern begins with is told of patterns that nobody can read, too, and
// rather too little of it than too much.
func TestBeginning(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`/admin/(a|b)/\g1`: "/admin/", `/admin/(?<s>a|b)/\k<s>`: "/admin/", `/(?x)admin`: "/", `/admin/(?P<id>a)/(?P=id)`: "/admin/", `/admin\cA`: "/admin",
		`/(*UTF)x`: "/", `/a\.b\-c[0-9]`: "/a.b-c", `/ab*`: "/a", `/ab?c`: "/a", `/ab{,3}`: "/a", `/ab+`: "/ab", `/ünï.*`: "/ünï", "/a\nb": "/a", `/a\`: "/a", "/": "/",
		`/a|/b`: "", `/a(b|c)|d`: "", `/a(b|c`: "/a", `/a)b|c`: "", `/a(?#()|b)|c`: "", `/a(?x)#(` + "\n|b": "", `/a\c(|b`: "", `/a\Q(\E|b`: "", `/a[(]|b`: "", `/a[)]x|b`: "", `/a[|]b`: "/a",
		`/a$`: "/a", `^/a`: "", `/[a]b`: "/", `/é?`: "/", `/(a)?b`: "/", `/(?:)a`: "/", `/a(?i)b`: "/a", `/ab{0,2}c`: "/a", `/(?:ab)+c`: "/",
		`/api/v[0-9]+`: "/api/v", `/api/v1/hooks/.*/callback`: "/api/v1/hooks/", `/a(/|$)(.*)`: "/a", `/\x{100}`: "/",
		`/a\|b`: "/a|b", `/a[[:alpha:]|b`: "", `/a(*F)|b`: "", `/a(?:b|c)(?i)d`: "/a", `/a\1`: "/a", "/a\xffb": "/a", `/a(|b)`: "/a", `/a(?=b|c)`: "/a", `/a\p{L}|b`: "",
	} {
		if got := Beginning(pattern); got != want {
			t.Errorf("Beginning(%q) = %q, want %q", pattern, got, want)
		}
	}
}

// The controller looks at the beginning of each pattern at each change: it costs
// little, whatever the pattern is.
func TestBeginningCostsLittle(t *testing.T) { // not parallel: it measures
	for _, pattern := range []string{"/(?i)" + strings.Repeat(`\pL`, 1200), "/" + strings.Repeat("(a|b)", 780), "/" + strings.Repeat("(?:a?){9}", 400)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Beginning(pattern)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
			t.Errorf("%.20s: %d bytes are allocated", pattern, allocated)
		}
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
		after, err := Compile(renamed, 0)
		if err != nil {
			return
		}
		for _, name := range after.GroupNames() {
			if name != "" && name != groupPrefix+keep {
				t.Errorf("%q became %q, which has the group %q", pattern, renamed, name)
			}
		}
		before, err := Compile(pattern, 0)
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

func TestNameGroups(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern string
		which   []int
		want    string
		groups  int
	}{
		{`^/a(/|$)(.*)`, []int{2}, `^/a(/|$)(?<p_2>.*)`, 2},
		{`^/(?:a)\((b)[(](c)\Q(\E`, []int{1, 2, 3}, `^/(?:a)\((?<p_1>b)[(](?<p_2>c)\Q(\E`, 2},
		{`^/((a)(b))`, []int{3}, `^/((a)(?<p_3>b))`, 3},
		{`^/x`, []int{1}, `^/x`, 0},
	} {
		if got, groups := NameGroups(test.pattern, test.which); got != test.want || groups != test.groups {
			t.Errorf("NameGroups(%q, %v) = %q, %d; want %q, %d", test.pattern, test.which, got, groups, test.want, test.groups)
		}
	}
}
