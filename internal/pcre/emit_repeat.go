package pcre

// copies is how often the body of a repeat is written down.
func (r repeat) copies() int {
	if r.max == unlimited {
		return max(r.min, 1)
	}
	return r.max
}

func (r repeat) emit(g *generator) {
	if r.max == 0 {
		return
	}
	if one, ok := r.body.(single); ok {
		r.span(g, one)
		return
	}
	if r.mode != possessive {
		r.several(g)
		return
	}
	register := g.take(2)
	g.add(instruction{op: opAtomic, register: register})
	if r.max == unlimited {
		r.throughout(g, register)
	} else {
		r.several(g)
	}
	g.add(instruction{op: opAtomicEnd, register: register, captures: contains(r.body, isCapture)})
}

// span repeats a single byte.
func (r repeat) span(g *generator, one single) {
	most := r.max
	if most == unlimited {
		most = maxSpan
	}
	g.add(instruction{op: opSpan, set: one.set, min: r.min, max: most, mode: r.mode})
}

// several writes the body as often as it has to match, then as PCRE2 does: with
// a limit each further one within the one before, without one as a loop over
// the last.
func (r repeat) several(g *generator) {
	if r.max == unlimited {
		r.endless(g)
		return
	}
	for range r.min {
		r.body.emit(g)
	}
	var splits []int
	for range r.max - r.min {
		splits = append(splits, g.split(r.mode))
		r.body.emit(g)
	}
	for _, split := range splits {
		g.elsewhere(split, g.here())
	}
}

// endless writes the loop over the last body that has to match, or over one
// that need not.
func (r repeat) endless(g *generator) {
	for range r.min - 1 {
		r.body.emit(g)
	}
	split := -1
	if r.min == 0 {
		split = g.split(r.mode)
	}
	if start := g.here(); r.body.width().least > 0 {
		r.body.emit(g)
		again := instruction{op: opSplit, to: start, other: g.here() + 1}
		if r.mode == lazy {
			again.to, again.other = again.other, again.to
		}
		g.add(again)
	} else {
		register := g.take(1)
		g.add(instruction{op: opMark, register: register})
		r.body.emit(g)
		g.add(instruction{op: opLoop, register: register, mode: r.mode, to: start, other: g.here() + 1})
	}
	if split >= 0 {
		g.elsewhere(split, g.here())
	}
}

// throughout writes a possessive loop: each time that the body has matched, all
// that could have been tried before is forgotten, so that it takes no room.
func (r repeat) throughout(g *generator, atomic int) {
	for range r.min - 1 {
		r.body.emit(g)
	}
	skip := -1
	if r.min == 0 {
		skip = g.add(instruction{op: opJump})
	}
	register, start := g.take(1), g.here()
	g.add(instruction{op: opMark, register: register})
	r.body.emit(g)
	g.add(instruction{op: opAtomicEnd, register: atomic})
	again := g.here() + 1
	g.add(instruction{op: opLoop, register: register, mode: possessive, to: again, other: again + 1})
	g.add(instruction{op: opSplit, to: start, other: again + 1})
	if skip >= 0 {
		g.program[skip].to = again
	}
}
