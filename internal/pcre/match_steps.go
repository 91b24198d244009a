package pcre

func (m *matcher) byte(in *instruction) bool {
	if m.pos == len(m.subject) || !in.set.has(m.subject[m.pos]) {
		return false
	}
	m.pos++
	return true
}

func (m *matcher) jump(in *instruction) bool {
	m.pc = in.to
	return true
}

func (m *matcher) split(in *instruction) bool {
	m.try(in.other)
	m.pc = in.to
	return true
}

func (m *matcher) mark(in *instruction) bool {
	m.set(in.register, m.pos)
	return true
}

// loop ends a loop whose body has matched nothing: it would do so for ever.
func (m *matcher) loop(in *instruction) bool {
	switch {
	case m.registers[in.register] == m.pos:
		m.pc = in.other
	case in.mode == lazy:
		m.try(in.to)
		m.pc = in.other
	case in.mode == possessive:
		m.pc = in.to
	default:
		m.try(in.other)
		m.pc = in.to
	}
	return true
}

// begun is the register of a group's begin while the group is being matched. Until
// it ends, references to it mean what it matched before.
func (m *matcher) begun(group int) int { return 2*(m.groups+1) + group }

func (m *matcher) open(in *instruction) bool {
	m.set(m.begun(in.group), m.pos)
	return true
}

func (m *matcher) close(in *instruction) bool {
	m.set(2*in.group, m.registers[m.begun(in.group)])
	m.set(2*in.group+1, m.pos)
	return true
}

func (m *matcher) keep(*instruction) bool {
	m.set(0, m.pos)
	return true
}

func (m *matcher) back(in *instruction) bool {
	if m.pos < in.count {
		return false
	}
	m.pos -= in.count
	return true
}

func (m *matcher) atomic(in *instruction) bool {
	m.set(in.register, len(m.choices))
	m.set(in.register+1, m.path)
	return true
}

// atomicEnd shortens the path, unless PCRE2 has to remember how to take captures
// back.
func (m *matcher) atomicEnd(in *instruction) bool {
	m.choices = m.choices[:m.registers[in.register]]
	if !in.captures {
		m.path = m.registers[in.register+1]
	}
	return true
}

func (m *matcher) look(in *instruction) bool {
	m.set(in.register+2, m.pos)
	return m.atomic(in)
}

func (m *matcher) lookEnd(in *instruction) bool {
	m.pos = m.registers[in.register+2]
	return m.atomicEnd(in)
}

func (m *matcher) condition(in *instruction) bool {
	m.pc = in.other
	if m.firstSet(in.groups) > 0 {
		m.pc = in.to
	}
	return true
}

// firstSet gives the first of some groups that has matched, 0 if none has.
func (m *matcher) firstSet(groups []int) int {
	for _, group := range groups {
		if m.registers[2*group] >= 0 {
			return group
		}
	}
	return 0
}

// reference matches what a group has matched; a group that has not matched fails.
func (m *matcher) reference(in *instruction) bool {
	group := m.firstSet(in.groups)
	if group == 0 {
		return false
	}
	text := m.subject[m.registers[2*group]:m.registers[2*group+1]]
	m.spent += len(text)
	if len(m.subject)-m.pos < len(text) {
		return false
	}
	for i := range len(text) {
		if c := m.subject[m.pos+i]; c != text[i] && !(in.fold && literals[1][text[i]].has(c)) {
			return false
		}
	}
	m.pos += len(text)
	return true
}
