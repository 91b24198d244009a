package pcre

// automaton is a pattern as a nondeterministic automaton that reads a whole
// subject: it takes those in which the pattern matches somewhere. What is not
// regular is taken for more or for less than it is, see bias.
type automaton struct{ states []state }

// startState reads what comes before the match.
const startState = 0

type state struct {
	// set are the bytes that lead to the state to; nil is none.
	set *set
	to  int
	// free lead on without a byte.
	free []edge
	// matched is set where the pattern has matched; it reads the rest.
	matched bool
}

type edge struct {
	to    int
	guard guard
}

// guard is what has to hold where an edge is taken.
type guard int

const (
	unguarded guard = iota
	guardStart
	guardFinalEnd
	guardEnd
)

// bias says how to take what is not regular: look-arounds, references, atomic
// groups. A wide automaton takes all subjects that the pattern matches, a narrow
// one none that it does not. Where all is regular, the two are the same.
type bias int

const (
	wide bias = iota
	narrow
)

// maxStates bounds an automaton.
const maxStates = 20_000

// build makes an automaton; ok is false if it would be too large.
func build(program []instruction, b bias) (a *automaton, ok bool) {
	w := automatonWriter{program: program, bias: b, first: make([]int, len(program))}
	count := 1
	for i := range program {
		w.first[i] = count
		count += 1 + program[i].counted()
		if count > maxStates {
			return nil, false
		}
	}
	w.states = make([]state, count)
	w.states[startState] = state{set: &anyByte, to: startState, free: []edge{{to: w.first[0]}}}
	for i := range program {
		w.instruction(i)
	}
	return &automaton{w.states}, true
}

// counted is how many bytes of a span have to be told apart.
func (in *instruction) counted() int {
	switch {
	case in.op != opSpan:
		return 0
	case in.max == maxSpan:
		return in.min
	}
	return in.max
}

// automatonWriter makes the states of a program: those of instruction i begin at
// first[i].
type automatonWriter struct {
	program []instruction
	bias    bias
	first   []int
	states  []state
}

func (w *automatonWriter) instruction(i int) {
	in, s := &w.program[i], &w.states[w.first[i]]
	switch in.op {
	case opMatch:
		s.set, s.to, s.matched = &anyByte, w.first[i], true
	case opByte:
		s.set, s.to = in.set, w.first[i+1]
	case opSpan:
		w.span(i)
	case opJump:
		w.free(i, in.to)
	case opSplit, opLoop:
		w.free(i, in.to, in.other)
	case opMark, opOpen, opClose, opKeep, opAtomicEnd:
		w.free(i, i+1)
	case opAssert:
		w.assert(i)
	default:
		if w.bias == wide {
			w.irregular(i)
		}
	}
}

func (w *automatonWriter) free(i int, targets ...int) {
	for _, target := range targets {
		s := &w.states[w.first[i]]
		s.free = append(s.free, edge{to: w.first[target]})
	}
}

// span is a state for each number of bytes.
func (w *automatonWriter) span(i int) {
	in := &w.program[i]
	if w.bias == narrow && !w.givesNothing(i) {
		return
	}
	last := in.counted()
	for n := range last + 1 {
		s := &w.states[w.first[i]+n]
		if s.set, s.to = in.set, w.first[i]+n+1; n == last {
			s.to--
			if in.max != maxSpan {
				s.set = nil
			}
		}
		if n >= in.min {
			s.free = []edge{{to: w.first[i+1]}}
		}
	}
}

// givesNothing reports whether it makes no difference that a span is possessive,
// or that it is not.
func (w *automatonWriter) givesNothing(i int) bool {
	in := &w.program[i]
	return in.mode != possessive || in.min == in.max || w.program[i+1].op == opMatch || in.next != nil && disjoint(in.set, in.next)
}

func disjoint(a, b *set) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return false
		}
	}
	return true
}

func (w *automatonWriter) assert(i int) {
	guards := map[assertionKind]guard{subjectStart: guardStart, finalEnd: guardFinalEnd, subjectEnd: guardEnd}
	guard, regular := guards[w.program[i].assertion]
	if !regular && w.bias == narrow {
		return
	}
	w.states[w.first[i]].free = []edge{{to: w.first[i+1], guard: guard}}
}

// irregular takes an instruction for more than it is: a reference for any text,
// a condition and a look-around for either way.
func (w *automatonWriter) irregular(i int) {
	in, s := &w.program[i], &w.states[w.first[i]]
	switch in.op {
	case opReference:
		s.set, s.to = &anyByte, w.first[i]
		w.free(i, i+1)
	case opCondition, opLook:
		w.free(i, in.to, in.other)
	case opAtomic:
		w.free(i, i+1)
	}
}
