package pcre

// op is what an instruction does. Those that have targets go on at one of them,
// all others at the next instruction.
type op int

const (
	opMatch     op = iota // the pattern has matched
	opFail                // go back
	opByte                // one byte of set
	opSpan                // min to max bytes of set; an unlimited max is maxSpan
	opJump                // go on at to
	opSplit               // go on at to, and if that fails at other
	opMark                // remember the place in register
	opLoop                // go on at to or other, but at other if nothing was matched since opMark
	opOpen                // a group begins
	opClose               // a group ends
	opKeep                // the match begins here
	opAssert              // assertion holds
	opReference           // what one of groups matched
	opCondition           // go on at to if one of groups is set, else at other
	opBack                // go count bytes back
	opAtomic              // remember in register what could be tried
	opAtomicEnd           // forget what could be tried since
	opLook                // as opAtomic, with the place; to and other is where it ends in one way or the other
	opLookEnd             // as opAtomicEnd, and return to the place
)

// maxSpan stands for no limit.
const maxSpan = 1 << 30

type instruction struct {
	op        op
	to, other int
	// register is the first of those that belong to this instruction and its end.
	register int
	// set is shared by many instructions. next is what has to follow a span, nil
	// if that is not one byte.
	set, next *set
	min, max  int
	mode      mode
	assertion assertionKind
	// group is the number of a group, count a number of bytes.
	group, count int
	groups       []int
	fold         bool
	// captures is set at the end of what has groups.
	captures bool
}

// generator writes a program.
type generator struct {
	program   []instruction
	registers int
}

// Registers 2n and 2n+1 hold where group n begins and ends, as far as it was
// matched; after them is one for each group's begin while it is being matched.
func captureRegisters(groups int) int { return 3 * (groups + 1) }

// here is the place of the next instruction.
func (g *generator) here() int { return len(g.program) }

// add writes an instruction and gives its place, for targets that come later.
func (g *generator) add(in instruction) int {
	if last := len(g.program) - 1; last >= 0 && in.op == opByte && g.program[last].op == opSpan {
		g.program[last].next = in.set
	}
	g.program = append(g.program, in)
	return len(g.program) - 1
}

// take gives the first of some registers that nobody else uses.
func (g *generator) take(count int) int {
	first := g.registers
	g.registers += count
	return first
}

// split writes an opSplit that tries what follows first, or last if lazy. Its
// other way has to be set by the caller with elsewhere.
func (g *generator) split(m mode) (at int) {
	at = g.add(instruction{op: opSplit, mode: m})
	g.program[at].to = g.here()
	return at
}

// elsewhere sets the other way of a split.
func (g *generator) elsewhere(at, target int) {
	if in := &g.program[at]; in.mode == lazy {
		in.to, in.other = target, in.to
	} else {
		in.other = target
	}
}
