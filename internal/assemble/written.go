package assemble

import (
	"fmt"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
)

// starred reports paths that end in /*, which other controllers read as a wildcard.
func (b *builder) starred() {
	for _, b.rules = range b.host.rules {
		for i := range b.rules.Claims {
			c := &b.rules.Claims[i]
			switch stem, found := strings.CutSuffix(c.Path, "/*"); {
			case !found:
			case b.isPattern(c):
				b.problem(c, ".path", Star, fmt.Sprintf("in a pattern /* is any number of slashes: want %s for whatever follows", claim.Shown(stem+"/.*")))
			default:
				b.problem(c, ".path", Star, fmt.Sprintf("the * stands for itself: want %s with pathType Prefix for whatever follows", claim.Shown(stem+"/")))
			}
		}
	}
}

// groupless reports rewrites with a group that the path lacks.
func (b *builder) groupless() {
	for _, l := range b.locations {
		if l.Rewrite == nil || l.Rule.Kind != model.RuleWritten || l.Modifier == model.Equal && l.Rule.PathType != string(claim.Exact) {
			continue
		}
		pattern, err := pcre.Compile(strings.TrimPrefix(l.Rewrite.Pattern, "(?i)"), pcre.Caseless)
		if err != nil {
			continue // nginx reports it, or package pcre cannot read it
		}
		for digit := pattern.NumGroups() + 1; digit <= 9; digit++ {
			if named := fmt.Sprintf("$%d", digit); strings.Contains(l.Rewrite.Target, named) {
				b.rewriteSurprise(l.Rule.Object, Groupless, fmt.Sprintf("%s is empty, as the path %s has %s: put what it is to hold in ( )", named, claim.Shown(l.Rule.Path), groups(pattern.NumGroups())))
			}
		}
	}
}

func groups(n int) string {
	switch n {
	case 0:
		return "no group"
	case 1:
		return "one group"
	}
	return fmt.Sprintf("%d groups", n)
}

func (b *builder) rewriteSurprise(object model.ObjectRef, reason model.Reason, text string) {
	b.tell(model.Problem{Object: object, Field: b.rulesOf(object).Owner.PrefixKey + "rewrite-target", Reason: reason, Text: text})
}
