package lint

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/pcre"

	"sluice/internal/model"
)

// takesAll compares two patterns as overtaken does.
func takesAll(outer, inner string) bool {
	servers := &model.Server{Locations: []*model.Location{{Modifier: model.Pattern, Path: outer}, {Modifier: model.Pattern, Path: inner}}}
	patterns := patternsOf(servers)
	return (&passed{budget: &pcre.Comparisons{Left: mostCompared}}).takes(patterns[0], patterns[1])
}

func TestTakes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		outer, inner string
		want         bool
	}{
		{"^/foo", "^/foo", true},
		{"^/foo", "^/FOO", true},
		{"^/foo", "^/foo/bar", true},
		{"^/foo/bar", "^/foo", false},
		{"^/foo/.*", "^/foo/", true},
		{"^/foo/.+", "^/foo/", false},
		{"^/foo(/|$)(.*)", "^/foo", false},
		{"^/foo(/|$)(.*)", "^/foo/bar", true},
		{"^/foo$", "^/foo", false},
		{"^/(a|bb)x", "^/bbx", true},
		{"^/a|/b", "^/a", true},
		{"^/a", "^/a|/b", false},
		{"^/(?=a)", "^/(?=a)", true},
		{"^/(a", "^/(a", true}, // nginx refuses both
		{"^/(a", "^/(ab", false},
		{"^/c++", "^/c", true},
		{"^/\xc3\xa9", "^/\xc3\x89", false}, // PCRE compares bytes
		{"^/\xc3\xa9", "^/\xc3\xa9x", true},
		{"^/[^/]+/x", "^/a/b/x", false},
	} {
		if got := takesAll(test.outer, test.inner); got != test.want {
			t.Errorf("%s takes all of %s: %v; want %v", test.outer, test.inner, got, test.want)
		}
	}
}

// What is said to be covered is: patterns of a few parts are compared on every
// short path.
func TestTakesHolds(t *testing.T) {
	t.Parallel()
	parts := []string{"a", "b", "B", "/", ".", "[ab]", "[^/]", "a*", "b+", "a?", ".*", ".+", "[^/]+", "[^/]*", "(/|$)", "(a|b/)", "(ab)?", "(.*)", "$", "a{2}"}
	random := rand.New(rand.NewPCG(1, 2))
	pattern := func() string {
		var out strings.Builder
		out.WriteString("^/")
		for range random.IntN(5) {
			out.WriteString(parts[random.IntN(len(parts))])
		}
		return out.String()
	}
	paths := shortPaths("/", 5)
	covered := 0
	for range 3_000 {
		outer, inner := pattern(), pattern()
		if outer == inner || !takesAll(outer, inner) {
			continue
		}
		covered++
		o, i := regexp.MustCompile("(?i)"+outer), regexp.MustCompile("(?i)"+inner)
		for _, path := range paths {
			if i.MatchString(path) && !o.MatchString(path) {
				t.Fatalf("%s is said to cover %s and does not match %s", outer, inner, path)
			}
		}
	}
	if covered < 200 {
		t.Errorf("only %d pairs were compared", covered)
	}
}

// shortPaths are all texts of at most so many characters that begin so.
func shortPaths(start string, most int) []string {
	all := []string{start}
	if len(start) < most {
		for _, c := range []string{"a", "B", "/", "x"} {
			all = append(all, shortPaths(start+c, most)...)
		}
	}
	return all
}

// FuzzTakes: what is said to be covered is, as far as Go reads patterns as PCRE
// does.
func FuzzTakes(f *testing.F) {
	for _, seed := range [][3]string{
		{"^/foo(/|$)(.*)", "^/foo/bar", "/foo/bar"}, {"^/[a-z]+/x", "^/abc/x", "/ABC/x/y"}, {"^/a?b*c", "^/bb*", "/bbb"},
		{"^/(a|b*)c$", "^/a(b|c)", "/ac"}, {"^/[^/]{2,3}.", "^/a[b-c]*", "/abc"}, {"^(/a)*b+", "^/a/ab", "/a/ab"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, outer, inner, path string) {
		if !takesAll(outer, inner) {
			return
		}
		o, err1 := regexp.Compile("(?i)" + outer)
		i, err2 := regexp.Compile("(?i)" + inner)
		if err1 == nil && err2 == nil && i.MatchString(path) && !o.MatchString(path) {
			t.Errorf("%q is said to cover %q and does not match %q", outer, inner, path)
		}
	})
}
