package pcre

// lead describes the beginning of a part of a pattern.
type lead struct {
	// set are the possible first bytes, if they are known. For an assertion of the end it
	// is a newline.
	set   set
	known bool
	// open is set if the part can match the empty text; sure if it then never fails.
	open, sure bool
}

// findLeads sets the leads of a node and its descendants.
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

// follower describes the text that must follow a part of a pattern.
type follower struct {
	kind followerKind
	set  set
}

type followerKind int

const (
	unknown followerKind = iota
	success              // none: the pattern has matched
	byteOf               // a byte of set, or the end of the subject
)

// before returns the follower of a part that comes before node n, if f follows n.
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

// followers returns the follower of each part of a sequence that next follows.
func (n *node) followers(next follower) []follower {
	all := make([]follower, len(n.parts))
	for i := len(all) - 1; i >= 0; i-- {
		all[i] = next
		next = next.before(n.parts[i])
	}
	return all
}
