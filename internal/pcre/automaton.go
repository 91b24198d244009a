package pcre

import (
	"regexp/syntax"
	"slices"
)

// automaton is a pattern as a nondeterministic automaton that reads a whole
// subject: it takes those in which the pattern matches somewhere. Its states are
// the instructions that Go compiles the pattern to.
type automaton struct{ states []state }

type state struct {
	// set are the bytes that lead to the state to; nil is none.
	set *set
	to  int
	// free lead on without a byte, where guard holds.
	free  []int
	guard guard
	// matched is set where the pattern has matched; it reads the rest.
	matched bool
}

// guard is what has to hold where a state is left without a byte.
type guard int

const (
	unguarded guard = iota
	guardStart
	guardFinalEnd
	guardEnd
)

// maxStates bounds an automaton.
const maxStates = 20_000

// automatonOf gives the automaton of a pattern in the syntax of Go; nil if it asks
// for the bounds of words, or is too large.
func automatonOf(regular string) *automaton {
	tree, err := syntax.Parse(regular, syntax.Perl)
	if err != nil {
		return nil
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxStates {
		return nil
	}
	// The last state reads what comes before the match.
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

// start is the state that an automaton begins in.
func (a *automaton) start() int { return len(a.states) - 1 }

// bytesThat gives the bytes that an instruction takes.
func bytesThat(in *syntax.Inst) *set {
	var s set
	for c := range 256 {
		if in.MatchRune(rune(c)) {
			s.add(byte(c))
		}
	}
	return &s
}

// alphabet gives one byte for all those that two automata do not tell apart, a
// readable one if there is one.
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

// refine splits each class by a set and gives the number of classes.
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

// mostReadable are all bytes, those first that are best read in a message.
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
