package pcre

import (
	"errors"
	"strings"
	"testing"
)

// refused are patterns that PCRE2 does not take.
var refused = []string{
	`\`, `a\`, `\j`, `\y`, `\u0041`, `\U`, `\L`, `\l`, `\c`, "\\c\x01", `\c` + "\xe9", `\o`, `\o1`, `\o{}`, `\o{8}`, `\o{400}`, `\o{1`, `\x{`, `\x{}`, `\x{g}`, `\x{100}`, `\400`,
	`\N{name}`, `\N{U+41}`,
	`(`, `(a`, `)`, `a)`, `(?`, `(?:`, `(?i`, `(?i:a`, `(?q)`, `(?i-s-m)`, `(?^-i)`, `(?P`, `(?Px)`, `(?#`, `(?<`, `(?<>a)`, `(?<a`, `(?<1a>b)`, `(?<a-b>c)`, `(?'a>b)`, `(?<a>b)(?<a>c)`,
	`(?|(?<a>b)|(?<c>d))`, `(?<` + strings.Repeat("n", 129) + `>a)`,
	`*`, `+a`, `?`, `{2}`, `a**`, `a{2}{3}`, `a*+*`, `a|*`, `(*`, `^*`, `$+`, `\b?`, `\K*`, `(?i)*`, `(?#a)*`, `a{65536}`, `a{2,1}`, `a{1,65536}`, `a{99999999999999999999}`,
	`[`, `[a`, `[]`, `[^]`, `[\Qa]`, `[b-a]`, `[a-\d]`, `[\d-z]`, `[[:alpha:]-z]`, `[a-[:digit:]]`, `[[:nothing:]]`, `[[.a.]]`, `[[=a=]]`, `[:alpha:]`, `[.a.]`, `[\B]`, `[\R]`, `[\X]`, `[\N]`, `[\A]`, `[\j]`,
	`\1`, `(a)\2`, `\g`, `\g{}`, `\g{a`, `\g0`, `\g-1`, `\g{-0}`, `(a)\g{-2}`, `\k`, `\ka`, `\k<a>`, `\k{a}`, `(?P=a)`, `(?<a>b)\k<a`, `\g{65536}`,
	`(?(1)a|b)`, `(a)(?(1)a|b|c)`, `(?(<n>)a)`, `(?(n)a)`, `(?(0)a)`, `(?(`, `(?()a)`, `(?(1a)b)`, `(?(?a)b)`, `(?(?=a)*b)`, `(?(?=a)b|c|d)`,
	`(?<=a*)b`, `(?<!a+)b`, `(?<=(?:a|b*))c`, `(?<=a{2,})b`, `(?=a\Kb)`, `(?<=\K)a`, `(?<=` + strings.Repeat(`a{60000}`, 2) + `)b`,
	strings.Repeat("(", 251) + strings.Repeat(")", 251),
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for _, text := range refused {
		_, err := Compile(text, 0)
		var syntax *SyntaxError
		if text == "(*" {
			continue // not told apart from a verb
		}
		if !errors.As(err, &syntax) || syntax.Reason == "" || syntax.Offset < 0 || syntax.Offset > len(text) {
			t.Errorf("%.60s: got %v; want a *SyntaxError", text, err)
		}
	}
}

// unsupported are patterns that PCRE2 takes, or one of its versions.
var unsupported = []string{
	`(?R)`, `(a)(?1)`, `(?-1)`, `(?+1)(a)`, `(?&n)`, `(?P>n)`, `\g<1>`, `\g'n'`, // calling groups
	`(?C)`, `(?C1)`, `(?(?C)(?=a)b)`, `(*ACCEPT)`, `a(*FAIL)`, `(*UTF)a`, `(*pla:a)`, `(?*a)`, `(?<*a)`,
	`\p{L}`, `\PL`, `\X`, `[\p{L}]`, `[[:<:]]a`, `[[:>:]]`, `(?(R)a)`, `(?(R1)a)`, `(?(R&n)a)`, `(?(DEFINE)a)`, `(?(VERSION>=10)a)`,
	// What the versions of PCRE2 take in different ways.
	`a{,3}`, `a{ 1}`, `a{1, 2}`, `a{1 }`, `\x{ 41 }`, `\o{ 101}`, `(a)\g{ 1 }`, `(?<n>a)\k{ n }`, `(?a)`, `(?r)a`, `(?[a])`, `\x`, `\xg`, `[\k]`, `[\d-\E]`,
	`(?<=a?)b`, `(?<=a|(?:b|cc))d`, `(?<=a{1,2})b`, `(?<=\R)b`, `(a)(?<=\1)b`, `(a)?(?<=(?(1)a|b))c`, `(?<` + strings.Repeat("n", 33) + `>a)`,
	// What is larger than PCRE2 takes, or may be.
	strings.Repeat("a", 40_000), `(?:a{1,100}b){1,60000}`, `(((a{9}b){99}c){99}d){99}`, strings.Repeat("(?#)", 20_000),
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for _, text := range unsupported {
		if _, err := Compile(text, 0); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%.60s: got %v; want ErrUnsupported", text, err)
		}
	}
}

// hazards are patterns with which PCRE2 misses a match, of the subject beside
// them: everywhere, or by one version's interpreter or machine code. Those that
// it gets right are near to them.
var hazards = []struct {
	pattern, subject, right string
	everywhere              bool
}{
	{`(\w|\g1{0,1}x)b`, "b", `(\w|x)b`, true},
	{`a+(?>|b)a`, "aa", `a+(?>b)a`, true},
	{`a+(?>(?:b)?)a`, "aa", `a+(?>b?)a`, true},
	{`a*(?:\d){0,2}+a`, "a", `a*(?:\d){0,2}a`, true},
	{`.?\R`, "\v", `.\R`, true},
	{`\R+.`, "\r\v", `\R+a`, true},
	{`\S+\h`, "\xa0\xa0", `\S+ `, true},
	{`\S*\v`, "\x85", `\S*\n`, true},
	{`\h+\S`, "\xa0\xa0", `\h+\w`, true},
	{`(?i)(?:|\N*){0}?A++A{0,2}`, "\xc9]B[a", `(?:b){1}a`, false}, // machine code
	{`(?i)(?=A)a?A`, "a", `(?i)^(?=A)a?A`, false},                 // 10.42
	{`(?:|ab)c*b`, "aaab", `/(?:|ab)c*b`, false},                  // machine code of 10.42
	{`^(?:()*+.*)*b`, "aabaab", `^(?:(?:)*+.*)*b`, false},         // machine code of 10.42: group 1
	{`b?a\V{2}`, "xaxxx", `^b?a\V{2}`, false},                     // machine code of 10.46
	{`b?a[bc]{0,2}`, "xa", `^b?a[bc]{0,2}`, false},                // machine code of Debian's 10.46-1~deb13u1
}

func TestHazards(t *testing.T) {
	t.Parallel()
	for _, test := range hazards {
		if _, err := Compile(test.pattern, 0); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: got %v; want ErrUnsupported", test.pattern, err)
		}
		if _, err := Compile(test.right, 0); err != nil {
			t.Errorf("%s: %v", test.right, err)
		}
	}
}

// A hostile pattern is refused at once, or is small.
func TestHostilePatterns(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("(", 1_000_000),
		strings.Repeat("(?:", 249) + "a" + strings.Repeat("){2}", 249),
		strings.Repeat("(a?", 200) + strings.Repeat(")*", 200),
		strings.Repeat("((a{0,65535}", 100) + strings.Repeat("){0,65535})", 100),
		strings.Repeat("|", 60_000),
		strings.Repeat("[a-z]{65535}", 500),
		strings.Repeat("(?<=a)", 2_000),
		strings.Repeat("(?i)", 15_000),
		strings.Repeat(`\Q\E`, 15_000),
		"(?x)" + strings.Repeat(" ", 60_000),
		strings.Repeat("{", 20_000),
		strings.Repeat("a{", 20_000),
		strings.Repeat("[[:", 20_000),
		strings.Repeat(`(a)\1`, 10_000),
		strings.Repeat("(?<n>a)", 9_000),
		"(?J)" + strings.Repeat("(?<n>a)", 1_000) + strings.Repeat(`\k<n>`, 1_000),
	} {
		pattern, err := Compile(text, Caseless)
		if err != nil {
			continue
		}
		if len(pattern.program) > maxCost {
			t.Errorf("%.40s: %d instructions", text, len(pattern.program))
		}
		if _, _, err := pattern.Match(strings.Repeat("a", 2_000)); err != nil && !errors.Is(err, ErrTooHard) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}
