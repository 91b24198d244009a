package translate

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/model"
)

// nameAliases gives the hosts their further names. The oldest Ingress of a host
// that has some decides, as with ingress-nginx. A name is served once: as a host
// of an Ingress if it is one, else for the oldest Ingress that asks for it.
func (t *translation) nameAliases(hosts []*host) {
	if len(t.aliased) == 0 {
		return
	}
	byName := make(map[string]*host, len(hosts))
	for _, h := range hosts {
		byName[h.name] = h
	}
	taken := map[string]*ingress{}
	for _, ing := range t.aliased {
		for _, rules := range ing.hosts {
			h := byName[rules.host]
			if first := h.firstAliased(); first != ing {
				t.passOverAliases(ing, first, h)
				continue
			}
			h.aliases = t.freeAliases(ing, h, byName, taken)
		}
	}
}

// firstAliased is the oldest Ingress of the host with a server-alias.
func (h *host) firstAliased() *ingress {
	at := slices.IndexFunc(h.rules, func(r *hostRules) bool { return len(r.owner.aliases) > 0 })
	return h.rules[at].owner
}

// passOverAliases tells a later Ingress that its names are not those of a host.
func (t *translation) passOverAliases(later, first *ingress, h *host) {
	if !slices.Equal(later.aliases, first.aliases) {
		t.reportAlias(later, model.Conflict, fmt.Sprintf("%s is older and decides the aliases of host %q", first.ref, h.name))
	}
}

// freeAliases takes the names of an Ingress for a host that nobody else has.
func (t *translation) freeAliases(ing *ingress, h *host, byName map[string]*host, taken map[string]*ingress) []string {
	var free []string
	for _, alias := range ing.aliases {
		owner := taken[alias]
		switch {
		case alias == h.name:
		case byName[alias] != nil:
			t.reportAlias(ing, model.Conflict, fmt.Sprintf("%s is the host of %s, which is served as it says", shown(alias), byName[alias].rules[0].owner.ref))
		case owner == ing:
			t.reportAlias(ing, model.Ambiguous, fmt.Sprintf("%s is an alias of the first host of this Ingress only, not of %s", shown(alias), shown(h.name)))
		case owner != nil:
			t.reportAlias(ing, model.Conflict, fmt.Sprintf("%s is an alias that %s has, and the oldest counts", shown(alias), owner.ref))
		default:
			taken[alias] = ing
			free = append(free, alias)
		}
	}
	return free
}

func (t *translation) reportAlias(ing *ingress, reason model.Reason, text string) {
	t.report(model.Problem{Object: ing.ref, Field: ing.prefixKey + "server-alias", Reason: reason, Text: text})
}

// coveredAliases are the aliases that the certificate of the host is for.
func (h *host) coveredAliases() []string {
	var names []string
	for _, alias := range h.aliases {
		if !strings.HasPrefix(alias, "~") && covers(h.certificate.pair.names, alias) {
			names = append(names, alias)
		}
	}
	return names
}

// divideAliases adds the aliases to a server that are redirected to HTTPS as it
// is, and gives what the servers of the others are made of. A wildcard host
// takes no name but its own: it has a guard.
func (h *host) divideAliases(in *serverInput, assigned wildcards) []serverInput {
	if len(h.aliases) == 0 {
		return nil
	}
	var same, other []string
	for _, alias := range h.aliases {
		if covered := assigned[alias] || assigned.above(alias); covered == in.covered {
			same = append(same, alias)
		} else {
			other = append(other, alias)
		}
	}
	var more []serverInput
	apart := func(names []string, covered bool) {
		if len(names) > 0 {
			more = append(more, serverInput{covered: covered, aliases: strings.Join(names, " "), aliasesOnly: true})
		}
	}
	if h.wildcard() {
		apart(same, in.covered)
	} else {
		in.aliases = strings.Join(same, " ")
	}
	apart(other, !in.covered)
	slices.SortFunc(more, func(a, b serverInput) int { return strings.Compare(a.aliases, b.aliases) })
	return more
}
