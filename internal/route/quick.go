package route

import (
	"errors"
	"math/bits"
	"regexp"
)

// Quick refuses a pattern that PCRE may give up on, or take long for, with a name
// of up to 253 characters: one whose groups cannot be told (see Rename), such as a
// recursion or (*LIMIT_MATCH=0), one that repeats what can match in several ways
// already, and one with so many repetitions and choices that trying them all would
// take long. It rather says no to what would be quick.
func Quick(pattern string) error {
	renamed, _, err := Rename(pattern)
	if err != nil {
		return err
	}
	e := effort{open: []choices{{}}}
	for _, at := range part.FindAllStringIndex(renamed, -1) {
		if err := e.take(renamed, at[0], at[1]); err != nil {
			return err
		}
	}
	if e.bits+e.open[0].bits() > mostBits {
		return errors.New("so many repetitions and choices could take nginx long")
	}
	return nil
}

// mostBits is what four repetitions come to, and four small choices: nginx tries
// them all on a name of 253 characters in some milliseconds and within PCRE's limit.
const (
	repetitionBits = 8
	mostBits       = 4*repetitionBits + 4
)

var (
	// part is a text that is read as one: an escape, a class, what opens a group,
	// options, a quantifier, or a character.
	part = regexp.MustCompile(`(?s)\\Q.*?\\E|\\.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|\(\?[imsU-]*\)|\((?:\?(?:<?[=!]|[>|]|[imsU-]*:))?|` + quantifiers + `|.`)
	// quantifier tells how often something is repeated: maybe, or many times.
	quantifier = regexp.MustCompile(`^(?:(\?[+?]?|\{(?:0?,)?1\}[+?]?)|` + quantifiers + `)$`)
	// labels are repeated in one way only: each ends with its dot.
	labels = regexp.MustCompile(`^\((?:\?:)?(?:\[[A-Za-z0-9_-]+\]|\[\^\.\]|\\[wd])\+\\\.\)$`)
)

const quantifiers = `(?:[*+?]|\{[0-9]*(?:,[0-9]*)?\})[+?]?`

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
	case text[0] == '(' && text[len(text)-1] != ')':
		e.open = append(e.open, choices{start: start})
	case text == ")" && len(e.open) > 1:
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
