package pcre

import (
	"strings"
	"testing"
)

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		outer, inner  string
		covers, known bool
	}{
		{"^/foo", "^/foo", true, true},
		{"^/foo", "^/foo/", true, true},
		{"^/foo/", "^/foo", false, true},
		{"^/FOO", "^/foo/bar", true, true},
		{"^/foo(/|$)", "^/foo/bar", true, true},
		{"^/foo(/|$)", "^/foo$", true, true},
		{"^/foo(/|$)", "^/foobar", false, true},
		{"^/foo(/|$)(.*)", "^/foo/(.*)", true, true},
		{"^/foo(/.*)?$", "^/foo/bar$", true, true},
		{"^/foo(/.*)?$", "^/foo/bar", false, true}, // "." is no newline
		{"^/[a-z]+/[0-9]+", "^/api/1", true, true},
		{"^/[a-z]+/[0-9]+$", "^/api/1", false, true},
		{"^/(.*)\\.php$", "^/blog/.+\\.php$", true, true},
		{"^/.*", "^/x(y|z)?", true, true},
		{"^/a$", "^/a\\z", true, true},
		{"^/a\\z", "^/a$", false, true}, // "/a\n"
		{"^/a$", "^/a\\Z", true, true},
		{"^/a(?:b|c){2,3}", "^/a(?:bb|cc)", true, true},
		{"^/a{2,4}b", "^/a{3}b", true, true},
		{"^/a{2,4}b", "^/a{1,3}b", false, true},
		{"^/a.*?b", "^/a.*b", true, true},
		{"foo", "^/foo", true, true},
		{"^/foo", "foo", false, true},
		{"", "^/x", true, true},
		{"^/a|^/b", "^/[ab]", true, true},
		{"^/[ab]", "^/a|^/b|^/c", false, true},
		{"^/a|/b", "^/c/b", true, true},
		{"^/\\d", "^/\\w", false, true},
		{"^/\\w", "^/\\d", true, true},
		{"^/\\bfoo", "^/foo", false, false},
		{"^/(a|b)*a(a|b){12}$", "^/(a|b)*b(a|b){12}$", false, false}, // too large
	} {
		outer, err1 := Compile(test.outer, Caseless)
		inner, err2 := Compile(test.inner, Caseless)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		covers, known := (&Comparisons{Left: maxWork}).Covers(outer, inner)
		if covers != test.covers || known != test.known {
			subject, _, _ := (&Comparisons{Left: maxWork}).uncovered(outer, inner)
			t.Errorf("Covers(%s, %s) = %v, %v; want %v, %v (%q)", test.outer, test.inner, covers, known, test.covers, test.known, subject)
		}
	}
}

// The subject that shows a difference is a shortest one, of bytes that can be
// read.
func TestWitness(t *testing.T) {
	t.Parallel()
	outer, _ := Compile("^/foo/[0-9]+$", Caseless)
	inner, _ := Compile("^/foo/", Caseless)
	if subject, found, done := (&Comparisons{Left: maxWork}).uncovered(outer, inner); subject != "/foo/" || !found || !done {
		t.Errorf("got %q, %v, %v", subject, found, done)
	}
}

func TestCommon(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		one, other, subject string
		found, sure, done   bool
	}{
		{"^/.well-known/acme-challenge/tok", "^/api/(.*)", "", false, false, true},
		{"^/.well-known/acme-challenge/tok", "^/x/(.*)", "", false, false, true},
		{"^/.well-known/", "^/(.*)", "/awell-known/", true, true, true},
		{"^/foo", "^/FOO/bar", "/foo/bar", true, true, true},
		{"^/a$", "^/b$", "", false, false, true},
		{"^/[a-f]+\\z", "^/[f-z]{2}", "/ff", true, true, true},
		{"^/[ab]+$", "^/[bc]+$", "/b", true, true, true},
		{"^/a\\z", "^/a\\n$", "", false, false, true},
		{"^/a$", "^/a\\n$", "/a\n", true, true, true},
		{"^/(?!a)(.*)", "^/ab", "/ab", true, false, true}, // a look-ahead is not decided
		{"^/(?!a)b", "^/c", "", false, false, true},
		{"^/\\bfoo", "^/foo", "", false, false, false},
	} {
		one, err1 := Compile(test.one, Caseless)
		other, err2 := Compile(test.other, Caseless)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for range 2 {
			subject, found, sure, done := (&Comparisons{Left: maxWork}).Common(one, other)
			if subject != test.subject || found != test.found || sure != test.sure || done != test.done {
				t.Errorf("Common(%v, %v) = %q, %v, %v, %v; want %q, %v, %v, %v", one, other, subject, found, sure, done, test.subject, test.found, test.sure, test.done)
			}
			one, other = other, one
		}
	}
}

// Short subjects and the one that is returned bear out what Common says of invented pairs.
func TestCommonInvented(t *testing.T) {
	t.Parallel()
	v := newInventor(6)
	subjects := short("ab/\n", 5)
	yes, no := 0, 0
	both := func(one, other *Pattern, subject string) bool {
		_, a, err1 := one.Match(subject)
		_, b, err2 := other.Match(subject)
		return a && b && err1 == nil && err2 == nil
	}
	for range 400 {
		one, err1 := Compile("^"+v.regular(), 0)
		other, err2 := Compile("^"+v.regular(), 0)
		if err1 != nil || err2 != nil {
			continue
		}
		subject, found, sure, done := (&Comparisons{Left: maxWork}).Common(one, other)
		switch {
		case found && sure:
			if yes++; !both(one, other, subject) {
				t.Errorf("%v and %v do not both match %q", one, other, subject)
			}
		case !found && done:
			no++
			for _, subject := range subjects {
				if both(one, other, subject) {
					t.Errorf("%v and %v both match %q", one, other, subject)
					break
				}
			}
		}
	}
	if yes < 50 || no < 50 {
		t.Errorf("got %d common subjects and %d times none", yes, no)
	}
}

// All short subjects bear out what Covers says of invented pairs, and there is a
// subject for each pair where it says no.
func TestCoversInvented(t *testing.T) {
	t.Parallel()
	v := newInventor(1)
	subjects := short("ab/\n", 5)
	yes, no := 0, 0
	for range 400 {
		outer, err1 := Compile(v.regular(), 0)
		inner, err2 := Compile(v.regular(), 0)
		if err1 != nil || err2 != nil {
			continue
		}
		covers, known := (&Comparisons{Left: maxWork}).Covers(outer, inner)
		if !known {
			continue
		}
		if counterexample := contradiction(outer, inner, subjects); covers && counterexample != "" {
			t.Errorf("%v covers %v, but only the latter matches %s", outer, inner, counterexample)
		}
		if covers {
			yes++
			continue
		}
		no++
		if subject, _, _ := (&Comparisons{Left: maxWork}).uncovered(outer, inner); contradiction(outer, inner, []string{subject}) == "" {
			t.Errorf("%q is no witness for %v and %v", subject, outer, inner)
		}
	}
	if yes < 50 || no < 50 {
		t.Errorf("only %d pairs are covered and %d are not", yes, no)
	}
}

// contradiction finds a subject that only inner matches, quoted.
func contradiction(outer, inner *Pattern, subjects []string) string {
	for _, subject := range subjects {
		_, innerMatches, err1 := inner.Match(subject)
		_, outerMatches, err2 := outer.Match(subject)
		if err1 == nil && err2 == nil && innerMatches && !outerMatches {
			return "\"" + subject + "\""
		}
	}
	return ""
}

// short gives all texts of some bytes up to a length.
func short(alphabet string, length int) []string {
	all := []string{""}
	for from := 0; length > 0; length-- {
		to := len(all)
		for _, text := range all[from:to] {
			for _, c := range strings.Split(alphabet, "") {
				all = append(all, text+c)
			}
		}
		from = to
	}
	return all
}

// FuzzCovers goes on inventing.
func FuzzCovers(f *testing.F) {
	f.Add(uint64(2))
	subjects := short("ab/\n", 5)
	f.Fuzz(func(t *testing.T, seed uint64) {
		v := newInventor(seed)
		outer, err1 := Compile(v.one(v.regular(), v.question().pattern), 0)
		inner, err2 := Compile(v.one(v.regular(), v.question().pattern), 0)
		if err1 != nil || err2 != nil {
			return
		}
		if covers, _ := (&Comparisons{Left: maxWork}).Covers(outer, inner); covers {
			if subject := contradiction(outer, inner, subjects); subject != "" {
				t.Errorf("%v covers %v, but only the latter matches %s", outer, inner, subject)
			}
		}
	})
}
