package pcre

// width says how many bytes a node matches.
type width struct {
	// least is at most veryWide.
	least int
	// bounded is set if there is a largest number.
	bounded bool
	// fixed is set if PCRE2 10.42 takes the node for one that always matches the
	// same number, which a look-behind needs; later versions want it bounded.
	fixed bool
	// untold is set where the versions tell the width in ways of their own.
	untold bool
}

// veryWide is more than a look-behind may have.
const veryWide = 1 << 17

func fixedWidth(n int) width { return width{least: n, bounded: true, fixed: true} }

// then is the width of one node after another.
func (w width) then(next width) width {
	return width{
		least:   min(w.least+next.least, veryWide),
		bounded: w.bounded && next.bounded,
		fixed:   w.fixed && next.fixed,
		untold:  w.untold || next.untold,
	}
}

// or is the width of one of two nodes.
func (w width) or(other width) width {
	return width{
		least:   min(w.least, other.least),
		bounded: w.bounded && other.bounded,
		fixed:   w.fixed && other.fixed && w.least == other.least,
		untold:  w.untold || other.untold,
	}
}

func (single) width() width { return fixedWidth(1) }

func (s sequence) width() width {
	total := fixedWidth(0)
	for _, part := range s {
		total = total.then(part.width())
	}
	return total
}

func (a alternation) width() width {
	total := a[0].width()
	for _, branch := range a[1:] {
		total = total.or(branch.width())
	}
	return total
}

func (g group) width() width { return g.body.width() }

func (c capture) width() width { return c.body.width() }

func (a atomic) width() width { return a.body.width() }

func (look) width() width { return fixedWidth(0) }

func (assertion) width() width { return fixedWidth(0) }

func (newline) width() width { return width{least: 1, bounded: true} }

func (keep) width() width { return fixedWidth(0) }

func (*backReference) width() width { return width{untold: true} }

func (r repeat) width() width {
	body := r.body.width()
	w := width{
		least:   min(body.least*r.min, veryWide),
		bounded: body.bounded && r.max != unlimited,
		fixed:   body.fixed && r.min == r.max,
		untold:  body.untold,
	}
	return w
}

func (c conditional) width() width {
	w := c.yes.width().or(c.no.width())
	w.untold = true
	return w
}
