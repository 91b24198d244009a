package pcre

import (
	"errors"
	"strings"
	"testing"
)

// refused are patterns that PCRE2 does not take.
var refused = []string{
	`[`, `[a`, `[]`, `[^]`, `(a[b)`, `\j`, `\y`, `\u0041`, `\U`, `\L`, `\l`, `\x{100}`, `(`, `(a`, `)`, `a)`, `(?:`, `(?i:a`, `(?<1a>b)`, `(?<a>b)(?<a>c)`, `*`, `+a`, `?`, `{2}`, `a**`,
	`a{2}{3}`, `a*+*`, `a|*`, `^*`, `$+`, `\b?`, `\K*`, `(?i)*`, `(?#a)*`, `a{65536}`, `a{2,1}`, `a{1,65536}`, `a{99999999999999999999}`, `[b-a]`,
	`[a-\d]`, `[\d-z]`, `[[:alpha:]-z]`, `[a-[:digit:]]`, `[[:nothing:]]`, `[:alpha:]`, `[.a.]`, `[\B]`, `[\R]`, `[\N]`, `[\A]`, `[\j]`, `\1`, `(a)\2`,
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for _, text := range refused {
		_, err := Compile(text, 0)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Reason == "" {
			t.Errorf("%.60s: got %v; want a *SyntaxError", text, err)
		}
	}
}

// unsupported are patterns that are not matched here, whether PCRE2 takes them or not.
var unsupported = []string{
	`a\Nc`, `(?s)\N`, `a\N{2}`, `\C`, `\cA\c{\c@`, `\0\07\177`, `\0113`, `\o{101}`, `\113`, `(a)\11`, `\Qa\Q`, `\h\H`, `\h\h`, `\v\V`, `\v\v`, `a\Rb`,
	`\R\n`, `foo\Kbar`, `(foo)\Kbar`, `(?:a\Kb|ab)c`, `\Ga`, `(?m)^a$`, `(?m)^`, `(?m)a^`, `(?m)b$`, `(?m)\n^`, `[\101\8]+`, `[\Qa-]\E]+`, `(?xx)[ a b]+`,
	`(?x)[ a]+`, `[\E\Qb\E]`, `[[:a]+`, `(?i)(?^)a`, `(?i)(?^:a)b`, "(?x)a b#c\n [ ]", `(?x)a+ ?b`, `(?n)(a)(?<x>b)`, `(?sm)^.$.`, `(?J)(?<n>a)|(?<n>b)`,
	`(?|(Sat)ur|(Sun))day`, `(?|(a)(b)|(c))(d)`, `(?|(abc)|(def))\1`, `(?|(?<AA>aa)|(?<AA>bb))`, `(a*)*`, `a{0}b`, `(a?)*`, `(a?)*?b`, `(a?){3}`, `^(|a)+`,
	`^(|a){2,}`, `(?:a?){2,4}b`, `\R+`, `(?>\d+)foo`, `(?>a+)a`, `a++a`, `a?+a`, `a{1,2}+a`, `(?>a|ab)c`, `(abc|xyz){2,3}+`, `(?:a|ab)++c`,
	`(?:a|ab)*+c`, `(?:a|b){2,}+b`, `((?>a+)b)+`, `(sens|respons)e and \1ibility`, `((?i)rah)\s+\1`, `(?i)(rah)\1`, `(?<p1>(?i)rah)\s+\k<p1>`,
	`(?'p1'a)\k{p1}`, `(?P<p1>a)(?P=p1)`, `(?<p1>a)\g{p1}`, `(a)(b)\g2\g{-2}\g1`, `(abc(def)ghi)\g{-1}`, `(a|(bc))\2`, `(a)?\1b`, `(a)?(?:\1)?b`, `(a)\1*`,
	`(ab)\1{2}`, `(a?)\1*b`, `(?J)(?:(?<n>foo)|(?<n>bar))\k<n>`, `(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10`, `(a)\g1\061`, `\w+(?=;)`, `foo(?!bar)`,
	`(?!foo)...bar`, `(?<!foo)bar`, `(?<=bullock|donkey)x`, `(?<=abc(?:de|fg))x`, `(?<=\d{3})(?<!999)foo`, `(?<=(?<!foo)bar)baz`,
	`(?<=\d{3}(?!999)...)foo`, `x(?=(a+))a\1`, `x(?!(a))b`, `x(?=(a))*a`, `x(?=(a))?b`, `x(?!a)+b`, `x(?:(?=(a))a)+`, `(?<=^|,)x`, `(?<=a$)b`,
	`x(?=a*?(b))`, `(?<=(a))b\1`, `(\()?[^()]+(?(1)\))`, `(?<q>")?a(?(<q>)"|b)`, `(?'q'x)?a(?('q')y|b)`, `(?<q>x)?a(?(q)y)`, `(a)?(?(-1)b|c)`,
	`x(?(?=a)ab|cd)`, `x(?(?!a)cd|ab)`, `(?(?<=a)b|c)`, `x(?(?<!a)b|c)`, `(?:(a)|b)(?(1)c|d)`, `x(?(?=(a))ab)\1?`, `(?:(?(1)b|(a)))+`,
	`(*NO_START_OPT)(*LF)a`, `\`, `a\`, `\c`, "\\c\x01", `\c` + "\xe9", `\o`, `\o1`, `\o{}`, `\o{8}`, `\o{400}`, `\o{1`, `\x{`, `\x{}`, `\x{g}`, `\400`,
	`\N{name}`, `\N{U+41}`, `(?`, `(?i`, `(?q)`, `(?i-s-m)`, `(?^-i)`, `(?P`, `(?Px)`, `(?#`, `(?<`, `(?<>a)`, `(?<a`, `(?<a-b>c)`, `(?'a>b)`,
	`(?|(?<a>b)|(?<c>d))`, `(?<` + strings.Repeat("n", 129) + `>a)`, `(*`, `[\Qa]`, `[[.a.]]`, `[[=a=]]`, `[\X]`, `\g`, `\g{}`,
	`\g{a`, `\g0`, `\g-1`, `\g{-0}`, `(a)\g{-2}`, `\k`, `\ka`, `\k<a>`, `\k{a}`, `(?P=a)`, `(?<a>b)\k<a`, `\g{65536}`, `(?(1)a|b)`, `(a)(?(1)a|b|c)`,
	`(?(<n>)a)`, `(?(n)a)`, `(?(0)a)`, `(?(`, `(?()a)`, `(?(1a)b)`, `(?(?a)b)`, `(?(?=a)*b)`, `(?(?=a)b|c|d)`, `(?<=a*)b`, `(?<!a+)b`, `(?<=(?:a|b*))c`,
	`(?<=a{2,})b`, `(?=a\Kb)`, `(?<=\K)a`, `(?<=` + strings.Repeat(`a{60000}`, 2) + `)b`, strings.Repeat("(", 251) + strings.Repeat(")", 251),
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
		if p, err := Compile(text, 0); !errors.Is(err, ErrUnsupported) && (err != nil || p.exact) {
			t.Errorf("%.60s: got %v; want ErrUnsupported, of Compile or of Match", text, err)
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
		"/" + strings.Repeat("a?", 1_500),
		strings.Repeat("(", 240) + "a" + strings.Repeat("|b)*", 240),
		"^/" + strings.Repeat("(?!.*a.*b)", 300),
		strings.Repeat("(", 50) + "a" + strings.Repeat(")", 50) + strings.Repeat(`\1`, 2_000),
	} {
		Hard(text)
		_ = Quick(text)
		_, _ = ShapeOf(text)
		Beginning(text)
		pattern, err := Compile(text, Caseless)
		if err != nil {
			continue
		}
		if _, _, err := pattern.Match(strings.Repeat("a", 2_000)); err != nil && !errors.Is(err, ErrTooHard) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}
