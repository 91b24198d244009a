package pcre

// maxCost is what a compiled pattern may cost. PCRE2 refuses those that take
// more than 65,536 bytes; the cost of a node is more than its bytes.
const maxCost = 60_000

const (
	literalCost = 2
	classCost   = 40
	// groupCost is for a group's begin and end, and for all that PCRE2 may wrap
	// around it.
	groupCost  = 20
	branchCost = 4
)

func capped(cost int) int { return min(cost, maxCost+1) }

func (s single) cost() int {
	if s.set.size() <= 2 {
		return literalCost
	}
	return classCost
}

func (s sequence) cost() int { return total(s) }

func (a alternation) cost() int { return capped(total(a) + groupCost + branchCost*len(a)) }

func total(parts []node) int {
	sum := 0
	for _, part := range parts {
		sum = capped(sum + part.cost())
	}
	return sum
}

func (g group) cost() int { return g.body.cost() + groupCost }

func (c capture) cost() int { return capped(c.body.cost() + groupCost) }

func (a atomic) cost() int { return capped(a.body.cost() + groupCost) }

func (l look) cost() int { return capped(total(l.branches) + groupCost + 2*branchCost*len(l.branches)) }

func (assertion) cost() int { return 1 }

func (newline) cost() int { return literalCost }

func (keep) cost() int { return 1 }

func (b *backReference) cost() int { return groupCost + len(b.groups) }

// cost counts as many bodies as the program will have: all but single bytes are
// repeated by writing them several times.
func (r repeat) cost() int {
	if _, ok := r.body.(single); ok {
		return 2*r.body.cost() + groupCost
	}
	return capped(max(r.copies(), 1) * (r.body.cost() + groupCost))
}

func (c conditional) cost() int {
	sum := c.yes.cost() + c.no.cost() + groupCost
	if c.look != nil {
		sum += c.look.cost()
	}
	return capped(sum)
}
