package translate

import (
	"fmt"
	"slices"
)

// Names that no rule has are those of the rules without a host. A pattern among the
// aliases can match any of them; every other name is more exact, and may be taken.

// younger says whether an Ingress is of another namespace than the oldest one of the
// host, and younger.
func (h *host) younger(ing *owner) bool {
	return h.oldest != nil && h.oldest.ref.Namespace != ing.ref.Namespace && h.oldest.age.compare(ing.age) < 0
}

// keepsNames says whether the catch-all host leaves its names to no pattern of an
// Ingress: it is younger, of another namespace, and the host is not delegated to it.
func (t *translation) keepsNames(all *host, ing *owner) bool {
	to := func(text string) bool { return delegates(text, ing.ref.Namespace) }
	return all.younger(ing) && !slices.ContainsFunc(t.delegations(all, all.oldest.ref.Namespace), to)
}

func notDelegatedPattern(alias string, oldest, ing *owner) string {
	return fmt.Sprintf("names that no rule has are owned by the namespace %s, as %s is the oldest Ingress with rules without a host: %s is left out until that Ingress, or another one of its namespace with such rules, has %s in its annotation %s",
		oldest.ref.Namespace, oldest.ref, shown(alias), quoted(ing.ref.Namespace), HostDelegation)
}

// crossNames reports the Ingresses whose patterns take names from the catch-all host
// of another namespace, where nobody owns it.
func (t *translation) crossNames(all *host, takers []*owner) {
	if len(takers) > 0 {
		t.report(all.crossing(takers, (*owner).aliasKey, "names that match a pattern are taken from %s", inBoth)...)
	}
}
