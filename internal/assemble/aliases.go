package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
)

// How many patterns may be among the names of servers. nginx tries them one by one
// on each name that nobody has as it is.
const (
	mostNamespacePatterns = 20
	mostPatterns          = 200
)

// patternBudget counts the patterns that are taken, by namespace; those of "" are
// all.
type patternBudget map[string]int

// take has an alias counted if it is a pattern, unless there are too many already:
// it then says of whom there are, and how many may be.
func (p patternBudget) take(alias, namespace string) (whose string, most int) {
	switch {
	case alias[0] != '~':
		return "", 0
	case p[namespace] >= mostNamespacePatterns:
		return "in a namespace", mostNamespacePatterns
	case p[""] >= mostPatterns:
		return "in all", mostPatterns
	}
	p[namespace]++
	p[""]++
	return "", 0
}

// nameAliases gives the hosts their further names. The oldest Ingress of a host
// that has some decides, as with ingress-nginx. A name is served once: as a host
// of an Ingress if it is one, else for the oldest Ingress that asks for it. It gives
// the hosts without the vacant ones that are aliases now.
func (t *Assembly) nameAliases(hosts []*host) []*host {
	if len(t.aliased) == 0 {
		return hosts
	}
	byName := make(map[string]*host, len(hosts))
	for _, h := range hosts {
		byName[h.name] = h
		if h.wildcard() {
			t.labelled = append(t.labelled, h.name)
		}
	}
	taken, budget := map[string]*claim.Owner{}, patternBudget{}
	var takers []*claim.Owner // by their patterns, of names that the catch-all host of another namespace has
	for _, ing := range t.aliased {
		for _, rules := range ing.Hosts {
			h := byName[rules.Host]
			if h == nil || t.byNamespace() && ing.Ref.Namespace != h.oldest.Ref.Namespace {
				continue
			}
			if first := h.firstAliased(); first != ing {
				t.passOverAliases(ing, first, h)
				continue
			}
			h.aliases = t.withinBudget(ing, t.freeAliases(ing, h, byName, taken), budget)
			if h.name != "" && claim.CountPatterns(h.aliases) > 0 && !t.byNamespace() && byName[""].younger(ing) {
				takers = append(takers, ing)
			}
		}
	}
	t.crossNames(byName[""], takers)
	return slices.DeleteFunc(slices.Clone(hosts), func(h *host) bool { return taken[h.name] != nil })
}

// firstAliased is the oldest deciding Ingress of the host with a server-alias, nil
// for none.
func (h *host) firstAliased() *claim.Owner {
	at := slices.IndexFunc(h.deciding, func(r *claim.Rules) bool { return len(r.Owner.Aliases) > 0 })
	if at < 0 {
		return nil
	}
	return h.deciding[at].Owner
}

// passOverAliases tells a later Ingress that its names are not those of a host.
func (t *Assembly) passOverAliases(later, first *claim.Owner, h *host) {
	if !slices.Equal(later.Aliases, first.Aliases) {
		t.reportAlias(later, model.Conflict, fmt.Sprintf("%s is older and decides the aliases of host %q", first.Ref, h.name))
	}
}

// freeAliases takes the names of an Ingress for a host that nobody else has.
func (t *Assembly) freeAliases(ing *claim.Owner, h *host, byName map[string]*host, taken map[string]*claim.Owner) []string {
	var free []string
	for _, alias := range ing.Aliases {
		owner, same := taken[alias], byName[alias]
		switch {
		case alias == h.name:
		case t.byNamespace() && alias[0] == '~' && t.keepsNames(byName[""], ing):
			t.reportAlias(ing, model.NotDelegated, notDelegatedPattern(alias, byName[""].oldest, ing))
		case same != nil && same.keeps(ing):
			t.reportHost(ing, same)
		case owner == ing:
			t.reportAlias(ing, model.Ambiguous, fmt.Sprintf("%s is an alias of the first host of this Ingress only, not of %s", claim.Shown(alias), claim.Shown(h.name)))
		case owner != nil:
			t.reportAlias(ing, model.Conflict, fmt.Sprintf("%s is an alias that %s has, and the oldest counts", claim.Shown(alias), owner.Ref))
		default:
			taken[alias] = ing
			free = append(free, alias)
		}
	}
	return free
}

// reportHost tells an Ingress that an alias is a host that somebody else has.
func (t *Assembly) reportHost(ing *claim.Owner, h *host) {
	if len(h.rules) > 0 {
		t.reportAlias(ing, model.Conflict, fmt.Sprintf("%s is the host of %s, which is served as it says", claim.Shown(h.name), h.rules[0].Owner.Ref))
		return
	}
	t.reportAlias(ing, model.NotDelegated, fmt.Sprintf("%s is owned by namespace %s, because %s is its oldest Ingress, although it is not served for the time being: the alias is left out; use another name", claim.Shown(h.name), h.oldest.Ref.Namespace, h.oldest.Ref))
}

// withinBudget leaves out patterns if older Ingresses have many.
func (t *Assembly) withinBudget(ing *claim.Owner, aliases []string, budget patternBudget) []string {
	return slices.DeleteFunc(aliases, func(alias string) bool {
		whose, most := budget.take(alias, ing.Ref.Namespace)
		if whose != "" {
			t.reportAlias(ing, model.Conflict, fmt.Sprintf("%s is left out: want at most %d patterns %s, as nginx tries each on every name that nobody has, and the oldest count", claim.Shown(alias), most, whose))
		}
		return whose != ""
	})
}

func (t *Assembly) reportAlias(ing *claim.Owner, reason model.Reason, text string) {
	t.report(model.Problem{Object: ing.Ref, Field: ing.AliasKey(), Reason: reason, Text: text})
}

// coveredAliases are the aliases that the certificate of the host is for.
func (h *host) coveredAliases() []string {
	var names []string
	for _, alias := range h.aliases {
		if !strings.HasPrefix(alias, "~") && claim.Covers(h.certificate.pair.Names, alias) {
			names = append(names, alias)
		}
	}
	return names
}

// divideAliases adds the aliases to a server that are redirected to HTTPS as it
// is, and have the health path if it does, and gives what the servers of the others
// are made of. A wildcard host
// takes no name but its own: it has a guard. The catch-all host is first in the
// file, where its patterns would come before the names of wildcard hosts.
func (t *Assembly) divideAliases(h *host, in *serverInput, assigned wildcards) []serverInput {
	if len(h.aliases) == 0 {
		return nil
	}
	type kind struct{ covered, addresses bool }
	names := map[kind][]string{}
	for _, alias := range h.aliases {
		k := kind{assigned[alias] != nil || t.covererAbove(h, alias, assigned) != nil, t.healthFor(alias)}
		names[k] = append(names[k], t.yielding(alias))
	}
	if !h.wildcard() && h.name != "" {
		own := kind{in.covered, in.addresses}
		in.aliases = strings.Join(names[own], " ")
		delete(names, own)
	}
	var more []serverInput
	for k, list := range names {
		more = append(more, serverInput{covered: k.covered, addresses: k.addresses, aliases: strings.Join(list, " "), aliasesOnly: true})
	}
	slices.SortFunc(more, func(a, b serverInput) int { return strings.Compare(a.aliases, b.aliases) })
	return more
}

// yielding gives an alias that is a wildcard as the pattern of the same names,
// where some of them are those of a wildcard host. If the name of the host is
// given to nginx as a pattern, nginx would take the wildcard first, and another
// Ingress would have all names of the host.
func (t *Assembly) yielding(alias string) string {
	if alias[0] == '~' || !slices.ContainsFunc(t.labelled, func(host string) bool { return overlaps(alias, host) }) {
		return alias
	}
	if beginning, ok := strings.CutSuffix(alias, ".*"); ok {
		return "~^" + pcre.Quote(beginning) + `\..+$`
	}
	return "~^.+" + pcre.Quote(alias[1:]) + "$"
}

// overlaps says whether an alias that is a wildcard, of any number of labels,
// stands for names of a wildcard host, which is one label and what follows it. If
// the alias is the more precise one, it does not.
func overlaps(alias, host string) bool {
	if suffix, ok := strings.CutPrefix(alias, "*"); ok {
		return strings.HasSuffix(host, suffix) && host != alias
	}
	beginning, ok := strings.CutSuffix(alias, "*")
	_, second, _ := strings.Cut(beginning, ".")
	return ok && strings.HasPrefix(strings.TrimPrefix(host, "*."), second)
}

// orderPatterns puts the servers with patterns among their aliases last, those of
// the oldest Ingress first: nginx takes the first pattern of the file that
// matches, and the names of wildcard hosts may be patterns too.
func (t *Assembly) orderPatterns(servers []*model.Server, hosts []*host) {
	if len(t.aliased) == 0 {
		return
	}
	age := make(map[*claim.Owner]int, len(t.aliased))
	for i, ing := range t.aliased {
		age[ing] = i + 1
	}
	ranks := map[string]int{}
	for _, h := range hosts {
		if len(h.aliases) > 0 {
			ranks[h.name] = age[h.firstAliased()]
		}
	}
	rank := func(s *model.Server) int {
		if !slices.ContainsFunc(s.Aliases, func(alias string) bool { return alias[0] == '~' }) {
			return 0
		}
		return ranks[s.Host]
	}
	slices.SortStableFunc(servers, func(a, b *model.Server) int { return rank(a) - rank(b) })
}
