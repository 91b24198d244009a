package pcre

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// inventor makes up patterns and subjects.
type inventor struct {
	*rand.Rand
	groups int
	depth  int
	// plain keeps to what is matched here.
	plain bool
}

func newInventor(seed uint64) *inventor {
	return &inventor{Rand: rand.New(rand.NewPCG(seed, 1))}
}

func (v *inventor) one(of ...string) string { return of[v.IntN(len(of))] }

// either is the plain one of two texts, or any.
func (v *inventor) either(plain, rare string) string {
	if v.plain || v.IntN(2) == 0 {
		return plain
	}
	return rare
}

// question makes up a pattern that PCRE2 takes most of the time.
func (v *inventor) question() question {
	v.groups, v.depth, v.plain = 0, 0, v.IntN(4) > 0
	q := question{pattern: v.either(v.one("", "", "", "^", "(?i)", "(?s)", "(?U)"), v.one("", "^", "(?m)", "(?x)", "(?J)", "(?n)")) + v.alternatives()}
	if v.IntN(2) == 0 {
		q.flags = Caseless
	}
	q.subjects = v.subjects()
	return q
}

// path makes up a pattern that begins as those of locations and rewrites do.
func (v *inventor) path() question {
	q := v.question()
	q.pattern = v.one("^", "^/", "/", "(?i)/") + "(?:" + q.pattern + ")"
	q.subjects = append(q.subjects, v.subjects()...)
	for i, s := range q.subjects {
		q.subjects[i] = v.one("", "/", "/", "x/") + s
	}
	return q
}

// long makes up a pattern with a loop, and subjects that keep it busy.
func (v *inventor) long() question {
	v.groups, v.depth, v.plain = 0, 3, v.IntN(4) > 0
	q := question{pattern: v.one("^", "/", "(?i)/") + "(?:" + v.group() + v.alternatives() + ")" + v.one("*", "+", "*?", "*+") + v.one("", "$", "b", "/")}
	for range 4 {
		q.subjects = append(q.subjects, "/"+strings.Repeat(v.one("a", "ab", "aab", "a/b", "abc"), 1+v.IntN(1200)))
	}
	return q
}

func (v *inventor) subjects() []string {
	subjects := []string{""}
	for range 8 {
		var s strings.Builder
		alphabet := v.one("ab", "abc", "aAbB", "ab/\n", "ab1_ -\n", "a\r\n\v\x85\xa0", "aB\xe9\xc9]^[")
		for range v.IntN(10) {
			s.WriteByte(alphabet[v.IntN(len(alphabet))])
		}
		subjects = append(subjects, s.String())
	}
	return subjects
}

func (v *inventor) alternatives() string {
	branches := []string{v.branch()}
	for v.IntN(4) == 0 {
		branches = append(branches, v.branch())
	}
	return strings.Join(branches, "|")
}

func (v *inventor) branch() string {
	var s strings.Builder
	for range v.IntN(4) + v.IntN(2) {
		s.WriteString(v.item())
	}
	return s.String()
}

func (v *inventor) item() string {
	switch v.IntN(12) {
	case 0:
		return v.either(v.one("^", "$", "$", `\b`, `\B`, `\A`, `\z`, `\Z`, "(?#x)", "(?i)", "(?-i)", "(?s)", `\Q\E`), v.one(`\G`, `\K`, "(?m)"))
	case 1:
		return v.class() + v.quantifier()
	case 2, 3, 4:
		if v.depth < 5 {
			v.depth++
			defer func() { v.depth-- }()
			return v.group()
		}
	case 5:
		if v.groups > 0 && !v.plain {
			n := 1 + v.IntN(v.groups)
			return fmt.Sprintf(v.one(`\%d`, `\g{%d}`, `\g%d`, `\g{-%d}`), n) + v.quantifier()
		}
	case 6:
		return v.either(v.one(`\d`, `\D`, `\w`, `\W`, `\s`, `\S`, ".", ".", "."), v.one(`\h`, `\H`, `\v`, `\V`, `\N`, `\R`, `\C`)) + v.quantifier()
	case 7:
		return v.either(v.one(`\n`, `\r`, `\x61`, `\x{62}`, `\e`, `\Qa*\E`, `\.`, `\/`, "{", "{1", "}", "]", "a{1"), v.one(`\061`, `\o{101}`, `\cA`, `\0`, `\11`, `\81`)) + v.quantifier()
	}
	return v.one("a", "b", "c", "a", "b", "A", "B", "/", "1") + v.quantifier()
}

func (v *inventor) quantifier() string {
	if v.IntN(2) == 0 {
		return ""
	}
	return v.either(v.one("*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}", "{0,2}", "{3,4}", "{1}")+v.one("", "", "", "?"), v.one("{0}", "*+", "++", "?+", "{1,2}+"))
}

func (v *inventor) group() string {
	opener := v.either(v.one("(", "(", "(", "(?:", "(?:", "(?i:", "(?-i:", "(?<n>", "(?P<m>", "(?'o'", "(?s-m:", "(?U:"), v.one("(?>", "(?|", "(?=", "(?!", "(?<=", "(?<!", "(?(", "(?^:"))
	switch opener {
	case "(", "(?<n>", "(?P<m>", "(?'o'":
		v.groups++
	case "(?(":
		condition := v.one("?=a", "?!b", "?<=a", "?<!b", "?=(a)", "?!(b)", "1", "2", "<n>", "n", "-1", "'m'")
		if strings.Contains(condition, "(") {
			v.groups++
		}
		branches := v.branch()
		if v.IntN(2) == 0 {
			branches += "|" + v.branch()
		}
		return "(?(" + condition + ")" + branches + ")" + v.quantifier()
	case "(?<=", "(?<!":
		fixed := v.one("a", "ab", "a|b", "a|bc", `\d`, "[ab]", "(?:a|b)c", "(a)", "^", "^a", "a{2}", "(?=a)", `\n`, "a(?<=b)", "", "(?<!c)b", `\bab`, ".", "a*", "a|b+")
		if strings.Contains(fixed, "(a)") {
			v.groups++
		}
		return opener + fixed + ")" + v.quantifier()
	}
	return opener + v.alternatives() + ")" + v.quantifier()
}

func (v *inventor) class() string {
	var s strings.Builder
	s.WriteString(v.one("[", "[", "[^"))
	if v.IntN(8) == 0 {
		s.WriteString(v.one("]", "-", "^"))
	}
	for range 1 + v.IntN(3) {
		s.WriteString(v.one("a", "b", "c", "A", "B", "a-c", "A-C", "0-9", `\d`, `\D`, `\w`, `\W`, `\s`, `\S`, `\h`, `\H`, `\v`, `\V`, `\n`, `\x61`, ".", "[.", "[=",
			`\b`, "[:alpha:]", "[:^alpha:]", "[:upper:]", "[:^lower:]", "[:punct:]", "[:space:]", "[:word:]", "[", "^", `\]`, `\\`, "-", " ", `\Qa-]\E`, `\E`, "[:", "[:x", ":]"))
	}
	s.WriteString("]")
	return s.String()
}

// regular makes up a small pattern without what Covers cannot tell.
func (v *inventor) regular() string {
	var s strings.Builder
	s.WriteString(v.one("^", "^", "^/", ""))
	for range 1 + v.IntN(3) {
		s.WriteString(v.one("a", "b", "/", ".", "[ab]", "[^a]", "(a|b)", "(?:a|bb)", "(a|)", "(?:ab)", "(/|$)", "a|b", "$", "\\z", "(?s).", "\\w", "(?i)A"))
		s.WriteString(v.one("", "", "", "", "*", "+", "?", "{2}", "{1,2}", "*?"))
	}
	return strings.ReplaceAll(strings.ReplaceAll(s.String()+v.one("", "", "$"), "$*", "$"), "$+", "$")
}

// noise makes up patterns that are as likely as not no patterns.
func (v *inventor) noise() question {
	var s strings.Builder
	for range v.IntN(12) {
		s.WriteString(v.one("a", "b", "1", "2", "3", "(", ")", "(?", "[", "]", "^", "$", "\\", "{", "}", ",", "<", ">", "=", "!", ":", "?", "*", "+", "|", "-", "#", " ", "\n",
			"P", "i", "x", "m", "n", "U", "J", "R", "Q", "E", "Q", `\E`, `\Q`, "g", "k", "x{", "o{", "'", "(?<", "(?x)", "(?xx)", "(?#", "[:alpha:]", "[^", "a-", "c", "8", "0", ".", "(?(", "(?|", "\x85", "\t", "_", "&"))
	}
	q := question{pattern: s.String(), subjects: v.subjects()}
	if v.IntN(2) == 0 {
		q.flags = Caseless
	}
	return q
}
