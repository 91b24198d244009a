// Package pcre matches Perl-compatible regular expressions as nginx does: PCRE2
// on bytes, in the C locale, with no option but the caseless one. A pattern and
// a subject go in; whether and where it matches comes out.
//
//	pattern, err := pcre.Compile(`^/(\w+)/(?!admin)`, pcre.Caseless)
//	groups, ok, err := pattern.Match("/shop/cart") // [0 6 1 5], true, nil
//
// Its answers are those of PCRE2 10.42 and 10.46, of Debian 12 and 13. Where
// those differ from each other, where they are mistaken, and for what is not
// built, Compile fails with ErrUnsupported; where PCRE2 might give up, Match fails
// with ErrTooHard. An answer without an error is PCRE2's.
//
// Covers compares two patterns: whether one matches all that the other does.
package pcre

import (
	"errors"
	"fmt"
)

// Flags change how a pattern is compiled.
type Flags uint

// Caseless is PCRE2_CASELESS: what `location ~*` has.
const Caseless Flags = 1

// ErrUnsupported is wrapped by the error of a pattern that this package does not
// do. PCRE2 may take it.
var ErrUnsupported = errors.New("not supported")

// ErrTooHard is Match's error where the search takes more steps or more room
// than PCRE2 is sure to have.
var ErrTooHard = errors.New("the match takes too many steps")

// SyntaxError says why PCRE2 refuses a pattern.
type SyntaxError struct {
	// Offset is where in the pattern it was found, in bytes.
	Offset int
	Reason string
}

// Error gives the reason and the place.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset) }

// Pattern is a compiled pattern. It may be used by several goroutines at once.
type Pattern struct {
	text    string
	program []instruction
	// registers is how many the program needs; those of the groups come first.
	registers int
	groups    int
	names     []string
}

// Compile reads a pattern. The error is a *SyntaxError or wraps ErrUnsupported.
func Compile(pattern string, flags Flags) (*Pattern, error) {
	p := &parser{in: pattern, ended: map[int]int{}}
	if flags&Caseless != 0 {
		p.options |= caseless
	}
	tree, err := p.parse()
	if err != nil {
		return nil, err
	}
	if tree.cost() > maxCost {
		return nil, fmt.Errorf("a pattern as large as this is %w", ErrUnsupported)
	}
	if what := hazard(tree); what != "" {
		return nil, fmt.Errorf("%s is %w: PCRE2 itself may miss a match", what, ErrUnsupported)
	}
	g := &generator{registers: captureRegisters(p.total)}
	tree.emit(g)
	g.add(instruction{op: opMatch})
	return &Pattern{text: pattern, program: g.program, registers: g.registers, groups: p.total, names: p.groupNames()}, nil
}

// String gives the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// NumGroups is the highest number of a group.
func (p *Pattern) NumGroups() int { return p.groups }

// GroupNames gives the name of each group by its number, "" for those without.
// The first, of the whole match, has none.
func (p *Pattern) GroupNames() []string { return append([]string(nil), p.names...) }
