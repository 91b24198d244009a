package pcre

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// at are the places of the groups that a match should give.
func at(places ...int) []int { return places }

// matches has an example or more of each section of pcre2pattern(3).
var matches = []struct {
	pattern, subject string
	want             []int
}{
	// literals and the dot
	{`abc`, "xabcx", at(1, 4)},
	{`abc`, "ab", nil},
	{`a.c`, "abc", at(0, 3)},
	{`a.c`, "a\nc", nil},
	{`a.c`, "a\x00c", at(0, 3)},
	{`(?s)a.c`, "a\nc", at(0, 3)},
	{`.`, "é", at(0, 1)},
	// non-printing characters
	{`\a\e\f\n\r\t`, "\a\x1b\f\n\r\t", at(0, 6)},
	{`\x41\x4`, "A\x04", at(0, 2)},
	{`\x{7f}\x{00e9}`, "\x7f\xe9", at(0, 2)},
	{`\Qa.[\E.`, "a.[x", at(0, 4)},
	{`\Qa.[\E.`, "axxx", nil},
	{`a\Q\E+`, "aaa", at(0, 3)},
	{`\_\.\/\é`, "_./é", at(0, 5)},
	// generic types
	{`\d+\D+`, "a12b\xe9", at(1, 5)},
	{`\s+\S+`, "x \t\n\v\f\r\xa0y", at(1, 9)},
	{`\w+\W+`, "-aZ_9\xe9\xaa", at(1, 7)},
	// simple assertions
	{`\bfoo\b`, "a foo b", at(2, 5)},
	{`\bfoo\b`, "foob", nil},
	{`\Boo`, "foo", at(1, 3)},
	{`\Boo`, "oo", nil},
	{`\Aa`, "ba", nil},
	{`\Aa`, "a", at(0, 1)},
	{`a\Z`, "a\n", at(0, 1)},
	{`a\Z`, "a\n\n", nil},
	{`a\z`, "a\n", nil},
	{`a\z`, "ba", at(1, 2)},
	// circumflex and dollar
	{`^a`, "ba", nil},
	{`^a`, "a", at(0, 1)},
	{`a$`, "a", at(0, 1)},
	{`a$`, "a\n", at(0, 1)},
	{`a$`, "a\nb", nil},
	{`a$\n`, "a\n", at(0, 2)},
	{`x^|a`, "a", at(0, 1)},
	{`^`, "", at(0, 0)},
	{`$`, "a\n", at(1, 1)},
	// classes
	{`[abc]+`, "xcabx", at(1, 4)},
	{`[^abc]+`, "axyb", at(1, 3)},
	{`[^abc]+`, "a\nb", at(1, 2)},
	{`[]a]+`, "x]a", at(1, 3)},
	{`[^]a]+`, "]xa", at(1, 2)},
	{`[a-c-e]+`, "xa-eb", at(1, 5)},
	{`[a-]+`, "-a", at(0, 2)},
	{`[-a]+`, "-a", at(0, 2)},
	{`[\d-]+`, "1-", at(0, 2)},
	{`[a\-c]+`, "b-", at(1, 2)},
	{`[\x61-\x63]+`, "xab", at(1, 3)},
	{`[\b]`, "a\b", at(1, 2)},
	{`[\w.]+`, "-a.b-", at(1, 4)},
	{`[\W]+`, "a-.b", at(1, 3)},
	{`[\H]+`, " a", at(1, 2)},
	{`[a^]+`, "^a", at(0, 2)},
	{`[\n-\r]+`, "a\v\n", at(1, 3)},
	{`[W-c]+`, "_wW`", at(0, 1)},
	{`(?i)[W-c]+`, "-_wWx`", at(1, 6)},
	{`(?i)[^a]`, "Aab", at(2, 3)},
	{`[.$*+?({|]+`, "x.$*+?({|", at(1, 9)},
	{`[[]`, "[", at(0, 1)},
	// POSIX classes
	{`[[:alpha:]]+`, "1aZ\xe9", at(1, 3)},
	{`[[:^alpha:]]+`, "a1\xe9b", at(1, 3)},
	{`[01[:alpha:]%]+`, "x2a%1", at(0, 1)},
	{`[[:digit:]-]+`, "-1", at(0, 2)},
	{`[[:blank:]]+`, "\n\t \v", at(1, 3)},
	{`[[:cntrl:]]+`, "a\x00\x7f", at(1, 3)},
	{`[[:graph:]]+`, " !~ ", at(1, 3)},
	{`[[:print:]]+`, "\t !~", at(1, 4)},
	{`[[:punct:]]+`, "a!/:@[`{~1", at(1, 9)},
	{`[[:space:]]+`, "a\v\f ", at(1, 4)},
	{`[[:xdigit:]]+`, "xaFg", at(1, 3)},
	{`[[:word:]]+`, "-a_1", at(1, 4)},
	{`[[:ascii:]]+`, "\xe9a\x00", at(1, 3)},
	{`[[:lower:]]+`, "Ab", at(1, 2)},
	{`(?i)[[:lower:]]+`, "1Ab", at(1, 3)},
	{`(?i)[[:^upper:]]+`, "aB1", at(2, 3)},
	{`[[:upper:][:digit:]]+`, "aB1", at(1, 3)},
	{`[:a]+`, "a:", at(0, 2)},
	// alternation
	{`gilbert|sullivan`, "sullivan", at(0, 8)},
	{`a|ab`, "ab", at(0, 1)},
	{`a(b|)c`, "ac", at(0, 2, 1, 1)},
	{`a(b|)c`, "abc", at(0, 3, 1, 2)},
	{`x(|a)b`, "xab", at(0, 3, 1, 2)},
	{`^a|b`, "cb", at(1, 2)},
	// options
	{`(?i)aB`, "Ab", at(0, 2)},
	{`a(?i)b`, "aB", at(0, 2)},
	{`a(?i)b`, "AB", nil},
	{`(a(?i)b)c`, "aBc", at(0, 3, 0, 2)},
	{`(a(?i)b)c`, "aBC", nil},
	{`(a(?i)b|c)d`, "Cd", at(0, 2, 0, 1)},
	{`(?i:sat|sun)day`, "SUNday", at(0, 6)},
	{`(?i:sat|sun)day`, "SUNDAY", nil},
	{`a*+b`, "aab", at(0, 3)},
	{`[^/]++/`, "aab/", at(0, 4)},
	// look-aheads that are tried at one place only
	{`^/(?!api)(.*)`, "/apx", at(0, 4, 1, 4)},
	{`^/(?!api)(.*)`, "/api/x", nil},
	{`/(?!api)(.*)`, "/x/api", at(0, 6, 1, 6)},
	{`^/(?=x$)`, "/x\n", at(0, 1)},
	{`^/(?=x\z)`, "/x\n", nil},
	{`^/a(?!\b)|^/(?:b|c)(?=d)(.)`, "/cd", at(0, 3, 2, 3)},
	{`^/a(?!\b)|^/(?:b|c)(?=d)(.)`, "/a", nil},
	{`^/(?!a)(?!b)[^/]*`, "/b", nil},
	{`^/(?!a)(?!b)[^/]*`, "/c", at(0, 2)},
	{`^/[a-z]{2}(?!x)(?i:X)`, "/abX", at(0, 4)},
	// what is not told does not match
	{`^/(?>a+)b`, "/aac", nil},
	{`^/(a|b)\1`, "/x", nil},
	{`x(?<=a)`, "ya", nil},
	{`(?i)a(?-i)b`, "Ab", at(0, 2)},
	{`(?i)a(?-i)b`, "AB", nil},
	{`(?-i)a`, "A", nil},
	{`(?U)a+`, "aaa", at(0, 1)},
	{`(?U)a+?`, "aaa", at(0, 3)},
	{`(?U)a*b{1,2}`, "aabb", at(0, 3)},
	{`(?i)\x41`, "a", at(0, 1)},
	// groups
	{`cat(aract|erpillar|)`, "caterpillar", at(0, 11, 3, 11)},
	{`cat(aract|erpillar|)`, "cat", at(0, 3, 3, 3)},
	{`the ((red|white) (king|queen))`, "the red king", at(0, 12, 4, 12, 4, 7, 8, 12)},
	{`the ((?:red|white) (king|queen))`, "the white queen", at(0, 15, 4, 15, 10, 15)},
	{`(?<n>a)(?P<o>b)(?'p'c)`, "abc", at(0, 3, 0, 1, 1, 2, 2, 3)},
	{`(a)|(b)`, "b", at(0, 1, -1, -1, 0, 1)},
	{`(a)?(b)`, "b", at(0, 1, -1, -1, 0, 1)},
	{`()`, "a", at(0, 0, 0, 0)},
	{`(a|ab)(c|bcd)(d*)`, "abcd", at(0, 4, 0, 1, 1, 4, 4, 4)},
	{`(?#comment)a(?#b)*`, "aa", at(0, 2)},
	// repetition
	{`z{2,4}`, "zzzzz", at(0, 4)},
	{`z{2,4}`, "z", nil},
	{`[aeiou]{3,}`, "aeiou", at(0, 5)},
	{`\d{8}`, "12345678", at(0, 8)},
	{`a{,`, "a{,", at(0, 3)},
	{`a{1`, "a{1", at(0, 3)},
	{`a{x}`, "a{x}", at(0, 4)},
	{`a{}`, "a{}", at(0, 3)},
	{`a{,}`, "a{,}", at(0, 4)},
	{`a{2}?b`, "aab", at(0, 3)},
	{`.*b`, "abab", at(0, 4)},
	{`.*?b`, "abab", at(0, 2)},
	{`/\*.*?\*/`, "/* a */ b */", at(0, 7)},
	{`\d??\d`, "12", at(0, 1)},
	{`(a){2,3}`, "aaaa", at(0, 3, 2, 3)},
	{`(a|b){2,3}?`, "abab", at(0, 2, 1, 2)},
	{`(?:(a)|b)*`, "ab", at(0, 2, 0, 1)},
	{`(?:a|(b)){2}`, "ba", at(0, 2, 0, 1)},
	{`(a+)+$`, "aaa", at(0, 3, 0, 3)},
	// atomic groups and possessive quantifiers
	{`\d+foo`, "123456bar", nil},
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, test := range matches {
		pattern, err := Compile(test.pattern, 0)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		got, ok, err := pattern.Match(test.subject)
		if err != nil || ok != (test.want != nil) || !cmp.Equal(got, test.want) {
			t.Errorf("%s on %q: got %v, %v, %v; want %v", test.pattern, test.subject, got, ok, err, test.want)
		}
	}
}

func TestCaseless(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, subject string
		ok               bool
	}{
		{"^/Foo", "/fOO", true},
		{"^/[a-c]+$", "/aBC", true},
		{"^/[^a]$", "/A", false},
		{"^/\xe9$", "/\xc9", false}, // ASCII only
		{"^/(?-i)foo", "/FOO", false},
		{"^/\\x41", "/a", true},
	} {
		pattern, err := Compile(test.pattern, Caseless)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := pattern.Match(test.subject); ok != test.ok || err != nil {
			t.Errorf("%s on %q: got %v, %v", test.pattern, test.subject, ok, err)
		}
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	pattern, err := Compile(`(a)(?<two>b)(?:c)(?<three>d|e)(f)`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"", "", "two", "three", ""}, pattern.GroupNames()); diff != "" || pattern.NumGroups() != 4 {
		t.Errorf("%d groups: %s", pattern.NumGroups(), diff)
	}
}

// A search that PCRE2 might give up is not answered.
func TestTooHard(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pattern, subject string }{
		{`^(a+)+$`, strings.Repeat("a", 40) + "b"},
		{`^(?:a|aa)+$`, strings.Repeat("a", 60) + "b"},
		{`^(?:.*a)*$`, strings.Repeat("ab", 30)},
		{`(x+x+)+y`, strings.Repeat("x", 40)},
		{`^(?:a|b)*$`, strings.Repeat("ab", 10_000)}, // PCRE2 has no room for so many ways back
		{`^(((((a|b)))))*$`, strings.Repeat("ab", 200)},
	} {
		pattern, err := Compile(test.pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok, err := pattern.Match(test.subject); !errors.Is(err, ErrTooHard) {
			t.Errorf("%s: got %v, %v, %v; want ErrTooHard", test.pattern, got, ok, err)
		}
	}
}

// A long path is no reason to give up.
func TestLongSubjects(t *testing.T) {
	t.Parallel()
	long := "/" + strings.Repeat("segment/", 1000)
	for _, text := range []string{`^/segment`, `^/(.*)$`, `^/[a-z/]+$`, `^/x`, `^/.*\.php$`, `segment/$`, `^/([^/]*)/(.*)`} {
		pattern, err := Compile(text, Caseless)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := pattern.Match(long); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
