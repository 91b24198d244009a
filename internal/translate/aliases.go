package translate

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/pcre"
)

// readAliases takes the further names of the hosts. nginx tries the patterns of
// all servers on a name that nobody has as it is, and closes the connection where
// PCRE gives up on one of them: such a pattern would be everybody's loss. The other
// names beside it are left out too, but for an Ingress that keeps requests out: what
// is asked of them must not go to a neighbour.
func (i *owner) readAliases(names []string) {
	if i.denial == DenyBeginnings {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name[0] == '~' })
	}
	if patterns := countPatterns(names); patterns > mostIngressPatterns {
		i.report(i.aliasKey(), model.InvalidValue, fmt.Sprintf("want at most %d patterns (got %d), as nginx tries each on every name that nobody has: the names are left out", mostIngressPatterns, patterns))
		if !i.guards() {
			return
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name[0] == '~' })
	}
	for _, name := range names {
		pattern, ok := strings.CutPrefix(name, "~")
		if !ok {
			continue
		}
		err := pcre.Quick(pattern)
		if err != nil {
			i.report(i.aliasKey(), model.InvalidValue, fmt.Sprintf("want patterns that nginx can try on every name (got %s): %v: the names are left out", quoted(name), err))
		}
		switch {
		case err != nil && !i.guards():
			return
		case err != nil, i.denial != 0 && !pcre.Taken(pattern):
			names = slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
		}
	}
	i.aliases = names
}

// How many patterns may be among the names of servers. nginx tries them one by one
// on each name that nobody has as it is.
const (
	mostIngressPatterns   = 4
	mostNamespacePatterns = 20
	mostPatterns          = 200
)

func countPatterns(names []string) int {
	count := 0
	for _, name := range names {
		if strings.HasPrefix(name, "~") {
			count++
		}
	}
	return count
}

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

// meantAliases are the names of a server-alias that is not valid as a whole which
// are: of an Ingress that keeps requests out, they must not be a neighbour's.
func (i *owner) meantAliases() []string {
	if !i.guards() {
		return nil
	}
	var all []string
	for item := range strings.SplitSeq(i.object.Annotations[i.aliasKey()], ",") {
		var names keys.ServerNames
		if names.UnmarshalText([]byte(item)) == nil {
			all = append(all, names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (i *owner) aliasKey() string { return i.prefixKey + "server-alias" }

// nameAliases gives the hosts their further names. The oldest Ingress of a host
// that has some decides, as with ingress-nginx. A name is served once: as a host
// of an Ingress if it is one, else for the oldest Ingress that asks for it. It gives
// the hosts without the vacant ones that are aliases now.
func (t *translation) nameAliases(hosts []*host) []*host {
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
	taken, budget := map[string]*owner{}, patternBudget{}
	var takers []*owner // by their patterns, of names that the catch-all host of another namespace has
	for _, ing := range t.aliased {
		for _, rules := range ing.hosts {
			h := byName[rules.host]
			if h == nil || t.byNamespace() && ing.ref.Namespace != h.oldest.ref.Namespace {
				continue
			}
			if first := h.firstAliased(); first != ing {
				t.passOverAliases(ing, first, h)
				continue
			}
			h.aliases = t.withinBudget(ing, t.freeAliases(ing, h, byName, taken), budget)
			if h.name != "" && countPatterns(h.aliases) > 0 && !t.byNamespace() && byName[""].younger(ing) {
				takers = append(takers, ing)
			}
		}
	}
	t.crossNames(byName[""], takers)
	return slices.DeleteFunc(slices.Clone(hosts), func(h *host) bool { return taken[h.name] != nil })
}

// firstAliased is the oldest deciding Ingress of the host with a server-alias, nil
// for none.
func (h *host) firstAliased() *owner {
	at := slices.IndexFunc(h.deciding, func(r *hostRules) bool { return len(r.owner.aliases) > 0 })
	if at < 0 {
		return nil
	}
	return h.deciding[at].owner
}

// passOverAliases tells a later Ingress that its names are not those of a host.
func (t *translation) passOverAliases(later, first *owner, h *host) {
	if !slices.Equal(later.aliases, first.aliases) {
		t.reportAlias(later, model.Conflict, fmt.Sprintf("%s is older and decides the aliases of host %q", first.ref, h.name))
	}
}

// freeAliases takes the names of an Ingress for a host that nobody else has.
func (t *translation) freeAliases(ing *owner, h *host, byName map[string]*host, taken map[string]*owner) []string {
	var free []string
	for _, alias := range ing.aliases {
		owner, same := taken[alias], byName[alias]
		switch {
		case alias == h.name:
		case t.byNamespace() && alias[0] == '~' && t.keepsNames(byName[""], ing):
			t.reportAlias(ing, model.NotDelegated, notDelegatedPattern(alias, byName[""].oldest, ing))
		case same != nil && same.keeps(ing):
			t.reportHost(ing, same)
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

// reportHost tells an Ingress that an alias is a host that somebody else has.
func (t *translation) reportHost(ing *owner, h *host) {
	if len(h.rules) > 0 {
		t.reportAlias(ing, model.Conflict, fmt.Sprintf("%s is the host of %s, which is served as it says", shown(h.name), h.rules[0].owner.ref))
		return
	}
	t.reportAlias(ing, model.NotDelegated, fmt.Sprintf("%s is owned by namespace %s, because %s is its oldest Ingress, although it is not served for the time being: the alias is left out; use another name", shown(h.name), h.oldest.ref.Namespace, h.oldest.ref))
}

// withinBudget leaves out patterns if older Ingresses have many.
func (t *translation) withinBudget(ing *owner, aliases []string, budget patternBudget) []string {
	return slices.DeleteFunc(aliases, func(alias string) bool {
		whose, most := budget.take(alias, ing.ref.Namespace)
		if whose != "" {
			t.reportAlias(ing, model.Conflict, fmt.Sprintf("%s is left out: want at most %d patterns %s, as nginx tries each on every name that nobody has, and the oldest count", shown(alias), most, whose))
		}
		return whose != ""
	})
}

func (t *translation) reportAlias(ing *owner, reason model.Reason, text string) {
	t.report(model.Problem{Object: ing.ref, Field: ing.aliasKey(), Reason: reason, Text: text})
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
// is, and have the health path if it does, and gives what the servers of the others
// are made of. A wildcard host
// takes no name but its own: it has a guard. The catch-all host is first in the
// file, where its patterns would come before the names of wildcard hosts.
func (t *translation) divideAliases(h *host, in *serverInput, assigned wildcards) []serverInput {
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
func (t *translation) yielding(alias string) string {
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
func (t *translation) orderPatterns(servers []*model.Server, hosts []*host) {
	if len(t.aliased) == 0 {
		return
	}
	age := make(map[*owner]int, len(t.aliased))
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
