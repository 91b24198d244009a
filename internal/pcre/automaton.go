package pcre

import (
	"regexp/syntax"
	"slices"
)

// automaton is a nondeterministic automaton for a pattern. It accepts the subjects in
// which the pattern matches somewhere. Its states are the instructions of Go's compiled
// pattern.
type automaton struct{ states []state }

type state struct {
	// set are the bytes that lead to the state to; nil is none.
	set *set
	to  int
	// free are the next states without a byte, if guard holds.
	free  []int
	guard guard
	// matched is set if the pattern has matched; the state reads the rest.
	matched bool
}

// guard is the condition for leaving a state without a byte.
type guard int

const (
	unguarded guard = iota
	guardStart
	guardFinalEnd
	guardEnd
)

// maxStates limits the size of an automaton.
const maxStates = 20_000

// automatonOf returns the automaton of a pattern in Go's syntax; nil if the pattern uses
// word boundaries or is too large.
func automatonOf(regular string) *automaton {
	tree, err := syntax.Parse(regular, syntax.Perl)
	if err != nil {
		return nil
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxStates {
		return nil
	}
	// The last state reads the text before the match.
	a := &automaton{states: make([]state, len(program.Inst)+1)}
	a.states[a.start()] = state{set: &anyByte, to: a.start(), free: []int{program.Start}}
	guards := map[syntax.EmptyOp]guard{syntax.EmptyBeginText: guardStart, syntax.EmptyEndLine: guardFinalEnd, syntax.EmptyEndText: guardEnd}
	for i := range program.Inst {
		in, s := &program.Inst[i], &a.states[i]
		switch in.Op {
		case syntax.InstMatch:
			s.set, s.to, s.matched = &anyByte, i, true
		case syntax.InstAlt, syntax.InstAltMatch:
			s.free = []int{int(in.Out), int(in.Arg)}
		case syntax.InstCapture, syntax.InstNop:
			s.free = []int{int(in.Out)}
		case syntax.InstEmptyWidth:
			var known bool
			if s.guard, known = guards[syntax.EmptyOp(in.Arg)]; !known {
				return nil
			}
			s.free = []int{int(in.Out)}
		case syntax.InstFail:
		default:
			s.set, s.to = bytesThat(in), int(in.Out)
		}
	}
	return a
}

// start is the initial state.
func (a *automaton) start() int { return len(a.states) - 1 }

// bytesThat returns the bytes that an instruction accepts.
func bytesThat(in *syntax.Inst) *set {
	var s set
	for c := range 256 {
		if in.MatchRune(rune(c)) {
			s.add(byte(c))
		}
	}
	return &s
}

// alphabet returns one byte for each class of bytes that the automata do not
// distinguish, a readable one if possible.
func alphabet(automata ...*automaton) []byte {
	sets := map[set]bool{bytesOf("\n"): true}
	for _, a := range automata {
		for i := range a.states {
			if s := a.states[i].set; s != nil {
				sets[*s] = true
			}
		}
	}
	classes := [256]int{}
	count := 1
	for s := range sets {
		count = refine(&classes, &s)
	}
	chosen := make([]bool, count)
	var bytes []byte
	for _, c := range mostReadable {
		if class := classes[c]; !chosen[class] {
			chosen[class] = true
			bytes = append(bytes, c)
		}
	}
	return bytes
}

// refine splits each class by a set and returns the number of classes.
func refine(classes *[256]int, s *set) (count int) {
	numbers := map[[2]int]int{}
	for c := range classes {
		within := 0
		if s.has(byte(c)) {
			within = 1
		}
		key := [2]int{classes[c], within}
		if _, known := numbers[key]; !known {
			numbers[key] = len(numbers)
		}
		classes[c] = numbers[key]
	}
	return len(numbers)
}

// mostReadable are all bytes, the readable ones first.
var mostReadable = func() []byte {
	first := []byte("abcdefghijklmnopqrstuvwxyz/0123456789-_.ABCDEFGHIJKLMNOPQRSTUVWXYZ~")
	bytes := slices.Clone(first)
	for c := 0x20; c < 0x120; c++ {
		if b := byte(c); !slices.Contains(first, b) {
			bytes = append(bytes, b)
		}
	}
	return bytes
}()
