package pcre

// assert checks a condition on the place. Newline is "\n", PCRE2's default.
func (m *matcher) assert(in *instruction) bool {
	rest := m.subject[m.pos:]
	switch in.assertion {
	case subjectStart:
		return m.pos == 0
	case lineStart:
		// Not after a newline that ends the subject.
		return m.pos == 0 || rest != "" && m.subject[m.pos-1] == '\n'
	case finalEnd:
		return rest == "" || rest == "\n"
	case subjectEnd:
		return rest == ""
	case lineEnd:
		return rest == "" || rest[0] == '\n'
	case wordBoundary:
		return m.wordAt(m.pos-1) != m.wordAt(m.pos)
	}
	return m.wordAt(m.pos-1) == m.wordAt(m.pos)
}

// wordAt reports whether there is a byte of a word at a place.
func (m *matcher) wordAt(pos int) bool {
	return pos >= 0 && pos < len(m.subject) && wordBytes.has(m.subject[pos])
}
