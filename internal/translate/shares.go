package translate

import (
	"fmt"
	"maps"
	"slices"

	"sluice/internal/annotations"
)

// mostSharesOfNamespace and mostShares are the maxima of different lists of
// access-log-sampling, of a namespace and in all. nginx has variables for each list in each
// request of anybody.
const mostSharesOfNamespace, mostShares = 8, 64

// sampling is the annotation with such a list.
const sampling = "access-log-sampling"

// withinShares counts the lists of an Ingress. Beyond a maximum, it returns the Ingress with
// the shares of the settings. The oldest Ingresses count first; those with the same list
// share it.
func (t *translation) withinShares(ing *owner) *owner {
	lists := map[string]bool{}
	for each := range ing.Annotations.Each() {
		if shares := each.Logs.Shares; len(shares) > 0 && !slices.Equal(shares, t.settings.Log.AccessShares) {
			lists[fmt.Sprint(shares)] = true
		}
	}
	if len(lists) == 0 {
		return ing
	}
	ours := t.shares[ing.Ref.Namespace]
	together, everywhere := maps.Clone(ours), 0
	if together == nil {
		together = map[string]bool{}
	}
	maps.Copy(together, lists)
	for list := range lists {
		if t.shares[""][list] {
			everywhere--
		}
	}
	if everywhere += len(lists) + len(t.shares[""]); len(together) > mostSharesOfNamespace || everywhere > mostShares {
		return t.without(ing, []string{sampling}, annotations.OwnPrefix+sampling, fmt.Sprintf("want a list that another Ingress has: a namespace may have %d different ones, all together %d, and those of the oldest Ingresses count first: the shares of the settings hold", mostSharesOfNamespace, mostShares))
	}
	t.shares[ing.Ref.Namespace] = together
	maps.Copy(t.shares[""], lists)
	return ing
}
