package assemble

import (
	"fmt"
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// Names that no rule has belong to the rules without a host. A pattern among the aliases
// can take any of them. Every other alias is more precise, and may be taken.

// younger reports whether an owner is younger than the oldest one of the host, and of
// another namespace.
func (h *host) younger(owner *claim.Owner) bool {
	return h.oldest != nil && h.oldest.Ref.Namespace != owner.Ref.Namespace && h.oldest.Age.Compare(owner.Age) < 0
}

// keepsNames reports whether the catch-all host refuses the patterns of an owner,
// because that is younger, of another namespace, and has no delegation.
func (t *Assembly) keepsNames(all *host, owner *claim.Owner) bool {
	to := func(text string) bool { return claim.Delegates(text, owner.Ref.Namespace) }
	return all.younger(owner) && !slices.ContainsFunc(t.delegations(all, all.oldest.Ref.Namespace), to)
}

func notDelegatedPattern(alias string, oldest, owner *claim.Owner) string {
	return fmt.Sprintf("names that no rule has are owned by the namespace %s, as %s is the oldest Ingress with rules without a host: %s is left out until that Ingress, or another one of its namespace with such rules, has %s in its annotation %s",
		oldest.Ref.Namespace, oldest.Ref, claim.Shown(alias), model.Quoted(owner.Ref.Namespace), claim.HostDelegation)
}

// crossNames reports patterns that take names from the catch-all host of another
// namespace, if nobody owns it.
func (t *Assembly) crossNames(all *host, takers []*claim.Owner) {
	if len(takers) > 0 {
		others, oldest := all.crossing(takers, (*claim.Owner).AliasKey, "names that match a pattern are taken from %s")
		t.report(append(others, oldest)...)
	}
}
