package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// node is a piece of a pattern: its text as a PCRE that compiles, and how to make
// a text that it is likely to match.
type node struct {
	text    string
	example func() string
	// endless is set where something in it is repeated without limit, and empty
	// where it may take no text. It is then repeated only a few times itself, so
	// that no match takes for ever.
	endless, empty bool
	// width is 0 for what takes no text and may not be repeated.
	width int
}

// grammar writes one pattern.
type grammar struct {
	*rand.Rand
	// rich adds what Go's regular expressions do not have.
	rich bool
	// groups counts those that capture; captured is what the last example put
	// into each that is closed.
	groups   int
	captured map[int]string
	// names is set if groups may have names.
	names bool
}

// wellKnown are patterns as they stand in many manifests.
var wellKnown = []struct {
	text     string
	examples []string
}{
	{`/foo(/|$)(.*)`, []string{"/foo", "/foo/", "/foo/x", "/foox"}},
	{`/foo/?(.*)`, []string{"/foo", "/foo/bar", "/foobar"}},
	{`/(.*)`, []string{"/", "/x/y"}},
	{`/()(.*)`, []string{"/", "/foo"}},
	{`/api/v[0-9]+/.*`, []string{"/api/v1/x", "/api/v10/", "/api/v/"}},
	{`/foo/bar$`, []string{"/foo/bar", "/foo/barx"}},
	{`/.*\.(js|css)$`, []string{"/a.js", "/x/b.css", "/a.jsx"}},
	{`/[^/]+/foo`, []string{"/x/foo", "//foo", "/x/y/foo"}},
}

// newPattern writes a pattern that begins with "/", and gives a maker of paths
// that it may match.
func newPattern(r *rand.Rand) (text string, example func() string) {
	if r.IntN(5) == 0 {
		known := wellKnown[r.IntN(len(wellKnown))]
		return known.text, func() string { return pick(r, known.examples) }
	}
	g := &grammar{Rand: r, rich: r.IntN(3) == 0, captured: map[int]string{}, names: r.IntN(8) == 0}
	nodes := []node{literal("/")}
	if r.IntN(2) == 0 {
		nodes = append(nodes, literal(pick(r, plainWords)))
	}
	for range r.IntN(4) {
		nodes = append(nodes, g.piece(0))
	}
	if r.IntN(5) == 0 {
		nodes = append(nodes, g.anchor(`$`))
	}
	whole := joined(nodes)
	return whole.text, func() string { clear(g.captured); return whole.example() }
}

var plainWords = []string{"foo", "bar", "Foo", "a", "b", "x", "api", "v2", "foo/", "foo/bar", "1", "a-b", "ü", "a b", "~", "%25", "foo", "bar/"}

func literal(text string) node {
	return node{text: text, example: func() string { return text }, width: len(text)}
}

// joined puts nodes one behind the other.
func joined(nodes []node) node {
	whole := node{width: 1, empty: true}
	for _, n := range nodes {
		whole.text += n.text
		whole.endless = whole.endless || n.endless
		whole.empty = whole.empty && (n.empty || n.width == 0)
	}
	whole.example = func() string {
		var out strings.Builder
		for _, n := range nodes {
			out.WriteString(n.example())
		}
		return out.String()
	}
	return whole
}

// piece is an atom, perhaps with a quantifier.
func (g *grammar) piece(depth int) node {
	n := g.atom(depth)
	if n.width == 0 || g.IntN(3) > 0 {
		return n
	}
	return g.repeated(n)
}

// quantifiers, with the numbers of repetitions that the examples have.
var quantifiers = []struct {
	text        string
	least, most int
	endless     bool
}{
	{"?", 0, 1, false}, {"{2}", 2, 2, false}, {"{0,2}", 0, 2, false}, {"{1,3}", 1, 3, false},
	{"*", 0, 3, true}, {"+", 1, 3, true}, {"{2,}", 2, 4, true},
}

func (g *grammar) repeated(n node) node {
	if len(n.text) > 1 && n.width > 1 {
		n.text = "(?:" + n.text + ")"
	}
	q := pick(g.Rand, quantifiers)
	if q.endless && (n.endless || n.empty) {
		q = quantifiers[0]
	}
	suffix := pick(g.Rand, []string{"", "", "?"})
	if g.rich && g.IntN(3) == 0 {
		suffix = "+"
	}
	return node{
		text: n.text + q.text + suffix, endless: n.endless || q.endless, empty: n.empty || q.least == 0, width: 1,
		example: func() string {
			var out strings.Builder
			for range q.least + g.IntN(q.most-q.least+1) {
				out.WriteString(n.example())
			}
			return out.String()
		},
	}
}

func (g *grammar) atom(depth int) node {
	switch choice := g.IntN(20); {
	case choice < 5:
		return literal(pick(g.Rand, plainWords))
	case choice < 7:
		return literal("/")
	case choice < 11:
		return g.class()
	case choice < 12:
		return g.anchor(pick(g.Rand, []string{`$`, `^`, `\b`, `\B`, `\z`, `\A`}))
	case choice < 13:
		return g.flags()
	case choice < 15 && g.rich:
		return g.look()
	case choice < 16 && g.rich:
		return g.reference()
	case choice < 17 && g.rich:
		return g.reset()
	case depth < 2:
		return g.group(depth + 1)
	}
	return literal(pick(g.Rand, plainWords))
}

// sets are what takes one byte, with some of those bytes.
var sets = []struct{ text, members string }{
	{".", "ab/. \xbc"}, {`\.`, "."}, {`\d`, "059"}, {`\D`, "a/"}, {`\w`, "aZ0_"}, {`\W`, "/-\xc3"}, {`\s`, " \t"}, {`\S`, "a/"},
	{"[a-z]", "abzQ"}, {"[^/]", "ab.-"}, {"[^/.]", "ab"}, {"[A-Z0-9_-]", "aZ9_-"}, {"[[:alpha:]]", "azAZ"}, {"[[:^digit:]]", "a/"},
	{"[]x]", "]x"}, {"[^]x]", "ab/"}, {`[\w.]`, "a_."}, {`[\d\s]`, "1 "}, {"[a-c-]", "ab-"}, {`[\]\\]`, `]\`}, {"[ü]", "\xc3\xbc"}, {`\x41`, "aA"}, {`[\x41-\x43]`, "aBC"},
	{`\$`, "$"}, {`\\`, `\`}, {`\/`, "/"}, {`[$^]`, "$^"}, {"[^a-z]", "1/_"}, {`[^\W_]`, "a1"}, {`"`, `"`}, {`\Q.*\E`, ".*"},
}

func (g *grammar) class() node {
	set := pick(g.Rand, sets)
	if strings.HasPrefix(set.text, `\Q`) {
		return node{text: set.text, example: func() string { return set.members }, width: 2}
	}
	return node{text: set.text, width: 1, example: func() string {
		at := g.IntN(len(set.members))
		return set.members[at : at+1]
	}}
}

// anchor is what takes no text.
func (g *grammar) anchor(text string) node {
	if g.rich && text == `\z` {
		text = `\Z`
	}
	return node{text: text, example: func() string { return "" }}
}

// flags change how what follows is matched.
func (g *grammar) flags() node {
	set := pick(g.Rand, []string{"(?i)", "(?-i)", "(?-i)", "(?s)", "(?m)", "(?U)", "(?i-s)"})
	if g.IntN(3) > 0 {
		return g.anchor(set)
	}
	inner := literal(pick(g.Rand, plainWords))
	inner.text = strings.TrimSuffix(set, ")") + ":" + inner.text + ")"
	return inner
}

// look is a look-ahead or a look-behind.
func (g *grammar) look() node {
	n := g.anchor(pick(g.Rand, []string{
		"(?=/)", "(?=.)", "(?=[a-z]+)", "(?=.*bar)", "(?!foo)", "(?!$)", "(?!.*x)", "(?![0-9])", "(?=(?:foo|x)/?)",
		"(?<=/)", "(?<=oo)", "(?<=foo|b)", "(?<!/)", "(?<!foo)", "(?<!a|bar)", `(?<=\w)`, "(?<=[a-z]{2})",
	}))
	return n
}

// reference is a back reference to a group that is closed.
func (g *grammar) reference() node {
	if len(g.captured) == 0 {
		return literal("/")
	}
	number := 1 + g.IntN(g.groups)
	if _, closed := g.captured[number]; !closed || number > 9 {
		return literal("x")
	}
	return node{text: fmt.Sprintf(`(?:\%d)`, number), width: 1, empty: true, example: func() string { return g.captured[number] }}
}

// reset is two groups that have one number.
func (g *grammar) reset() node {
	g.groups++
	return node{text: "(?|(foo)|(b))", width: 1, example: func() string { return pick(g.Rand, []string{"foo", "b"}) }}
}

// group is one of one to three alternatives, each of up to two pieces.
func (g *grammar) group(depth int) node {
	opener := pick(g.Rand, []string{"(", "(", "(", "(?:"})
	if g.rich && g.IntN(4) == 0 {
		opener = "(?>"
	}
	number := 0
	if opener == "(" {
		g.groups++
		number = g.groups
		opener = g.named(number)
	}
	inner := g.alternatives(depth)
	inner.text = opener + inner.text + ")"
	if number > 0 {
		g.captured[number] = ""
		example := inner.example
		inner.example = func() string { g.captured[number] = example(); return g.captured[number] }
	}
	return inner
}

// named gives the opening of a capturing group, in some patterns with a name.
func (g *grammar) named(number int) string {
	if !g.names {
		return "("
	}
	return fmt.Sprintf(pick(g.Rand, []string{"(?<n%d>", "(?P<n%d>", "(?'n%d'"}), number)
}

func (g *grammar) alternatives(depth int) node {
	var texts []string
	var examples []func() string
	whole := node{width: 1}
	for range 1 + g.IntN(3) {
		var nodes []node
		for range g.IntN(3) {
			nodes = append(nodes, g.piece(depth))
		}
		one := joined(nodes)
		texts, examples = append(texts, one.text), append(examples, one.example)
		whole.endless = whole.endless || one.endless
		whole.empty = whole.empty || one.empty
	}
	whole.text = strings.Join(texts, "|")
	whole.example = func() string { return pick(g.Rand, examples)() }
	return whole
}

// pick gives one of a list.
func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
