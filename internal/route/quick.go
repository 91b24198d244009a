package route

import (
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Quick refuses a pattern that nginx may not take at all, and one that PCRE may
// give up on, or take long for, with a name of up to 253 characters: one that
// repeats what can match in several ways already, and one with so many repetitions
// and choices that trying them all would take long. A pattern has to be one that
// Go takes too, and of groups it may have (..) and (?:..). Quick rather says no to
// what would do.
func Quick(pattern string) error {
	pattern = strings.ReplaceAll(pattern, "(?:", "(")
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return err
	}
	if found := dubious.FindString(pattern); found != "" {
		return fmt.Errorf("%s is not taken here", found)
	}
	e := effort{open: []choices{{}}}
	for _, at := range part.FindAllStringIndex(pattern, -1) {
		if err := e.take(pattern, at[0], at[1]); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(pattern, "^") || e.open[0].branches > 0 {
		e.bits += repetitionBits // it may begin anywhere
	}
	if e.bits+e.open[0].bits() > mostBits {
		return errors.New("so many repetitions and choices could take nginx long")
	}
	return nil
}

// mostBits is what two repetitions come to, or one in a pattern that may begin
// anywhere, and two small choices: nginx tries them all on a name of 253 characters
// in less than a millisecond, and far from PCRE's limit.
const (
	repetitionBits = 8
	mostBits       = 2*repetitionBits + 2
)

var (
	// part is a text that is read as one: an escape, a class, a quantifier, or a
	// character.
	part = regexp.MustCompile(`(?s)\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|` + quantifiers + `|.`)
	// quantifier tells how often something is repeated: maybe, or many times.
	quantifier = regexp.MustCompile(`^(?:((?:\?|\{(?:0,)?1\})\??)|` + quantifiers + `)$`)
	// labels are repeated in one way only: each ends with its dot.
	labels = regexp.MustCompile(`^\((?:\[[A-Za-z0-9_-]+\]|\[\^\.\]|\\[wd])\+\\\.\)$`)
)

const quantifiers = `(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??`

// effort adds up in how many ways a pattern can match.
type effort struct {
	// bits is the logarithm of what ended.
	bits int
	// open are the groups that did not end yet, the innermost last.
	open []choices
	// ended is the group that ended just before.
	ended choices
}

// choices are what a group can match in several ways.
type choices struct {
	// group is its text, once it ended.
	group string
	start int
	// branches is how often there is a "|", several whether there is a choice at all.
	branches int
	several  bool
}

func (c choices) bits() int { return bits.Len(uint(c.branches)) }

func (e *effort) take(pattern string, start, end int) error {
	text, inner, ended := pattern[start:end], &e.open[len(e.open)-1], e.ended
	e.ended = choices{}
	maybe := quantifier.FindStringSubmatch(text)
	switch {
	case maybe != nil && maybe[1] != "":
		e.bits++
		inner.several = true
	case maybe != nil:
		if ended.several && !labels.MatchString(ended.group) {
			return errors.New("a group that is repeated may hold no repetition and no | of its own")
		}
		e.bits += repetitionBits
		inner.several = true
	case text == "|":
		inner.branches++
		inner.several = true
	case text == "(":
		e.open = append(e.open, choices{start: start})
	case text == ")":
		e.shut(pattern, end)
	}
	return nil
}

// shut ends the innermost group; what it can do, the one around it can.
func (e *effort) shut(pattern string, end int) {
	last := len(e.open) - 1
	e.ended = e.open[last]
	e.ended.group = pattern[e.ended.start:end]
	e.bits += e.ended.bits()
	e.open = e.open[:last]
	around := &e.open[last-1]
	around.several = around.several || e.ended.several
}
