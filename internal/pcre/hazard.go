package pcre

import "slices"

// hazard names what in a pattern PCRE2's optimizations may get wrong, in one of
// its versions or in all: it then misses what the pattern matches. We would have
// to repeat its mistakes to give its answers. "" is none.
//
// Each was found by comparing with pcre2test; hazard_test.go shows each.
func hazard(tree node) string {
	switch {
	case contains(tree, early):
		return "a reference to a group that has not ended"
	case contains(tree, emptyAtomic):
		return "an atomic group of several ways that may match nothing"
	case contains(tree, keptCapture):
		return "a possessive loop over a capturing group"
	case leads(tree, asserted):
		return "a look-ahead before anything else"
	case leads(tree, emptyWay):
		return "ways before anything else of which one begins with nothing"
	case contains(tree, never):
		return "a group that is repeated no times"
	case overlooked(tree):
		return `repeating \R, \h, \v, \S or "." beside each other`
	case !anchored(tree) && contains(tree, miscounted):
		return `a count of \R, \h, \v, \H or \V or of up to some of a class, without ^ before all`
	}
	return ""
}

// early is a reference within its own group or before it. To PCRE2 a branch with
// one is never the shortest.
func early(n node) bool {
	r, ok := n.(*backReference)
	return ok && r.early
}

// emptyAtomic is an atomic group that can match nothing and has several ways. To
// PCRE2 what is repeated before it need not give anything back.
// Source: compare_opcodes in src/pcre2_auto_possess.c, entered_a_group.
func emptyAtomic(n node) bool {
	switch n := n.(type) {
	case atomic:
		return n.width().least == 0 && contains(n.body, severalWays)
	case repeat:
		endless := n.max == unlimited && n.min < 2 // which is no atomic group to PCRE2
		return n.mode == possessive && !endless && n.width().least == 0 && contains(n, severalWays)
	}
	return false
}

func severalWays(n node) bool {
	switch n := n.(type) {
	case alternation:
		return true
	case repeat:
		_, one := n.body.(single)
		return !one && n.min != n.max
	}
	return false
}

// keptCapture is a possessive loop over a capturing group. The machine code of
// PCRE2 10.42 does not take the capture back when it tries something else.
func keptCapture(n node) bool {
	r, ok := n.(repeat)
	return ok && r.mode == possessive && r.max == unlimited && contains(r.body, isCapture)
}

// miscounted is a count that PCRE2's machine code gets wrong when it works out
// what a match has to begin with, in order to find the next place where one
// could. It does not where there is but one place.
// Source: scan_prefix in src/pcre2_jit_compile.c of 10.46.
func miscounted(n node) bool {
	r, ok := n.(repeat)
	if !ok {
		return false
	}
	one, _ := r.body.(single)
	if one.bracket {
		return r.min == 0 && r.max > 1
	}
	return r.min > 1 && (isNewline(r.body) || isSet(r.body, horizontal) || isSet(r.body, vertical) ||
		isSet(r.body, horizontal.inverse()) || isSet(r.body, vertical.inverse()))
}

// anchored reports whether each way begins with ^.
func anchored(n node) bool {
	switch n := n.(type) {
	case assertion:
		return n.kind == subjectStart
	case sequence:
		return len(n) > 0 && anchored(n[0])
	case alternation:
		return !slices.ContainsFunc(n, func(branch node) bool { return !anchored(branch) })
	}
	return false
}

// never is a group with {0}. PCRE2's machine code looks into it.
func never(n node) bool {
	r, ok := n.(repeat)
	_, one := r.body.(single)
	return ok && !one && r.max == 0
}

// asserted is a positive look-ahead. If it is the first thing, PCRE2 up to 10.44
// wants its byte and a later one to be two.
func asserted(n node) bool {
	l, ok := n.(look)
	return ok && !l.behind && !l.negative
}

// emptyWay is a choice of ways of which one begins with what may be nothing. If
// it is the first thing, the machine code of PCRE2 10.42 overlooks matches.
func emptyWay(n node) bool {
	branches, ok := n.(alternation)
	return ok && slices.ContainsFunc(branches, func(branch node) bool {
		if s, ok := branch.(sequence); ok && len(s) > 0 {
			branch = s[0]
		}
		return branch.width().least == 0 && !anchored(branch)
	})
}

// leads reports whether something is true of a node that may be reached before
// a byte is matched, and not behind a ^.
func leads(n node, is func(node) bool) bool {
	if is(n) {
		return true
	}
	parts := n.parts()
	if s, ok := n.(sequence); ok {
		end := slices.IndexFunc(s, func(part node) bool { return anchored(part) || part.width().least > 0 })
		parts = s[:min(end+1, len(s))]
		if end < 0 {
			parts = s
		}
	}
	return slices.ContainsFunc(parts, func(part node) bool { return leads(part, is) })
}
