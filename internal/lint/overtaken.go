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
		patterns := patternsOf(server)
		for i, later := range patterns {
			field := later.rule.Field + ".path"
			earlier, found := takerOf(patterns[:i], later)
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
	// text is the pattern, lead what all that it matches begins with.
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

// takerOf finds the first of earlier patterns that takes every request of a
// later one. Hosts with thousands of paths have few that are more than literal
// text, and texts that begin otherwise need not be compared: of the rest covers
// decides.
func takerOf(earlier []tried, later tried) (taker tried, found bool) {
	for _, e := range earlier {
		if e.literal && !strings.HasPrefix(later.lead, e.lead) || !strings.HasPrefix(e.lead, later.lead) && !strings.HasPrefix(later.lead, e.lead) {
			continue
		}
		if covers, known := covers(e.text, later.text); covers && known {
			return e, true
		}
	}
	return tried{}, false
}
