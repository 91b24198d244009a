package pcre

import (
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Quote returns a pattern that matches the text literally.
func Quote(text string) string { return regexp.QuoteMeta(text) }

// Compiles reports whether PCRE2 certainly accepts a pattern, and the pattern has no
// effect besides matching. It is for values that Go matches, too, and also rejects valid
// patterns such as look-aheads.
func Compiles(pattern string) bool {
	_, err := plain(pattern, "(")
	return err == nil
}

// plain returns the tree of a pattern of common syntax only, with groups of the given
// openers.
func plain(pattern string, openers ...string) (*node, error) {
	for t := range tokens(pattern) {
		switch {
		case t.refusal != nil:
			return nil, t.refusal
		case t.kind == openToken && !slices.Contains(openers, t.text),
			t.kind == optionsToken, t.kind == commentToken, t.kind == quotedToken,
			t.kind == classToken && strings.Contains(t.text, "[:"),
			t.kind == quantifierToken && len(t.text) > 1 && strings.HasSuffix(t.text, "+"):
			return nil, fmt.Errorf("%s is not taken here", t.text)
		}
	}
	tree, _, err := parse(pattern, 0)
	switch {
	case !utf8.ValidString(pattern):
		return nil, errors.New("want UTF-8")
	case err != nil:
		return nil, err
	case tree.contains(func(n *node) bool { return n.kind >= lookAhead }):
		return nil, errors.New("a reference or a rare escape is not taken here")
	}
	return tree, nil
}

// Quick rejects a pattern that nginx may not accept, and one that may be slow, or make
// PCRE give up, on a name of up to 253 characters: it repeats a group that can match in
// several ways, or has too many repetitions and choices. It also rejects some patterns
// that would work.
func Quick(pattern string) error {
	tree, err := plain(pattern, "(", "(?:")
	if err != nil {
		return err
	}
	if tree.contains(repeatsSeveral) {
		return errors.New("a group that is repeated may hold no repetition and no | of its own")
	}
	if what := tree.irregular(nil); what != "" {
		return fmt.Errorf("%s is not taken here", what)
	}
	if tree.huge() {
		return errors.New("a pattern as large as this is not taken here")
	}
	all := tree.choiceBits()
	if !tree.anchored() {
		all += repetitionBits // it may begin anywhere
	}
	if all > mostBits {
		return errors.New("so many repetitions and choices could take nginx long")
	}
	return nil
}

// NameSteps is the limit of steps for a pattern among the names of a server. At the limit
// nginx closes the connection, even if the request is for another server. Patterns that
// Quick accepts stay far below it.
const NameSteps = 1_000_000

// mostBits allows two repetitions, or one in a pattern that is not anchored, and two small
// choices. nginx tries all their combinations on a name of 253 characters in less than a
// millisecond, far from PCRE's limit.
const (
	repetitionBits = 8
	mostBits       = 2*repetitionBits + 2
)

// choiceBits returns the binary logarithm of the number of ways to match a pattern.
func (n *node) choiceBits() int {
	total := 0
	for _, part := range n.parts {
		total += part.choiceBits()
	}
	switch {
	case n.kind == repeat && n.max == 1:
		total++
	case n.kind == repeat:
		total += repetitionBits
	case n.kind == alternation:
		total += bits.Len(uint(len(n.parts) - 1))
	}
	return total
}

// repeatsSeveral reports whether a node repeats a group that can match in several ways.
func repeatsSeveral(n *node) bool {
	return n.kind == repeat && n.max != 1 && !n.parts[0].endsItself() &&
		n.parts[0].contains(func(part *node) bool { return part.kind == repeat || part.kind == alternation })
}

// endsItself reports whether a node can be repeated in one way only, such as
// ([a-z]+\.): it ends with a byte that occurs nowhere else in it.
func (n *node) endsItself() bool {
	n = n.unwrapped()
	if n.kind != sequence || len(n.parts) != 2 {
		return false
	}
	first, end := n.parts[0], n.parts[1]
	return first.repeatsByte() && first.min > 0 && end.kind == oneByte && end.set.disjoint(first.parts[0].set)
}
