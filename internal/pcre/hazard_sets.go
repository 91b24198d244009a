package pcre

// overlooked reports whether a pattern has pairs of escapes that PCRE2 takes for
// disjoint although they share a byte in the C locale: what is repeated of one
// then gives nothing back for the other.
// Source: autoposstab in src/pcre2_auto_possess.c.
func overlooked(tree node) bool {
	repeated := func(like func(node) bool) bool {
		return contains(tree, func(n node) bool {
			r, ok := n.(repeat)
			return ok && like(r.body)
		})
	}
	there := func(like func(node) bool) bool { return contains(tree, like) }
	blank := func(n node) bool { return isSet(n, horizontal) || isSet(n, vertical) }
	solid := func(n node) bool { return isSet(n, spaces.inverse()) }
	dot := func(n node) bool { return isSet(n, notNewline) }
	space := func(n node) bool { return isSet(n, spaces) }
	return repeated(isNewline) && (there(space) || there(dot)) || there(isNewline) && (repeated(solid) || repeated(dot)) ||
		there(solid) && repeated(blank) || there(blank) && repeated(solid)
}

func isNewline(n node) bool {
	_, ok := n.(newline)
	return ok
}

// isSet reports whether a node is an escape for a set. In brackets it is none.
func isSet(n node, s set) bool {
	one, ok := n.(single)
	return ok && !one.bracket && *one.set == s
}
