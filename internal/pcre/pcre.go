// Package pcre reads Perl-compatible regular expressions as nginx does: PCRE2 on
// bytes, in the C locale, with no option except caseless. It provides everything that
// Sluice needs to know about a pattern:
//
//	pattern, err := pcre.Compile(`^/(\w+)/([0-9]+)$`, pcre.Caseless)
//	groups, ok, err := pattern.Match("/shop/7") // [0 7 1 5 6 7], true, nil
//
// The function tokens splits a pattern, and a parser makes a tree of the tokens. Rename,
// Beginning and Balanced need only the tokens; ShapeOf, Hard, Quick, Compile and Covers
// use the tree.
//
// Go's regexp does the matching, with the tree rewritten in the syntax that it shares
// with PCRE2, where nothing depends on a locale or an option. If the tree has more than
// that, Match can only tell that a subject does not match; otherwise it fails with
// ErrUnsupported. If PCRE2 might give up, it fails with ErrTooHard. A result without an
// error is that of PCRE2 10.42 and 10.46 (Debian 12 and 13) for the pattern as package
// render prints it.
package pcre

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// Flags are options of Compile.
type Flags uint

// Caseless is PCRE2_CASELESS, as for `location ~*`.
const Caseless = Flags(caseless)

// ErrUnsupported is wrapped by the error for a pattern that this package cannot match.
// PCRE2 may accept it.
var ErrUnsupported = errors.New("not supported")

// ErrTooHard is the error of Match if the search may need more steps or more memory
// than PCRE2 certainly has.
var ErrTooHard = errors.New("the match takes too many steps")

// SyntaxError is the reason why PCRE2 rejects a pattern.
type SyntaxError struct{ Reason string }

func (e *SyntaxError) Error() string { return e.Reason }

// Rejection returns the reason why PCRE2 rejects a pattern; empty if it may accept it.
func Rejection(pattern string, f Flags) string {
	var syntax *SyntaxError
	if _, err := Compile(pattern, f); errors.As(err, &syntax) {
		return syntax.Reason
	}
	return ""
}

// Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	// length is that of the pattern's text.
	length int
	tree   *node
	names  []string
	// looks are look-aheads that are tried first, separately. If Go lacks another part of
	// the pattern, exact is false, and Go's pattern matches more than this one.
	looks []place
	exact bool
	// atStart is the pattern anchored at the start, if it is not exact and not anchored
	// itself. A match at the start is the first one.
	atStart *Pattern
	// regexp is Go's pattern if all look-aheads hold.
	regexp func() (*regexp.Regexp, error)
	// automaton returns nil if the pattern cannot be compared.
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
	p := &Pattern{length: len(text), tree: tree, names: names}
	if tree.anchored() {
		tree.places(0, &p.looks)
	}
	p.exact = tree.irregular(p.looks) == ""
	p.regexp = sync.OnceValues(func() (*regexp.Regexp, error) { return regexp.Compile(tree.regular(nil)) })
	p.automaton = sync.OnceValue(func() *automaton { return automatonOf(tree.regular(nil)) })
	return p
}

// Taken reports whether PCRE2 certainly accepts a pattern.
func Taken(pattern string) bool {
	tree, _, err := parse(pattern, 0)
	return err == nil && tree.size() <= maxSize && !tree.contains((*node).mayBeRefused)
}

// NumGroups is the number of groups.
func (p *Pattern) NumGroups() int { return len(p.names) }

// GroupNames returns the name of each group by its number, "" for those without. Group 0,
// the whole match, has none.
func (p *Pattern) GroupNames() []string { return append([]string{""}, p.names...) }

// Shape describes the cost of a pattern.
type Shape struct {
	// Size is an upper bound of the size of PCRE2's compiled form, in bytes; above 60,000
	// it is not known.
	Size int
	// Anchored is set if every match begins at the start of the subject.
	Anchored bool
}

// ShapeOf reads a pattern. The error is a *SyntaxError or wraps ErrUnsupported. It
// supports more patterns than Compile.
func ShapeOf(pattern string) (Shape, error) {
	tree, _, err := parse(pattern, 0)
	if err != nil {
		return Shape{}, err
	}
	return Shape{Size: tree.size(), Anchored: tree.anchored()}, nil
}
