package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
)

// The limits of patterns among server names. nginx tries them one by one on each name
// that no server has literally.
const (
	mostNamespacePatterns = 20
	mostPatterns          = 200
)

// patternBudget counts the accepted patterns by namespace; "" counts all.
type patternBudget map[string]int

// take counts an alias if it is a pattern. If there are too many patterns already, it
// returns whose they are and the limit.
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

// nameAliases gives the hosts their aliases. As in ingress-nginx, the oldest owner of a
// host with aliases decides. A name has one server: that of its host if an owner has it
// as a host, otherwise that of the oldest owner with the alias. nameAliases returns the
// hosts without the vacant ones that are aliases now.
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
	var takers []*claim.Owner // whose patterns take names of a catch-all host of another namespace
	for _, owner := range t.aliased {
		for _, rules := range owner.Hosts {
			h := byName[rules.Host]
			if h == nil || t.byNamespace() && owner.Ref.Namespace != h.oldest.Ref.Namespace || slices.Contains(h.heirs, rules) {
				continue
			}
			if first := h.firstAliased(); first != owner {
				t.passOverAliases(owner, first, h)
				continue
			}
			h.aliases = t.withinBudget(owner, t.freeAliases(owner, h, byName, taken), budget)
			if h.name != "" && claim.CountPatterns(h.aliases) > 0 && !t.byNamespace() && byName[""].younger(owner) {
				takers = append(takers, owner)
			}
		}
	}
	t.crossNames(byName[""], takers)
	return slices.DeleteFunc(slices.Clone(hosts), func(h *host) bool { return taken[h.name] != nil })
}

// firstAliased is the oldest deciding owner with aliases, nil for none.
func (h *host) firstAliased() *claim.Owner {
	at := slices.IndexFunc(h.deciding, func(r *claim.Rules) bool { return len(r.Owner.Aliases) > 0 })
	if at < 0 {
		return nil
	}
	return h.deciding[at].Owner
}

// passOverAliases reports that an older owner decides the aliases of the host.
func (t *Assembly) passOverAliases(later, first *claim.Owner, h *host) {
	if !slices.Equal(later.Aliases, first.Aliases) {
		t.reportAlias(later, model.Conflict, fmt.Sprintf("%s is older and decides the aliases of host %q", first.Ref, h.name))
	}
}

// freeAliases takes the aliases that no other owner has.
func (t *Assembly) freeAliases(owner *claim.Owner, h *host, byName map[string]*host, taken map[string]*claim.Owner) []string {
	var free []string
	for _, alias := range owner.Aliases {
		holder, same := taken[alias], byName[alias]
		switch {
		case alias == h.name:
		case t.byNamespace() && alias[0] == '~' && t.keepsNames(byName[""], owner):
			t.reportAlias(owner, model.NotDelegated, notDelegatedPattern(alias, byName[""].oldest, owner))
		case same != nil && same.keeps(owner):
			t.reportHost(owner, same)
		case holder == owner:
			t.reportAlias(owner, model.Ambiguous, fmt.Sprintf("%s is an alias of the first host of this Ingress only, not of %s", claim.Shown(alias), claim.Shown(h.name)))
		case holder != nil:
			t.reportAlias(owner, model.Conflict, fmt.Sprintf("%s is an alias that %s has, and the oldest counts", claim.Shown(alias), holder.Ref))
		default:
			taken[alias] = owner
			free = append(free, alias)
		}
	}
	return free
}

// reportHost reports an alias that is the host of another owner.
func (t *Assembly) reportHost(owner *claim.Owner, h *host) {
	if len(h.rules) > 0 {
		t.reportAlias(owner, model.Conflict, fmt.Sprintf("%s is the host of %s, which is served as it says", claim.Shown(h.name), h.rules[0].Owner.Ref))
		return
	}
	t.reportAlias(owner, model.NotDelegated, fmt.Sprintf("%s is owned by namespace %s, because %s is its oldest Ingress, although it is not served for the time being: the alias is left out; use another name", claim.Shown(h.name), h.oldest.Ref.Namespace, h.oldest.Ref))
}

// withinBudget leaves out patterns beyond the limits.
func (t *Assembly) withinBudget(owner *claim.Owner, aliases []string, budget patternBudget) []string {
	return slices.DeleteFunc(aliases, func(alias string) bool {
		whose, most := budget.take(alias, owner.Ref.Namespace)
		if whose != "" {
			t.reportAlias(owner, model.Conflict, fmt.Sprintf("%s is left out: want at most %d patterns %s, as nginx tries each on every name that nobody has, and the oldest count", claim.Shown(alias), most, whose))
		}
		return whose != ""
	})
}

func (t *Assembly) reportAlias(owner *claim.Owner, reason model.Reason, text string) {
	t.report(model.Problem{Object: owner.Ref, Field: owner.AliasKey(), Reason: reason, Text: text})
}

// coveredAliases are the aliases that the certificate of the host is valid for.
func (h *host) coveredAliases() []string {
	var names []string
	for _, alias := range h.aliases {
		if !strings.HasPrefix(alias, "~") && claim.Covers(h.certificate.pair.Names, alias) {
			names = append(names, alias)
		}
	}
	return names
}

// divideAliases adds aliases to the input of a server. An alias needs a server of its
// own if its redirect to HTTPS or its health path differs; divideAliases returns the
// inputs of these servers. A wildcard host takes no aliases, because its server checks
// the name. The catch-all host takes none either: it is first in the file, where its
// patterns would win over the names of wildcard hosts.
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

// yielding turns a wildcard alias into a pattern for the same names if it overlaps a
// wildcard host. nginx prefers wildcards to patterns: if the host is printed as a
// pattern, the alias would take all its names.
func (t *Assembly) yielding(alias string) string {
	if alias[0] == '~' || !slices.ContainsFunc(t.labelled, func(host string) bool { return overlaps(alias, host) }) {
		return alias
	}
	if beginning, ok := strings.CutSuffix(alias, ".*"); ok {
		return "~^" + pcre.Quote(beginning) + `\..+$`
	}
	return "~^.+" + pcre.Quote(alias[1:]) + "$"
}

// overlaps reports whether a wildcard alias (of any number of labels) and a wildcard
// host (of one label) share names, and the alias is not the more precise one.
func overlaps(alias, host string) bool {
	if suffix, ok := strings.CutPrefix(alias, "*"); ok {
		return strings.HasSuffix(host, suffix) && host != alias
	}
	beginning, ok := strings.CutSuffix(alias, "*")
	_, second, _ := strings.Cut(beginning, ".")
	return ok && strings.HasPrefix(strings.TrimPrefix(host, "*."), second)
}

// orderPatterns puts servers with patterns among their aliases last, those of the
// oldest owner first. nginx uses the first matching pattern of the file, and the names
// of wildcard hosts may be patterns too.
func (t *Assembly) orderPatterns(servers []*model.Server, hosts []*host) {
	if len(t.aliased) == 0 {
		return
	}
	age := make(map[*claim.Owner]int, len(t.aliased))
	for i, owner := range t.aliased {
		age[owner] = i + 1
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
