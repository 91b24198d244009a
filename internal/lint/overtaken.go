package lint

import (
	"fmt"
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
)

// overtaken reports the patterns that no request reaches because patterns that
// nginx tries before take them all. Those that are told already are left out.
func overtaken(servers []*model.Server, told []model.Problem) []model.Problem {
	type reported struct {
		object model.ObjectRef
		field  string
	}
	known := map[reported]bool{}
	for _, p := range told {
		known[reported{p.Object, p.Field}] = known[reported{p.Object, p.Field}] || p.Reason == model.Shadowed
	}
	var problems []model.Problem
	for _, server := range servers {
		before := passed{literal: map[string]tried{}}
		for _, later := range patternsOf(server) {
			field := later.rule.Field + ".path"
			earlier, found := before.takerOf(later)
			before.add(later)
			if !found || known[reported{later.rule.Object, field}] {
				continue
			}
			problems = append(problems, model.Problem{Object: later.rule.Object, Field: field, Reason: model.Shadowed,
				Text: fmt.Sprintf("no request reaches it: %s %s of %s (%s) is tried before it and takes them all, as the longest text comes first: remove this path, or make that one narrower",
					earlier.rule.PathType, model.OneLine(earlier.rule.Path, mostPath), earlier.rule.Object, earlier.rule.Field)})
		}
	}
	return problems
}

// mostPath bounds what is shown of a path.
const mostPath = 200

// tried is a pattern of a server.
type tried struct {
	rule model.Rule
	// text is the pattern; lead is what all that it matches begins with, in lower
	// case.
	text, lead string
	// literal: it says nothing but its lead.
	literal bool
}

// patternsOf are the patterns of a server in the order in which nginx tries
// them.
func patternsOf(server *model.Server) []tried {
	var patterns []tried
	for _, l := range server.Locations {
		if l.Modifier == model.Pattern {
			text := strings.TrimPrefix(l.Path, "^")
			lead := route.Lead(text)
			patterns = append(patterns, tried{rule: l.Rule, text: l.Path, lead: strings.ToLower(lead), literal: route.Quote(lead) == text})
		}
	}
	return patterns
}

// passed are the patterns that were tried so far. Of thousands on a host few are
// more than literal text, and literal text is looked up.
type passed struct {
	literal map[string]tried // by their leads
	others  []tried
}

func (p *passed) add(t tried) {
	if !t.literal {
		p.others = append(p.others, t)
	} else if _, taken := p.literal[t.lead]; !taken {
		p.literal[t.lead] = t
	}
}

// takerOf finds a pattern that takes every request of a later one.
func (p *passed) takerOf(later tried) (taker tried, found bool) {
	for end := range len(later.lead) + 1 {
		if t, ok := p.literal[later.lead[:end]]; ok && takes(t, later) {
			return t, true
		}
	}
	for _, t := range p.others {
		if (strings.HasPrefix(t.lead, later.lead) || strings.HasPrefix(later.lead, t.lead)) && takes(t, later) {
			return t, true
		}
	}
	return tried{}, false
}

func takes(earlier, later tried) bool {
	all, known := covers(earlier.text, later.text)
	return all && known
}
