package pcre

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestExamplesMatch holds that each pattern has an example that it matches.
func TestExamplesMatch(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`^/foo(/|$)(.*)`, `^/foo/?(.*)`, `^/api/v[0-9]+/.*`, `^/.*\.(js|css)$`, `^/[^/]+/foo`, `^/a{2,3}b?\z`, `^/(?:x|yy)+$`,
		`^/\d{4}-\w+`, `^/[^a-zA-Z0-9]`, `^/(?i)Foo`, `^/a\.b$`, `^/(?>ab|a)c`, `^/(?=.*b)[ab]{1,3}`, `^/\x01`,
	} {
		p, err := Compile(text, Caseless)
		if err != nil {
			t.Fatal(err)
		}
		r, found := rand.New(rand.NewPCG(1, 1)), false
		for range 50 {
			example := p.Example(r.IntN)
			_, matches, err := p.Match(example)
			found = found || matches || err != nil
		}
		if !found {
			t.Errorf("%s: no example matches, such as %q", text, p.Example(r.IntN))
		}
	}
}

func TestExamplesAreShort(t *testing.T) {
	t.Parallel()
	p, err := Compile("^/"+strings.Repeat("a", 3*mostExample), 0)
	if err != nil {
		t.Fatal(err)
	}
	if example := p.Example(func(int) int { return 0 }); len(example) > 2*mostExample {
		t.Errorf("an example of %d bytes", len(example))
	}
}

// TestExamplesOfAny holds that any pattern has examples, and the same ones by the same choices.
func TestExamplesOfAny(t *testing.T) {
	t.Parallel()
	matched, all := 0, 0
	for seed := range uint64(2000) {
		q := newInventor(seed).path()
		p, err := Compile(q.pattern, q.flags)
		if err != nil {
			continue
		}
		first, second := rand.New(rand.NewPCG(seed, 2)), rand.New(rand.NewPCG(seed, 2))
		example := p.Example(first.IntN)
		if again := p.Example(second.IntN); again != example {
			t.Errorf("%s: %q and %q by the same choices", q.pattern, example, again)
		}
		all++
		if _, matches, err := p.Match(example); matches || err != nil {
			matched++
		}
	}
	if matched*2 < all {
		t.Errorf("only %d of %d examples match", matched, all)
	}
	t.Logf("%d of %d examples match, or it is not known", matched, all)
}
