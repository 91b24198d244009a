package pcre

// lookAround reads what follows "(?" if that is a look-around.
func (p *parser) lookAround() (l look, ok bool) {
	start := p.at
	switch {
	case p.accept("="):
	case p.accept("!"):
		l.negative = true
	case p.accept("<="):
		l.behind = true
	case p.accept("<!"):
		l.behind, l.negative = true, true
	default:
		return l, false
	}
	p.looking++
	l.branches = p.inside()
	p.looking--
	if l.behind && p.err == nil {
		p.checkBehind(l, start)
	}
	return l, true
}

// maxBehind is how far back a look-behind may go, maxBranchesBehind how many
// branches they all may have; PCRE2 gives up at 2,000.
const (
	maxBehind         = 65_535
	maxBranchesBehind = 500
)

// checkBehind refuses a look-behind whose branches have no fixed width. Since
// 10.43 PCRE2 takes it if there is a largest one.
func (p *parser) checkBehind(l look, start int) {
	for _, branch := range l.branches {
		p.behind++
		w := branch.width()
		switch {
		case w.untold || p.behind > maxBranchesBehind:
			p.at = start
			p.unsupported("such a look-behind")
		case !w.bounded:
			p.at = start
			p.fail("a look-behind without a fixed width")
		case !w.fixed:
			p.at = start
			p.unsupported("a look-behind without a fixed width")
		case w.least > maxBehind:
			p.at = start
			p.fail("a look-behind of more than %d bytes", maxBehind)
		}
	}
}
