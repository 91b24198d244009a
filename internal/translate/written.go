package translate

import (
	"fmt"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// Reasons of surprises that lie in what was written.
const (
	Star      model.Reason = "Star"      // a path ends in /*, which is no wildcard
	Groupless model.Reason = "Groupless" // a rewrite names a group that the path does not have
	Unslashed model.Reason = "Unslashed" // a rewrite gives URIs that do not begin with a slash
)

// starred reports the paths that end in /*, as other controllers write "whatever
// follows".
func (b *builder) starred() {
	for _, rules := range b.host.rules {
		for i := range rules.claims {
			c := &rules.claims[i]
			stem, found := strings.CutSuffix(c.path, "/*")
			switch specific := c.pathType == pathSpecific; {
			case !found:
			case b.scope == wholeHost || b.scope == onlyAsking && b.asking[rules] && specific:
				b.problem(c, ".path", Star, fmt.Sprintf("in a pattern /* is any number of slashes: want %s for whatever follows", shown(stem+"/.*")))
			default:
				b.problem(c, ".path", Star, fmt.Sprintf("the * stands for itself: want %s with pathType Prefix for whatever follows", shown(stem+"/")))
			}
		}
	}
}

// groupless reports the rewrites that put in what no group of the path captures.
func (b *builder) groupless() {
	for _, l := range b.locations {
		if l.Rewrite == nil || l.Rule.Kind != model.RuleWritten || l.Modifier == model.Equal && l.Rule.PathType != string(pathExact) {
			continue
		}
		pattern, err := pcre.Compile(strings.TrimPrefix(l.Rewrite.Pattern, "(?i)"), pcre.Caseless)
		if err != nil {
			continue // others tell of it, or nobody can
		}
		for digit := pattern.NumGroups() + 1; digit <= 9; digit++ {
			if named := fmt.Sprintf("$%d", digit); strings.Contains(l.Rewrite.Target, named) {
				b.rewriteSurprise(l.Rule.Object, Groupless, fmt.Sprintf("%s is empty, as the path %s has %s: put what it is to hold in ( )", named, shown(l.Rule.Path), groups(pattern.NumGroups())))
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

// unslashed reports a rewrite to what is no path: backends answer it with 400.
func (t *translation) unslashed(ing *owner) {
	for each := range ing.annotations.Each() {
		t.unslashedTarget(ing, each.Rewrite.Target)
	}
}

func (t *translation) unslashedTarget(ing *owner, target string) {
	if target == "" || strings.ContainsAny(target[:1], "/$") || strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
		return
	}
	t.report(model.Problem{Object: ing.ref, Field: ing.prefixKey + "rewrite-target", Reason: Unslashed,
		Text: fmt.Sprintf("what is passed on does not begin with /, which backends refuse: want %s", shown("/"+target))})
}

func (b *builder) rewriteSurprise(object model.ObjectRef, reason model.Reason, text string) {
	b.out.problems = append(b.out.problems, model.Problem{Object: object, Field: b.options.AnnotationsPrefix + "/rewrite-target", Reason: reason, Text: text})
}
