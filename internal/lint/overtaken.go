package lint

import (
	"fmt"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// overtaken reports the patterns that get no requests because earlier patterns take
// them all. It skips those that were reported already.
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
	budget := &pcre.Comparisons{Left: mostCompared}
	for _, server := range servers {
		before := passed{literal: map[string]tried{}, budget: budget}
		for _, later := range patternsOf(server) {
			field, what := fieldOf(later.rule)
			earlier, found := before.takerOf(later)
			if !found && budget.Left <= 0 {
				return append(problems, model.Problem{Object: later.rule.Object, Field: field, Reason: Uncompared,
					Text: "it is not known whether requests reach this pattern and those after it: comparing them with the earlier ones takes too long"})
			}
			before.add(later)
			if !found || known[reported{later.rule.Object, field}] {
				continue
			}
			problems = append(problems, model.Problem{Object: later.rule.Object, Field: field, Reason: model.Shadowed,
				Text: fmt.Sprintf("no request reaches it: %s %s of %s (%s) is tried before it and takes them all, as the longest text comes first: remove this %s, or make that one narrower",
					earlier.rule.PathType, model.OneLine(earlier.rule.Path, mostPath), earlier.rule.Object, earlier.rule.Field, what)})
		}
	}
	return problems
}

// fieldOf returns the field with the path of a rule, and a word for what is there. The paths
// of redirects are lines of an annotation.
func fieldOf(r model.Rule) (field, what string) {
	if r.Field == annotations.OwnPrefix+"redirects" {
		return r.Field, "line"
	}
	return r.Field + ".path", "path"
}

// mostCompared limits the work of comparing patterns, to some seconds.
const mostCompared = 20_000_000

// mostPath limits the shown length of a path.
const mostPath = 200

// tried is a pattern of a server.
type tried struct {
	rule model.Rule
	// text is the pattern. lead is the beginning of every match, in lower case.
	text, lead string
	// pattern is nil if package pcre cannot read the text.
	pattern *pcre.Pattern
	// literal is set if the pattern is nothing but its lead.
	literal bool
}

// patternsOf returns the patterns of a server in the order in which nginx tries them.
func patternsOf(server *model.Server) []tried {
	var patterns []tried
	for _, l := range server.Locations {
		if l.Modifier == model.Pattern {
			text := strings.TrimPrefix(l.Path, "^")
			lead := pcre.Beginning(text)
			compiled, _ := pcre.Compile(l.Path, pcre.Caseless) // refused reports the error
			patterns = append(patterns, tried{rule: l.Rule, text: l.Path, lead: route.Lower(lead), pattern: compiled, literal: pcre.Quote(lead) == text})
		}
	}
	return patterns
}

// passed holds the patterns tried so far. Of thousands on a host few are more than
// literal text, and literal text is found by lookup.
type passed struct {
	literal map[string]tried // by their leads
	others  []tried
	budget  *pcre.Comparisons
}

func (p *passed) add(t tried) {
	if !t.literal {
		p.others = append(p.others, t)
	} else if _, taken := p.literal[t.lead]; !taken {
		p.literal[t.lead] = t
	}
}

// takerOf returns an earlier pattern that takes every request of a later one.
func (p *passed) takerOf(later tried) (taker tried, found bool) {
	for end := range len(later.lead) + 1 {
		if t, ok := p.literal[later.lead[:end]]; ok && p.takes(t, later) {
			return t, true
		}
	}
	for _, t := range p.others {
		if (strings.HasPrefix(t.lead, later.lead) || strings.HasPrefix(later.lead, t.lead)) && p.takes(t, later) {
			return t, true
		}
	}
	return tried{}, false
}

// takes reports whether a pattern matches every path that a later one matches.
func (p *passed) takes(earlier, later tried) bool {
	switch {
	case earlier.text == later.text:
		return true
	case earlier.pattern == nil || later.pattern == nil:
		return false
	case earlier.literal:
		return strings.HasPrefix(later.lead, earlier.lead)
	}
	all, known := p.budget.Covers(earlier.pattern, later.pattern)
	return all && known
}

// refused reports the patterns that nginx will reject because PCRE2 does.
func refused(servers []*model.Server) []model.Problem {
	var problems []model.Problem
	for _, server := range servers {
		for _, l := range server.Locations {
			if l.Modifier != model.Pattern {
				continue
			}
			if why := pcre.Rejection(l.Path, pcre.Caseless); why != "" {
				problems = append(problems, model.Problem{Object: l.Rule.Object, Field: l.Rule.Field + ".path", Reason: model.Refused,
					Text: fmt.Sprintf("want a regular expression that nginx takes (got %s): %s; the Ingress keeps its last good form, or is left out if it has none", model.Quoted(l.Rule.Path), why)})
			}
		}
	}
	return problems
}
