package assemble

import (
	"fmt"
	"slices"

	"sluice/internal/claim"
)

// Names that no rule has are those of the rules without a host. A pattern among the
// aliases can match any of them; every other name is more exact, and may be taken.

// younger says whether an Ingress is of another namespace than the oldest one of the
// host, and younger.
func (h *host) younger(ing *claim.Owner) bool {
	return h.oldest != nil && h.oldest.Ref.Namespace != ing.Ref.Namespace && h.oldest.Age.Compare(ing.Age) < 0
}

// keepsNames says whether the catch-all host leaves its names to no pattern of an
// Ingress: it is younger, of another namespace, and the host is not delegated to it.
func (t *Assembly) keepsNames(all *host, ing *claim.Owner) bool {
	to := func(text string) bool { return claim.Delegates(text, ing.Ref.Namespace) }
	return all.younger(ing) && !slices.ContainsFunc(t.delegations(all, all.oldest.Ref.Namespace), to)
}

func notDelegatedPattern(alias string, oldest, ing *claim.Owner) string {
	return fmt.Sprintf("names that no rule has are owned by the namespace %s, as %s is the oldest Ingress with rules without a host: %s is left out until that Ingress, or another one of its namespace with such rules, has %s in its annotation %s",
		oldest.Ref.Namespace, oldest.Ref, claim.Shown(alias), claim.Quoted(ing.Ref.Namespace), claim.HostDelegation)
}

// crossNames reports the Ingresses whose patterns take names from the catch-all host
// of another namespace, where nobody owns it.
func (t *Assembly) crossNames(all *host, takers []*claim.Owner) {
	if len(takers) > 0 {
		t.report(all.crossing(takers, (*claim.Owner).AliasKey, "names that match a pattern are taken from %s", inBoth)...)
	}
}
