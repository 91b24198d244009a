package pcre

import (
	"errors"
	"strings"
	"testing"
)

// compare asks PCRE2 and fails where we answer something else. What we do not
// support is not asked: the machine code of some PCRE2 crashes on it.
func compare(t testing.TB, command []string, questions []question) {
	t.Helper()
	var asked []question
	for _, q := range questions {
		if _, err := Compile(q.pattern, q.flags); !errors.Is(err, ErrUnsupported) {
			asked = append(asked, q)
		}
	}
	for i, theirs := range ask(t, command, asked) {
		if d := disagreement(asked[i], theirs); d != "" {
			t.Error(d)
		}
	}
}

// What the tables of this package expect is what PCRE2 does.
func TestTablesAsPCRE2(t *testing.T) {
	t.Parallel()
	var questions []question
	for _, test := range matches {
		questions = append(questions, question{pattern: test.pattern, subjects: []string{test.subject}})
	}
	for _, pattern := range refused {
		questions = append(questions, question{pattern: pattern})
	}
	for name, command := range references(t) {
		for i, theirs := range ask(t, command, questions[len(matches):]) {
			if theirs.refused == "" {
				t.Errorf("%s: PCRE2 takes %q", name, refused[i])
			}
		}
		compare(t, command, questions)
		compare(t, machineCode(command), questions)
	}
}

// Invented patterns on invented subjects, by PCRE2's interpreter. Most patterns
// are sound, some are noise.
func TestInventedAsPCRE2(t *testing.T) {
	t.Parallel()
	v := newInventor(1)
	var questions []question
	for range 2_000 {
		questions = append(questions, v.question(), v.question(), v.noise())
	}
	answered := 0
	for _, q := range questions {
		if p, err := Compile(q.pattern, q.flags); err == nil && p.exact {
			answered++
		}
	}
	if answered < len(questions)/2 {
		t.Errorf("of %d patterns only %d are told", len(questions), answered)
	}
	for _, command := range references(t) {
		compare(t, command, questions)
	}
}

// Patterns that begin as those of locations and rewrites do, by the machine code
// that nginx has them compiled to.
func TestInventedPathsAsNginx(t *testing.T) {
	t.Parallel()
	v := newInventor(2)
	var questions []question
	for range 2_000 {
		questions = append(questions, v.path())
	}
	for _, command := range references(t) {
		compare(t, machineCode(command), questions)
	}
}

// Where we answer, PCRE2's machine code has room for the search.
func TestLimitsAsNginx(t *testing.T) {
	t.Parallel()
	v := newInventor(3)
	var questions []question
	for range 40 {
		questions = append(questions, v.long())
	}
	for _, pattern := range []string{`^/(?:a|b)*$`, `^/(a|b)*$`, `^/(?:(a)|(b))*$`, `^/((a)|(b)|(c)|(d))*$`, `^/(((((a|b)))))*$`, `^/(?:a?b?)*$`, `^/(?:a{1,2}?|b)*$`, `^/(?>a|b)*$`, `^/(?:.*a)*$`, `^/(?:a|b)*+$`} {
		q := question{pattern: pattern}
		for length := 1; length < 4_000; length += 1 + length/3 {
			q.subjects = append(q.subjects, "/"+strings.Repeat("ab", length))
		}
		questions = append(questions, q)
	}
	for _, command := range references(t) {
		compare(t, machineCode(command), questions)
	}
}

// FuzzInventedAsPCRE2 goes on inventing.
func FuzzInventedAsPCRE2(f *testing.F) {
	f.Add(uint64(4))
	commands := references(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		v := newInventor(seed)
		var sound, paths []question
		for range 50 {
			sound = append(sound, v.question(), v.noise())
			paths = append(paths, v.path())
		}
		paths = append(paths, v.long())
		for _, command := range commands {
			compare(t, command, sound)
			compare(t, machineCode(command), paths)
		}
	})
}

// FuzzCompile takes any pattern and any subject.
func FuzzCompile(f *testing.F) {
	for _, test := range matches {
		f.Add(test.pattern, test.subject, false)
	}
	for _, pattern := range append(refused, unsupported...) {
		f.Add(pattern, "ab", true)
	}
	commands := references(f)
	f.Fuzz(func(t *testing.T, pattern, subject string, fold bool) {
		q := question{pattern: pattern, subjects: []string{subject}}
		if fold {
			q.flags = Caseless
		}
		if strings.ContainsAny(subject, `<\`) || len(pattern)+len(subject) > 1_000 {
			return
		}
		for _, command := range commands {
			compare(t, command, []question{q})
		}
	})
}
