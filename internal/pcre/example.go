package pcre

import "strings"

// Example writes a text that the pattern is likely to match. choose returns a number from 0
// to n-1; the same choices give the same text. What stands before and behind a byte is not
// considered, so Match has to tell whether it matches.
func (p *Pattern) Example(choose func(n int) int) string {
	var out strings.Builder
	p.tree.write(&out, choose)
	return out.String()
}

// mostExample limits the length of an example.
const mostExample = 1000

// write appends an example of a node.
func (n *node) write(out *strings.Builder, choose func(n int) int) {
	if out.Len() > mostExample {
		return
	}
	switch n.kind {
	case oneByte:
		out.WriteByte(n.set.pick(choose))
	case sequence, group, atomic, backReference:
		for _, part := range n.parts {
			part.write(out, choose)
		}
	case alternation, branchReset:
		n.parts[choose(len(n.parts))].write(out, choose)
	case repeat:
		for range n.min + choose(n.spare()+1) {
			n.parts[0].write(out, choose)
		}
	}
}

// spare is how often an example repeats a repeat beyond its minimum, at most.
func (n *node) spare() int {
	const most = 2
	if n.max == unlimited {
		return most
	}
	return min(n.max-n.min, most)
}

// preferred are the bytes of examples in the order of preference: those that no part of a URL
// has to escape come first.
const preferred = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.~/!$&'()*+,;=:@ %?#[]\"<>\\^`{|}"

// pick returns a member of the set, one of the first few by preference.
func (s *set) pick(choose func(n int) int) byte {
	const few = 3
	var members []byte
	for i := 0; i < len(preferred) && len(members) < few; i++ {
		if s.has(preferred[i]) {
			members = append(members, preferred[i])
		}
	}
	if len(members) > 0 {
		return members[choose(len(members))]
	}
	for c := range 256 {
		if s.has(byte(c)) {
			return byte(c)
		}
	}
	return 0
}
