// Package pcre reads Perl-compatible regular expressions as nginx does: PCRE2 on
// bytes, in the C locale, with no option but the caseless one. All that Sluice has
// to know of a pattern comes from here:
//
//	pattern, err := pcre.Compile(`^/(\w+)/([0-9]+)$`, pcre.Caseless)
//	groups, ok, err := pattern.Match("/shop/7") // [0 7 1 5 6 7], true, nil
//
// One reader (tokens) cuts a pattern into its parts, and one parser makes a tree
// of them. Rename, Beginning and Balanced need the parts only; ShapeOf, Hard,
// Quick, Compile and Covers go by the tree.
//
// Go's regexp does the matching: it gets the tree written anew in the syntax that it
// shares with PCRE2, where nothing depends on a locale or an option. If the tree has
// more than that, only a subject that does not match even without it is told; for
// others Match fails with ErrUnsupported. Where PCRE2 might give up, it fails with
// ErrTooHard. An answer without an error is that of PCRE2 10.42 and 10.46, of Debian 12
// and 13, for the pattern as package render writes it.
package pcre

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// Flags change how a pattern is compiled.
type Flags uint

// Caseless is PCRE2_CASELESS: what `location ~*` has.
const Caseless = Flags(caseless)

// ErrUnsupported is wrapped by the error of a pattern that this package does not
// match. PCRE2 may take it.
var ErrUnsupported = errors.New("not supported")

// ErrTooHard is Match's error where the search may take more steps or more room
// than PCRE2 is sure to have.
var ErrTooHard = errors.New("the match takes too many steps")

// SyntaxError says why PCRE2 refuses a pattern.
type SyntaxError struct{ Reason string }

func (e *SyntaxError) Error() string { return e.Reason }

// Pattern is a compiled pattern. It may be used by several goroutines at once.
type Pattern struct {
	text  string
	tree  *node
	names []string
	// looks are tried first, by themselves. If the pattern has more that Go does not
	// do, exact is false: Go then matches all that the pattern does, and more.
	looks []place
	exact bool
	// atStart is the pattern with ^ before all, where that may be exact. A match at
	// the start is the first one.
	atStart *Pattern
	// regexp is what Go makes of the pattern if all look-aheads hold.
	regexp func() (*regexp.Regexp, error)
	// automaton is nil where the pattern cannot be compared.
	automaton func() *automaton
}

// Compile reads a pattern. The error is a *SyntaxError or wraps ErrUnsupported.
func Compile(pattern string, f Flags) (*Pattern, error) {
	tree, names, err := parse(pattern, flags(f))
	if err != nil {
		return nil, err
	}
	if tree.huge() {
		return nil, fmt.Errorf("a pattern as large as this is %w", ErrUnsupported)
	}
	tree.tame(follower{kind: success})
	p := patternOf(pattern, tree, names)
	if !p.exact && !tree.anchored() {
		atStart := &node{kind: sequence, parts: []*node{{kind: subjectStart}, tree}}
		atStart.findLeads()
		p.atStart = patternOf(pattern, atStart, names)
	}
	return p, nil
}

func patternOf(text string, tree *node, names []string) *Pattern {
	p := &Pattern{text: text, tree: tree, names: names}
	if tree.anchored() {
		tree.places(0, &p.looks)
	}
	p.exact = tree.irregular(p.looks) == ""
	p.regexp = sync.OnceValues(func() (*regexp.Regexp, error) { return regexp.Compile(tree.regular(nil)) })
	p.automaton = sync.OnceValue(func() *automaton { return automatonOf(tree.regular(nil)) })
	return p
}

// Taken reports whether PCRE2 is sure to take a pattern.
func Taken(pattern string) bool {
	tree, _, err := parse(pattern, 0)
	return err == nil && tree.size() <= maxSize && !tree.contains(func(n *node) bool { return n.kind == lookBehind || n.kind >= branchReset })
}

// String gives the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// NumGroups is the number of groups.
func (p *Pattern) NumGroups() int { return len(p.names) }

// GroupNames gives the name of each group by its number, "" for those without.
// The first, of the whole match, has none.
func (p *Pattern) GroupNames() []string { return append([]string{""}, p.names...) }

// Shape is what a pattern's text tells of the work that it may be.
type Shape struct {
	// Size is an upper bound of what PCRE2's compiled form takes, in bytes, where
	// it is no more than 60,000.
	Size int
	// Anchored is set if a match can begin at the start of the subject only.
	Anchored bool
}

// ShapeOf reads a pattern. The error is a *SyntaxError or wraps ErrUnsupported,
// which it does for less than Compile.
func ShapeOf(pattern string) (Shape, error) {
	tree, _, err := parse(pattern, 0)
	if err != nil {
		return Shape{}, err
	}
	return Shape{Size: tree.size(), Anchored: tree.anchored()}, nil
}
