package pcre

// lead is what a part of a pattern can begin with.
type lead struct {
	// set are the bytes, where they are known. An assertion of the end takes a final
	// newline for its byte.
	set   set
	known bool
	// open is set if the part may match nothing, sure if it then never fails.
	open, sure bool
}

// findLeads sets the leads of a node and of all within it.
func (n *node) findLeads() {
	for _, part := range n.parts {
		part.findLeads()
	}
	switch n.kind {
	case oneByte:
		n.lead = lead{set: n.set, known: true}
	case subjectEnd, finalEnd:
		n.lead = lead{set: bytesOf("\n"), known: true}
	case subjectStart, wordBoundary, notWordBoundary, lookAhead, lookBehind:
		n.lead = lead{known: true, open: true}
	case group, atomic:
		n.lead = n.parts[0].lead
	case repeat:
		n.lead = n.parts[0].lead
		if n.min == 0 {
			n.lead.open, n.lead.sure = true, true
		}
	case sequence:
		n.lead = lead{known: true, open: true, sure: true}
		for _, part := range n.parts {
			if n.lead.open {
				n.lead.set.addSet(part.lead.set)
				n.lead.known = n.lead.known && part.lead.known
				n.lead.open, n.lead.sure = part.lead.open, n.lead.sure && part.lead.sure
			}
		}
	case alternation:
		n.lead = lead{known: true}
		for _, branch := range n.parts {
			n.lead.set.addSet(branch.lead.set)
			n.lead.known = n.lead.known && branch.lead.known
			n.lead.open = n.lead.open || branch.lead.open
			n.lead.sure = n.lead.sure || branch.lead.open && branch.lead.sure
		}
	}
}

// follower is what has to come behind a part of a pattern.
type follower struct {
	kind followerKind
	set  set
}

type followerKind int

const (
	unknown followerKind = iota // nobody knows
	success                     // nothing that could fail: the pattern has matched
	byteOf                      // a byte of set, or the end of the subject
)

// before is what has to come before a node that something follows.
func (f follower) before(n *node) follower {
	switch {
	case !n.lead.known:
		return follower{}
	case !n.lead.open:
		return follower{byteOf, n.lead.set}
	case f.kind == byteOf:
		f.set.addSet(n.lead.set)
		return f
	case f.kind == success && n.lead.sure:
		return f
	}
	return follower{}
}

// followers gives what follows each part of a sequence that something follows.
func (n *node) followers(next follower) []follower {
	all := make([]follower, len(n.parts))
	for i := len(all) - 1; i >= 0; i-- {
		all[i] = next
		next = next.before(n.parts[i])
	}
	return all
}
