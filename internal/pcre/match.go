package pcre

// The limits of a search. PCRE2 gives up after as many of its own steps as
// nginx.conf allows, which is 20,000 at least, and compiled to machine code, as nginx has it, where 32 KB do not hold the way to
// where it is. Both limits here are well below those, so that a search that ends
// within them ends in PCRE2 too.
const (
	// maxSteps is a number of instructions. Bytes that a span passes over count
	// for an eighth each.
	maxSteps = 20_000
	// maxPath is how many instructions, single bytes aside, may lie on the way
	// from the begin of the match, look-arounds and atomic groups left out.
	maxPath = 1_000
)

// stepUnits are what one step is counted in.
const stepUnits = 8

// choice is a place to return to when what was tried first has failed.
type choice struct {
	pc, pos int
	// path and changes are how many there were.
	path, changes int
	// limit is how far a span may go on giving back or, if it is lazy, taking
	// bytes. It is set if inSpan.
	limit  int
	inSpan bool
}

// change is what a register held before.
type change struct{ register, value int }

// matcher is one search.
type matcher struct {
	program   []instruction
	groups    int
	subject   string
	pc, pos   int
	registers []int
	choices   []choice
	changes   []change
	// path is how many instructions led here, spent all that were tried, in units,
	// and most how many of these may be.
	path, spent, most int
}

// Match searches the subject for the first place where the pattern matches. Of
// group n the begin and the end are at 2n and 2n+1, -1 if it took no part; group
// 0 is the whole. The error is ErrTooHard.
func (p *Pattern) Match(subject string) (groups []int, ok bool, err error) {
	return p.matcher(subject, maxSteps).match()
}

// Matches says whether the pattern matches in as many steps as are left, and takes
// off those that it took.
func (p *Pattern) Matches(subject string, left *int) (ok bool, err error) {
	m := p.matcher(subject, min(*left, maxSteps))
	_, ok, err = m.match()
	*left -= (m.spent + stepUnits - 1) / stepUnits
	return ok, err
}

func (p *Pattern) matcher(subject string, steps int) *matcher {
	return &matcher{program: p.program, groups: p.groups, subject: subject, registers: make([]int, p.registers), most: steps * stepUnits}
}

func (m *matcher) match() (groups []int, ok bool, err error) {
	for i := range m.registers {
		m.registers[i] = -1
	}
	for start := 0; start <= len(m.subject); start++ {
		m.pc, m.pos, m.path = 0, start, 0
		m.choices, m.changes = m.choices[:0], m.changes[:0]
		m.registers[0] = start
		if ok, err = m.run(); err != nil {
			return nil, false, err
		}
		if ok {
			m.registers[1] = m.pos
			return m.registers[: 2*(m.groups+1) : 2*(m.groups+1)], true, nil
		}
	}
	return nil, false, nil
}

// does is what each instruction does. One that fails says so.
var does = [...]func(*matcher, *instruction) bool{
	opFail:      func(*matcher, *instruction) bool { return false },
	opByte:      (*matcher).byte,
	opSpan:      (*matcher).span,
	opJump:      (*matcher).jump,
	opSplit:     (*matcher).split,
	opMark:      (*matcher).mark,
	opLoop:      (*matcher).loop,
	opOpen:      (*matcher).open,
	opClose:     (*matcher).close,
	opKeep:      (*matcher).keep,
	opAssert:    (*matcher).assert,
	opReference: (*matcher).reference,
	opCondition: (*matcher).condition,
	opBack:      (*matcher).back,
	opAtomic:    (*matcher).atomic,
	opAtomicEnd: (*matcher).atomicEnd,
	opLook:      (*matcher).look,
	opLookEnd:   (*matcher).lookEnd,
}

// run matches at one place. If it fails, all registers are as they were.
func (m *matcher) run() (ok bool, err error) {
	for {
		in := &m.program[m.pc]
		if in.op == opMatch {
			return true, nil
		}
		if in.op != opByte {
			m.path++
		}
		m.spent += stepUnits
		if m.spent > m.most || m.path > maxPath {
			return false, ErrTooHard
		}
		m.pc++
		if !does[in.op](m, in) && !m.backtrack() {
			return false, nil
		}
	}
}

// try leaves a place to return to.
func (m *matcher) try(pc int) {
	m.choices = append(m.choices, choice{pc: pc, pos: m.pos, path: m.path, changes: len(m.changes)})
}

// set changes a register in a way that can be taken back.
func (m *matcher) set(register, value int) {
	if old := m.registers[register]; old != value {
		m.changes = append(m.changes, change{register, old})
		m.registers[register] = value
	}
}

// restore takes the changes back that came after the first count.
func (m *matcher) restore(count int) {
	for i := len(m.changes) - 1; i >= count; i-- {
		m.registers[m.changes[i].register] = m.changes[i].value
	}
	m.changes = m.changes[:count]
}

// backtrack returns to the last place where there is more to try.
func (m *matcher) backtrack() bool {
	for len(m.choices) > 0 {
		last := len(m.choices) - 1
		c := &m.choices[last]
		m.restore(c.changes)
		m.path = c.path
		if c.inSpan {
			if m.resume(c) {
				return true
			}
			continue
		}
		m.pc, m.pos = c.pc, c.pos
		m.choices = m.choices[:last]
		return true
	}
	m.restore(0)
	return false
}
