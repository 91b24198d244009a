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
	{`a\Nc`, "abc", at(0, 3)},
	{`a\Nc`, "a\nc", nil},
	{`(?s)\N`, "\n", nil},
	{`a\N{2}`, "abc", at(0, 3)},
	{`\C`, "\n", at(0, 1)},
	// non-printing characters
	{`\a\e\f\n\r\t`, "\a\x1b\f\n\r\t", at(0, 6)},
	{`\cA\c{\c@`, "\x01;\x00", at(0, 3)},
	{`\x41\x4`, "A\x04", at(0, 2)},
	{`\x{7f}\x{00e9}`, "\x7f\xe9", at(0, 2)},
	{`\0\07\177`, "\x00\a\x7f", at(0, 3)},
	{`\0113`, "\t3", at(0, 2)},
	{`\o{101}`, "A", at(0, 1)},
	{`\113`, "K", at(0, 1)},
	{`(a)\11`, "a\t", at(0, 2, 0, 1)},
	{`\Qa.[\E.`, "a.[x", at(0, 4)},
	{`\Qa.[\E.`, "axxx", nil},
	{`\Qa\Q`, "a\\Q", at(0, 3)},
	{`a\Q\E+`, "aaa", at(0, 3)},
	{`\_\.\/\é`, "_./é", at(0, 5)},
	// generic types
	{`\d+\D+`, "a12b\xe9", at(1, 5)},
	{`\s+\S+`, "x \t\n\v\f\r\xa0y", at(1, 9)},
	{`\w+\W+`, "-aZ_9\xe9\xaa", at(1, 7)},
	{`\h\H`, "\t\xa0a", at(1, 3)},
	{`\h\h`, "\t\xa0", at(0, 2)},
	{`\v\V`, "\n\x85a", at(1, 3)},
	{`\v\v`, "\v\x85", at(0, 2)},
	{`a\Rb`, "a\r\nb", at(0, 4)},
	{`a\Rb`, "a\nb", at(0, 3)},
	{`a\Rb`, "a\x85b", at(0, 3)},
	{`a\Rb`, "a\n\rb", nil},
	{`\R\n`, "\r\n", nil},
	// resetting the match start
	{`foo\Kbar`, "foobar", at(3, 6)},
	{`(foo)\Kbar`, "foobar", at(3, 6, 0, 3)},
	{`(?:a\Kb|ab)c`, "abc", at(1, 3)},
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
	{`\Ga`, "ba", nil},
	// circumflex and dollar
	{`^a`, "ba", nil},
	{`^a`, "a", at(0, 1)},
	{`a$`, "a", at(0, 1)},
	{`a$`, "a\n", at(0, 1)},
	{`a$`, "a\nb", nil},
	{`a$\n`, "a\n", at(0, 2)},
	{`(?m)^a$`, "b\na\nc", at(2, 3)},
	{`(?m)^a$`, "b\na", at(2, 3)},
	{`(?m)^`, "\n", at(0, 0)},
	{`(?m)a^`, "a\n", nil},
	{`(?m)b$`, "ab\nc", at(1, 2)},
	{`(?m)\n^`, "a\n", nil},
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
	{`[\101\8]+`, "A8", at(0, 2)},
	{`[\Qa-]\E]+`, "x-a]", at(1, 4)},
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
	{`(?xx)[ a b]+`, "a b", at(0, 1)},
	{`(?x)[ a]+`, "b a", at(1, 3)},
	{`[\E\Qb\E]`, "b", at(0, 1)},
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
	{`[[:a]+`, "[:a", at(0, 3)},
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
	{`(?i)a(?-i)b`, "Ab", at(0, 2)},
	{`(?i)a(?-i)b`, "AB", nil},
	{`(?-i)a`, "A", nil},
	{`(?i)(?^)a`, "A", nil},
	{`(?i)(?^:a)b`, "aB", at(0, 2)},
	{`(?i)(?^:a)b`, "AB", nil},
	{"(?x)a b#c\n [ ]", "ab ", at(0, 3)},
	{`(?x)a+ ?b`, "aab", at(0, 3)},
	{`(?n)(a)(?<x>b)`, "ab", at(0, 2, 1, 2)},
	{`(?U)a+`, "aaa", at(0, 1)},
	{`(?U)a+?`, "aaa", at(0, 3)},
	{`(?U)a*b{1,2}`, "aabb", at(0, 3)},
	{`(?sm)^.$.`, "a\nb", at(0, 2)},
	{`(?J)(?<n>a)|(?<n>b)`, "b", at(0, 1, -1, -1, 0, 1)},
	{`(?i)\x41`, "a", at(0, 1)},
	// groups
	{`cat(aract|erpillar|)`, "caterpillar", at(0, 11, 3, 11)},
	{`cat(aract|erpillar|)`, "cat", at(0, 3, 3, 3)},
	{`the ((red|white) (king|queen))`, "the red king", at(0, 12, 4, 12, 4, 7, 8, 12)},
	{`the ((?:red|white) (king|queen))`, "the white queen", at(0, 15, 4, 15, 10, 15)},
	{`(?|(Sat)ur|(Sun))day`, "Saturday", at(0, 8, 0, 3)},
	{`(?|(Sat)ur|(Sun))day`, "Sunday", at(0, 6, 0, 3)},
	{`(?|(a)(b)|(c))(d)`, "cd", at(0, 2, 0, 1, -1, -1, 1, 2)},
	{`(?|(abc)|(def))\1`, "abcabc", at(0, 6, 0, 3)},
	{`(?|(abc)|(def))\1`, "defdef", at(0, 6, 0, 3)},
	{`(?|(abc)|(def))\1`, "abcdef", nil},
	{`(?<n>a)(?P<o>b)(?'p'c)`, "abc", at(0, 3, 0, 1, 1, 2, 2, 3)},
	{`(?|(?<AA>aa)|(?<AA>bb))`, "bb", at(0, 2, 0, 2)},
	{`(a)|(b)`, "b", at(0, 1, -1, -1, 0, 1)},
	{`(a)?(b)`, "b", at(0, 1, -1, -1, 0, 1)},
	{`()`, "a", at(0, 0, 0, 0)},
	{`(a*)*`, "aab", at(0, 2, 2, 2)},
	{`(a*)*`, "b", at(0, 0, 0, 0)},
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
	{`a{0}b`, "ab", at(1, 2)},
	{`a{2}?b`, "aab", at(0, 3)},
	{`.*b`, "abab", at(0, 4)},
	{`.*?b`, "abab", at(0, 2)},
	{`/\*.*?\*/`, "/* a */ b */", at(0, 7)},
	{`\d??\d`, "12", at(0, 1)},
	{`(a){2,3}`, "aaaa", at(0, 3, 2, 3)},
	{`(a|b){2,3}?`, "abab", at(0, 2, 1, 2)},
	{`(a?)*`, "aa", at(0, 2, 2, 2)},
	{`(a?)*?b`, "aab", at(0, 3, 1, 2)},
	{`(a?){3}`, "a", at(0, 1, 1, 1)},
	{`^(|a)+`, "aaa", at(0, 0, 0, 0)},
	{`^(|a){2,}`, "aaa", at(0, 0, 0, 0)},
	{`(?:(a)|b)*`, "ab", at(0, 2, 0, 1)},
	{`(?:a|(b)){2}`, "ba", at(0, 2, 0, 1)},
	{`(a+)+$`, "aaa", at(0, 3, 0, 3)},
	{`(?:a?){2,4}b`, "aaab", at(0, 4)},
	{`\R+`, "\r\n\n", at(0, 3)},
	// atomic groups and possessive quantifiers
	{`\d+foo`, "123456bar", nil},
	{`(?>\d+)foo`, "123foo", at(0, 6)},
	{`(?>\d+)foo`, "123", nil},
	{`(?>a+)a`, "aaa", nil},
	{`a++a`, "aaa", nil},
	{`a*+b`, "aab", at(0, 3)},
	{`a?+a`, "a", nil},
	{`a{1,2}+a`, "aa", nil},
	{`a{1,2}+a`, "aaa", at(0, 3)},
	{`(?>a|ab)c`, "abc", nil},
	{`(abc|xyz){2,3}+`, "abcxyzabcxyz", at(0, 9, 6, 9)},
	{`(?:a|ab)++c`, "aabc", nil},
	{`(?:a|ab)++c`, "aac", at(0, 3)},
	{`(?:a|ab)*+c`, "aac", at(0, 3)},
	{`(?:a|b){2,}+b`, "aabb", nil},
	{`((?>a+)b)+`, "aabab", at(0, 5, 3, 5)},
	{`(\D+|<\d+>)*[!?]`, "aaaa!", at(0, 5, 0, 4)},
	// references
	{`(sens|respons)e and \1ibility`, "sense and sensibility", at(0, 21, 0, 4)},
	{`(sens|respons)e and \1ibility`, "sense and responsibility", nil},
	{`((?i)rah)\s+\1`, "RAH RAH", at(0, 7, 0, 3)},
	{`((?i)rah)\s+\1`, "RAH rah", nil},
	{`(?i)(rah)\1`, "RAHrah", at(0, 6, 0, 3)},
	{`(?<p1>(?i)rah)\s+\k<p1>`, "rah rah", at(0, 7, 0, 3)},
	{`(?'p1'a)\k{p1}`, "aa", at(0, 2, 0, 1)},
	{`(?P<p1>a)(?P=p1)`, "aa", at(0, 2, 0, 1)},
	{`(?<p1>a)\g{p1}`, "aa", at(0, 2, 0, 1)},
	{`(a)(b)\g2\g{-2}\g1`, "abbaa", at(0, 5, 0, 1, 1, 2)},
	{`(abc(def)ghi)\g{-1}`, "abcdefghidef", at(0, 12, 0, 9, 3, 6)},
	{`(a|(bc))\2`, "a", nil},
	{`(a|(bc))\2`, "bcbc", at(0, 4, 0, 2, 0, 2)},
	{`(a)?\1b`, "aab", at(0, 3, 0, 1)},
	{`(a)?\1b`, "b", nil},
	{`(a)?(?:\1)?b`, "b", at(0, 1, -1, -1)},
	{`(a)\1*`, "aaa", at(0, 3, 0, 1)},
	{`(ab)\1{2}`, "ababab", at(0, 6, 0, 2)},
	{`(a?)\1*b`, "b", at(0, 1, 0, 0)},
	{`(?J)(?:(?<n>foo)|(?<n>bar))\k<n>`, "foofoo", at(0, 6, 0, 3, -1, -1)},
	{`(?J)(?:(?<n>foo)|(?<n>bar))\k<n>`, "barbar", at(0, 6, -1, -1, 0, 3)},
	{`(?J)(?:(?<n>foo)|(?<n>bar))\k<n>`, "foobar", nil},
	{`(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10`, "abcdefghijj", at(0, 11, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10)},
	{`(a)\g1\061`, "aa1", at(0, 3, 0, 1)},
	// look-arounds
	{`\w+(?=;)`, "foo bar;", at(4, 7)},
	{`foo(?!bar)`, "foobar foobaz", at(7, 10)},
	{`(?!foo)...bar`, "xxxbar", at(0, 6)},
	{`(?<!foo)bar`, "foobar xbar", at(8, 11)},
	{`(?<=bullock|donkey)x`, "donkeyx", at(6, 7)},
	{`(?<=bullock|donkey)x`, "monkeyx", nil},
	{`(?<=abc(?:de|fg))x`, "abcfgx", at(5, 6)},
	{`(?<=\d{3})(?<!999)foo`, "123foo", at(3, 6)},
	{`(?<=\d{3})(?<!999)foo`, "999foo", nil},
	{`(?<=(?<!foo)bar)baz`, "barbaz", at(3, 6)},
	{`(?<=(?<!foo)bar)baz`, "foobarbaz", nil},
	{`(?<=\d{3}(?!999)...)foo`, "123abcfoo", at(6, 9)},
	{`(?<=\d{3}(?!999)...)foo`, "123999foo", nil},
	{`x(?=(a+))a\1`, "xaaa", nil},
	{`x(?!(a))b`, "xb", at(0, 2, -1, -1)},
	{`x(?=(a))*a`, "xa", at(0, 2, 1, 2)},
	{`x(?=(a))?b`, "xb", at(0, 2, -1, -1)},
	{`x(?!a)+b`, "xb", at(0, 2)},
	{`x(?:(?=(a))a)+`, "xaa", at(0, 3, 2, 3)},
	{`(?<=^|,)x`, ",x", at(1, 2)},
	{`(?<=a$)b`, "ab", nil},
	{`x(?=a*?(b))`, "xaab", at(0, 1, 3, 4)},
	{`(?<=(a))b\1`, "aba", at(1, 3, 0, 1)},
	// conditions
	{`(\()?[^()]+(?(1)\))`, "(a)", at(0, 3, 0, 1)},
	{`(\()?[^()]+(?(1)\))`, "a", at(0, 1, -1, -1)},
	{`(\()?[^()]+(?(1)\))`, "(a", at(1, 2, -1, -1)},
	{`(?<q>")?a(?(<q>)"|b)`, "\"a\"", at(0, 3, 0, 1)},
	{`(?<q>")?a(?(<q>)"|b)`, "ab", at(0, 2, -1, -1)},
	{`(?'q'x)?a(?('q')y|b)`, "xay", at(0, 3, 0, 1)},
	{`(?<q>x)?a(?(q)y)`, "xay", at(0, 3, 0, 1)},
	{`(?<q>x)?a(?(q)y)`, "a", at(0, 1, -1, -1)},
	{`(a)?(?(-1)b|c)`, "ab", at(0, 2, 0, 1)},
	{`(a)?(?(-1)b|c)`, "c", at(0, 1, -1, -1)},
	{`x(?(?=a)ab|cd)`, "xab", at(0, 3)},
	{`x(?(?=a)ab|cd)`, "xcd", at(0, 3)},
	{`x(?(?!a)cd|ab)`, "xab", at(0, 3)},
	{`x(?(?!a)cd|ab)`, "xcd", at(0, 3)},
	{`(?(?<=a)b|c)`, "ab", at(1, 2)},
	{`(?(?<=a)b|c)`, "c", at(0, 1)},
	{`x(?(?<!a)b|c)`, "xb", at(0, 2)},
	{`(?:(a)|b)(?(1)c|d)`, "ac", at(0, 2, 0, 1)},
	{`(?:(a)|b)(?(1)c|d)`, "bd", at(0, 2, -1, -1)},
	{`(?:(a)|b)(?(1)c|d)`, "ad", nil},
	{`x(?(?=(a))ab)\1?`, "xaba", at(0, 4, 1, 2)},
	{`(?:(?(1)b|(a)))+`, "abb", at(0, 3, 0, 1)},
	{`(*NO_START_OPT)(*LF)a`, "ba", at(1, 2)},
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
		{"^/(a)\\1$", "/aA", true},
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
	pattern, err := Compile(`(a)(?<two>b)(?:c)(?|(?<three>d)|(?<three>e)(f))`, 0)
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
	for _, text := range []string{`^/segment`, `^/(.*)$`, `^/[a-z/]+$`, `^/(?:[a-z]++/)*+$`, `^/x`, `^/.*\.php$`, `segment/$`, `^/([^/]*)/(.*)`} {
		pattern, err := Compile(text, Caseless)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := pattern.Match(long); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
