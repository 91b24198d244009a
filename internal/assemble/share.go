package assemble

import (
	"fmt"
	"slices"

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

// shareSteps divides the steps of a namespace among its hard patterns on the host, so that
// many of them hold up a worker no longer than a few. Other namespaces keep their
// limits.
func (b *builder) shareSteps() {
	hard := b.hardPatterns()
	reported := map[model.ObjectRef]bool{}
	for _, patterns := range hard {
		if len(patterns) <= mostHard {
			continue
		}
		most := b.Settings.Patterns.MatchLimit
		each := min(most, max(most*mostHard/len(patterns), leastSteps))
		for _, l := range patterns {
			l.MatchLimit = each
			if reported[l.Rule.Object] {
				continue
			}
			reported[l.Rule.Object] = true
			b.out.problems = append(b.out.problems, model.Problem{Object: l.Rule.Object, Field: l.Rule.Field + ".path", Reason: model.NoRoom,
				Text: fmt.Sprintf("the namespace %s has %d patterns on %s that can take nginx many steps, so that each of them may take %d instead of %d, beyond which nginx answers 500: want at most %d, or patterns that repeat one thing only, such as [^/]+",
					l.Rule.Object.Namespace, len(patterns), hostWords(b.host.name), each, most, mostHard)})
		}
	}
}

// hardPatterns returns the locations with hard patterns by namespace. A namespace with
// few patterns has all of them listed, because no check is needed.
func (b *builder) hardPatterns() map[string][]*model.Location {
	patterns := map[string][]*model.Location{}
	for _, l := range b.locations {
		if l.Modifier == model.Pattern && l.Rule.Kind == model.RuleWritten {
			patterns[l.Rule.Object.Namespace] = append(patterns[l.Rule.Object.Namespace], l)
		}
	}
	for namespace, all := range patterns {
		if len(all) > mostHard {
			patterns[namespace] = slices.DeleteFunc(all, func(l *model.Location) bool { return !pcre.Hard(l.Path) })
		}
	}
	return patterns
}
