package pcre

// span takes as many bytes of its set as it can, or as few. The other numbers
// are tried when what comes after it fails.
func (m *matcher) span(in *instruction) bool {
	most := min(in.max, len(m.subject)-m.pos)
	if most < in.min {
		return false
	}
	taken := in.min
	if in.mode != lazy {
		taken = most
	}
	for i := range taken {
		if !in.set.has(m.subject[m.pos+i]) {
			taken = i
			break
		}
	}
	m.spent += taken
	if taken < in.min {
		return false
	}
	start := m.pos
	m.pos += taken
	switch {
	case in.mode == lazy && most > taken:
		m.choices = append(m.choices, choice{pc: m.pc, pos: m.pos, limit: start + most, path: m.path, changes: len(m.changes), inSpan: true})
	case in.mode == greedy && taken > in.min:
		// backtrack goes on with the first of all its ends, that at m.pos.
		m.choices = append(m.choices, choice{pc: m.pc, pos: m.pos + 1, limit: start + in.min, path: m.path, changes: len(m.changes), inSpan: true})
		return false
	}
	return true
}

// resume goes on with the next number of bytes of the span of the last choice.
func (m *matcher) resume(c *choice) bool {
	in := &m.program[c.pc-1]
	found := false
	if in.mode == lazy {
		found = in.set.has(m.subject[c.pos])
		c.pos++
	} else {
		found = m.giveBack(c, in)
	}
	m.pc, m.pos = c.pc, c.pos
	if !found || c.pos == c.limit {
		m.choices = m.choices[:len(m.choices)-1]
	}
	return found
}

// giveBack goes to the next end of a greedy span after which the pattern could
// go on.
func (m *matcher) giveBack(c *choice, in *instruction) bool {
	for c.pos > c.limit {
		c.pos--
		m.spent++
		if in.next == nil || c.pos < len(m.subject) && in.next.has(m.subject[c.pos]) {
			return true
		}
	}
	return false
}
