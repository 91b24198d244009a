package guard

import (
	"reflect"
	"slices"
	"strings"

	"sluice/internal/pcre"
)

// keeps reports whether a claim has all protections of another one of its Ingress.
func (c *Claim) keeps(o *Claim) bool {
	if c.Denied || o.Denied {
		return c.Denied
	}
	for _, wanted := range o.Protections {
		if !slices.ContainsFunc(c.Protections, func(p any) bool { return reflect.DeepEqual(p, wanted) }) {
			return false
		}
	}
	return true
}

// isException reports whether a rule wins over another one of its Ingress on purpose: it
// takes only a part of its requests. It is true when no work is left.
func (j *judge) isException(winner, c *reading) bool {
	pair := [2]*reading{winner, c}
	if known, ok := j.exceptions[pair]; ok {
		return known
	}
	is := j.takesPart(winner, c) || j.left <= 0
	j.exceptions[pair] = is
	return is
}

func (j *judge) takesPart(winner, c *reading) bool {
	if !winner.pattern && !c.pattern {
		longer := func(text string) bool {
			return !slices.ContainsFunc(c.texts, func(o string) bool { return len(stem(o)) >= len(stem(text)) })
		}
		return winner.rank() < c.rank() || slices.ContainsFunc(winner.texts, longer) || compareMatches(winner.Match, c.Match) < 0
	}
	outside := func(path string) bool { return !c.mayTake(path, &j.left) }
	left := func(path string) bool { return !winner.mayTake(path, &j.left) }
	if slices.ContainsFunc(j.samples(winner), outside) {
		return false
	}
	if winner.compiled != nil && c.compiled != nil {
		budget := &pcre.Comparisons{Left: j.left}
		all, known := budget.Covers(winner.compiled, c.compiled)
		if j.left = budget.Left; known {
			return !all
		}
	}
	return slices.ContainsFunc(j.samples(c), left) || len(winner.beginning()) > len(c.beginning())
}

// beginning is the literal text that the requests of a claim begin with.
func (r *reading) beginning() string {
	if r.asked {
		return r.sure
	}
	return r.texts[0]
}

func stem(text string) string { return strings.TrimSuffix(text, "/") }
