package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/pcre"
)

const (
	// mostHard is the number of hard patterns that a namespace may have on a host with
	// the whole limit of steps each. nginx may try all of them on one request.
	mostHard = 10
	// leastSteps is enough to reject a request for another path.
	leastSteps = 20
)

// hard are the patterns of a namespace on a host that can take many steps and that nginx may
// try on one request: those of paths, those of conditions, and the most that deny-paths has at
// one path.
type hard struct {
	paths      []*model.Location
	conditions []hardCondition
	denied     int
	// known are conditions and parameters that were found before.
	known map[model.Condition]bool
}

// hardCondition is a condition of a conditional claim. weight is the number of patterns that
// nginx tries for it: also that of its parameter, if no other condition has that.
type hardCondition struct {
	*conditional
	at, weight int
}

// shareSteps divides the steps of a namespace among its hard patterns on the host, so that
// many of them hold up a worker no longer than a few. Other namespaces keep their
// limits. The lines of one deny-paths share the steps of ten among themselves already.
func (b *builder) shareSteps() {
	for namespace, h := range b.hardPatterns() {
		conditions := 0
		for _, c := range h.conditions {
			conditions += c.weight
		}
		total, most := len(h.paths)+conditions+h.denied, b.Settings.Patterns.MatchLimit
		if total <= mostHard || total == h.denied {
			continue
		}
		each := min(most, max(most*mostHard/total, leastSteps))
		var parts []string
		for _, part := range []struct {
			number int
			of     string
		}{{len(h.paths), "of paths"}, {conditions, "of headers and parameters"}, {h.denied, "of deny-paths"}} {
			if part.number > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", part.number, part.of))
			}
		}
		text := fmt.Sprintf("the namespace %s has %s on %s that can take nginx many steps, so that each of them may take %d instead of %d, beyond which %s: want at most %d, or patterns that repeat one thing only, such as [^/]+",
			namespace, patternsOf(parts, total, h), hostWords(b.host.name), each, most, beyond(h), mostHard)
		b.limit(h, namespace, each, text)
	}
}

// patternsOf counts patterns, by their kinds if there are several.
func patternsOf(parts []string, total int, h *hard) string {
	if len(h.paths) == total {
		return fmt.Sprintf("%d patterns", total)
	}
	return fmt.Sprintf("%d patterns (%s)", total, strings.Join(parts, ", "))
}

func beyond(h *hard) string {
	switch {
	case len(h.conditions) == 0:
		return "nginx answers 500"
	case len(h.paths)+h.denied == 0:
		return "it does not match"
	}
	return "nginx answers 500, and a header or parameter does not match"
}

// limit gives each hard pattern of a namespace its steps, and reports it to each object once.
func (b *builder) limit(h *hard, namespace string, each int, text string) {
	reported := map[model.ObjectRef]bool{}
	report := func(object model.ObjectRef, field string) {
		if !reported[object] {
			reported[object] = true
			b.tell(model.Problem{Object: object, Field: field, Reason: model.NoRoom, Text: text})
		}
	}
	for _, l := range h.paths {
		l.MatchLimit = each
		report(l.Rule.Object, l.Rule.Field+".path")
	}
	for _, c := range h.conditions {
		c.conditions[c.at].MatchLimit = each // the candidates have the same slice
		report(c.Owner.Ref, c.Field)
	}
	for l := range b.everyLocation() {
		if l.Rule.Object.Namespace != namespace {
			continue
		}
		if at := slices.IndexFunc(l.Blocks, deniesPaths); at >= 0 {
			l.Blocks = slices.Clone(l.Blocks)
			l.Blocks[at].Data = within(l.Blocks[at].Data.(annotations.DenyPaths), each)
		}
	}
}

// everyLocation yields the locations of the host, also those that no client reaches.
func (b *builder) everyLocation() func(yield func(*model.Location) bool) {
	return func(yield func(*model.Location) bool) {
		for _, l := range b.locations {
			if !yield(l) {
				return
			}
		}
		for _, internal := range b.internals.found {
			if !yield(internal.Location) {
				return
			}
		}
	}
}

func deniesPaths(block model.Block) bool {
	_, is := block.Data.(annotations.DenyPaths)
	return is
}

// within returns deny-paths with fewer steps for its hard patterns.
func within(d annotations.DenyPaths, steps int) annotations.DenyPaths {
	d.Lines = slices.Clone(d.Lines)
	for i := range d.Lines {
		if pcre.Hard(d.Lines[i].Pattern) {
			d.Lines[i].Steps = min(d.Lines[i].Steps, steps)
		}
	}
	return d
}

// hardPatterns returns the hard patterns of each namespace. A namespace with few patterns of a
// kind has all of them listed, because no check is needed.
func (b *builder) hardPatterns() map[string]*hard {
	found := map[string]*hard{}
	of := func(namespace string) *hard {
		if found[namespace] == nil {
			found[namespace] = &hard{known: map[model.Condition]bool{}}
		}
		return found[namespace]
	}
	for _, l := range b.locations {
		if l.Modifier == model.Pattern && l.Rule.Kind == model.RuleWritten {
			h := of(l.Rule.Object.Namespace)
			h.paths = append(h.paths, l)
		}
	}
	for _, c := range b.conditionals {
		of(c.Owner.Ref.Namespace).addConditions(c)
	}
	denied := map[*keys.DeniedPath]int{}
	for l := range b.everyLocation() {
		for _, block := range l.Blocks {
			if asked, is := block.Data.(annotations.DenyPaths); is && len(asked.Lines) > 0 {
				h := of(l.Rule.Object.Namespace)
				h.denied = max(h.denied, hardLines(asked.Lines, denied))
			}
		}
	}
	for _, h := range found {
		if len(h.paths)+len(h.conditions)+h.denied > mostHard {
			h.paths = slices.DeleteFunc(h.paths, func(l *model.Location) bool { return !pcre.Hard(l.Path) })
		}
	}
	return found
}

// addConditions adds the conditions of a claim that can take many steps, each once: nginx
// compares a header with the same pattern once.
func (h *hard) addConditions(c *conditional) {
	first := func(of model.Condition) bool {
		seen := h.known[of]
		h.known[of] = true
		return !seen
	}
	for at, condition := range c.conditions {
		weight := 0
		if pcre.Slow(condition.Pattern) && first(condition) {
			weight++
		}
		if condition.Of == model.OfQuery && first(model.Condition{Of: condition.Of, Name: condition.Name}) {
			weight++
		}
		if weight > 0 || pcre.Slow(condition.Pattern) {
			h.conditions = append(h.conditions, hardCondition{c, at, weight})
		}
	}
}

// hardLines counts the hard patterns of deny-paths; known are the former answers, by the first
// line.
func hardLines(lines keys.DeniedPaths, known map[*keys.DeniedPath]int) int {
	if _, is := known[&lines[0]]; !is {
		known[&lines[0]] = len(slices.DeleteFunc(slices.Clone(lines), func(d keys.DeniedPath) bool { return !pcre.Hard(d.Pattern) }))
	}
	return known[&lines[0]]
}
