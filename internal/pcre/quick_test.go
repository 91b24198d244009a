package pcre

import (
	"strings"
	"testing"
)

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
	pattern, err := Compile("^"+Quote(text)+"$", Caseless)
	if err != nil {
		t.Fatal(err)
	}
	if _, matches, err := pattern.Match(text); !matches || err != nil {
		t.Errorf("%s does not match %s", Quote(text), text)
	}
}

func TestQuick(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		`^api[0-9]+\.example\.net$`, `.`, `^(www\.|api\.)?example\.com$`, `^([a-z0-9-]+\.)+example\.com$`, `^(?:\w+\.){2}example\.com$`, `^(?:[^.]+\.)*example\.com$`,
		`^a.*b.*c$`, `a.*b`, `^(.+\.)?(de|en|fr|it|nl|pl)\.example\.com$`, `^[(+*]{1,3}\.x$`, `a{x}b+`, `^(a)(b)(c)+$`, `^\(a+\)+$`, `^[a-z]{2}\.[0-9]+$`, `^(?:(?:a|b)c)?$`, `^(a??)??$`, `[]+(]*`,
	} {
		if err := Quick(pattern); err != nil {
			t.Errorf("%s is refused: %v", pattern, err)
		}
	}
	for pattern, want := range map[string]string{
		`(*LIMIT_MATCH=0).*`: "(* is not taken", `x(?R)`: `the group "(?R)" is not taken`, `(a|(?1))b`: `the group "(?1))b" is not taken`, `a\g{-1}`: `\g is not taken`, `[a`: "[ needs its ]", `[z-a]`: "a range whose end is before", `a)`: "unmatched )",
		`(?!a)b`: "(?! is not taken", `(?i)a`: "(?i) is not taken", `[[:alpha:]]`: "[[:alpha:]] is not taken", `\pN`: `\p is not supported`, `^*a`: "a quantifier without",
		`(a+)+`: "may hold no", `((a+))*x`: "may hold no", `(?:.+\.)+x`: "may hold no", `(a|a)+`: "may hold no", `(a?)+`: "may hold no", `(a?){20}`: "may hold no",
		`((a|b)c)+`: "may hold no", `(a{1,3})+`: "may hold no", `([a-z.]+\.)+`: "may hold no", `(\[a+)+`: "may hold no", `(?:a+?)*?`: "may hold no",
		`.*.*.*.*.*`: "take nginx long", `^a.*b.*c.*d$`: "take nginx long", `.*.*[?]`: "take nginx long", `^a|b.*c.*d`: "take nginx long", strings.Repeat("a?", 40): "take nginx long", strings.Repeat("(a|a)", 40): "take nginx long", `a{1,99}b{1,99}c{1,99}d{2,99}e{0,99}`: "take nginx long",
	} {
		if err := Quick(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", pattern, err, want)
		}
	}
}

// The verdict on a name is never open: what Quick takes is matched, and within the
// steps that nginx has for a name.
func TestQuickIsTold(t *testing.T) {
	t.Parallel()
	v := newInventor(5)
	taken := 0
	for range 4_000 {
		v.groups, v.depth, v.plain = 0, 2, true
		pattern := v.one("", "^") + v.alternatives()
		if Quick(pattern) != nil {
			continue
		}
		taken++
		compiled, err := Compile(pattern, Caseless)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		for _, part := range []string{"a", "ab", "b.", "abc-", "1", "aab"} {
			name := strings.Repeat(part, 253)[:253]
			if _, _, err := compiled.MatchWithin(name, NameSteps); err != nil {
				t.Errorf("%q on 253 bytes of %q: %v", pattern, part, err)
			}
		}
	}
	if taken < 500 {
		t.Errorf("Quick takes only %d", taken)
	}
}
