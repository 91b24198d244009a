package pcre

func (s single) emit(g *generator) { g.add(instruction{op: opByte, set: s.set}) }

func (s sequence) emit(g *generator) {
	for _, part := range s {
		part.emit(g)
	}
}

func (a alternation) emit(g *generator) { g.branches(a, node.emit) }

// branches writes several ways, of which each but the last is left for the next
// one if what comes after it fails.
func (g *generator) branches(all []node, emit func(node, *generator)) {
	var ends []int
	last := len(all) - 1
	for _, branch := range all[:last] {
		split := g.split(greedy)
		emit(branch, g)
		ends = append(ends, g.add(instruction{op: opJump}))
		g.elsewhere(split, g.here())
	}
	emit(all[last], g)
	for _, end := range ends {
		g.program[end].to = g.here()
	}
}

func (g group) emit(out *generator) { g.body.emit(out) }

func (c capture) emit(g *generator) {
	g.add(instruction{op: opOpen, group: c.number})
	c.body.emit(g)
	g.add(instruction{op: opClose, group: c.number})
}

func (a atomic) emit(g *generator) {
	register := g.take(2)
	g.add(instruction{op: opAtomic, register: register})
	a.body.emit(g)
	g.add(instruction{op: opAtomicEnd, register: register, captures: contains(a.body, isCapture)})
}

func (a assertion) emit(g *generator) { g.add(instruction{op: opAssert, assertion: a.kind}) }

func (newline) emit(g *generator) {
	pair := sequence{single{set: literal('\r', false)}, single{set: literal('\n', false)}}
	atomic{alternation{pair, single{set: &vertical}}}.emit(g)
}

func (keep) emit(g *generator) { g.add(instruction{op: opKeep}) }

func (b *backReference) emit(g *generator) {
	g.add(instruction{op: opReference, groups: b.groups, fold: b.fold})
}

func (l look) emit(g *generator) {
	start, split := l.begin(g)
	if l.negative {
		g.add(instruction{op: opFail})
		g.elsewhere(split, g.here())
	}
	g.program[start].to, g.program[start].other = g.here(), g.here()
}

// begin writes a look up to where it has matched. Its split is where it goes if
// it has not, and is there only if it is negative.
func (l look) begin(g *generator) (start, split int) {
	register := g.take(3)
	start = g.add(instruction{op: opLook, register: register})
	if l.negative {
		split = g.split(greedy)
	}
	l.inside(g)
	g.add(instruction{op: opLookEnd, register: register, captures: contains(l, isCapture)})
	return start, split
}

// inside writes the branches. Each branch of a look-behind goes back by its own
// width, as PCRE2's does.
func (l look) inside(g *generator) {
	g.branches(l.branches, func(branch node, g *generator) {
		if l.behind {
			g.add(instruction{op: opBack, count: branch.width().least})
		}
		branch.emit(g)
	})
}

func (c conditional) emit(g *generator) {
	if c.look == nil {
		condition := g.add(instruction{op: opCondition, groups: c.set.groups})
		g.program[condition].to = g.here()
		g.program[condition].other = g.either(c.yes, c.no)
		return
	}
	// What follows a look that matched comes first: yes, unless it is negative.
	matched, failed := c.yes, c.no
	if c.look.negative {
		matched, failed = c.no, c.yes
	}
	register := g.take(3)
	start := g.add(instruction{op: opLook, register: register})
	split := g.split(greedy)
	c.look.inside(g)
	g.add(instruction{op: opLookEnd, register: register, captures: contains(c.look, isCapture)})
	g.program[start].to = g.here()
	other := g.either(matched, failed)
	g.program[start].other = other
	g.elsewhere(split, other)
}

// either writes two ways that meet again, and gives the place of the second.
func (g *generator) either(first, second node) (place int) {
	first.emit(g)
	jump := g.add(instruction{op: opJump})
	place = g.here()
	second.emit(g)
	g.program[jump].to = g.here()
	return place
}
