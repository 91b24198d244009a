package translate

import (
	"slices"
	"strings"
	"unicode"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/claim"
	"sluice/internal/pcre"
)

// mostShut is the maximum number of locations of a host by which an Ingress beyond the bounds is
// shut. It is more than there are characters, so that a path loses its first ones only if nearly
// all paths of the host are shut anyway.
const mostShut = 100

// shutAll closes the Ingresses that are beyond the bounds and protect, so that each costs a server
// and few locations. served are the owners of all others.
func (t *translation) shutAll(served []*claim.Owner) (all []*owner) {
	if len(t.tooMany) == 0 {
		return nil
	}
	named := map[string]bool{}
	for _, o := range served {
		for _, rules := range o.Hosts {
			named[rules.Host] = true
		}
		for _, alias := range o.Aliases {
			named[alias] = true
		}
		named[""] = named[""] || o.Fallback != nil && o.Ruleless
	}
	ignoring := map[string]bool{}
	for _, each := range t.tooMany {
		for _, host := range hostsOf(each.object) {
			ignoring[host] = ignoring[host] || each.patterns
		}
	}
	for _, each := range t.tooMany {
		by := crowded{problem: each.problem}
		for _, host := range hostsOf(each.object) {
			if host != "" && !named[host] && wrongHost(host) == "" {
				by.lone = append(by.lone, host)
			} else if ignoring[host] {
				by.anyCase = append(by.anyCase, host)
			}
		}
		all = append(all, t.instead(each.object, by, func() []*owner { return t.shutOwners(each.object, by) })...)
	}
	return all
}

// shutOwners returns two owners: one for the hosts that nobody else has, which are names of one
// server without anything else, and one for the others, in which older rules stay as they are
// unless a path of theirs is shorter than one that is shut.
func (t *translation) shutOwners(object *networkingv1.Ingress, by crowded) []*owner {
	alone, shared := t.shutOwner(object), t.shutOwner(object)
	alone.Problems = append(alone.Problems, by.problem)
	if len(by.lone) > 0 {
		alone.Aliases = by.lone[1:]
		alone.shutPaths(by.lone[0], []string{"/"})
	}
	byHost := pathsOf(object)
	for _, host := range hostsOf(object) {
		if wrongHost(host) != "" || slices.Contains(by.lone, host) {
			continue
		}
		starts := beginnings(byHost[host], mostShut)
		if slices.Contains(by.anyCase, host) {
			starts = inAnyCase(starts)
		}
		shared.shutPaths(host, starts)
	}
	return []*owner{alone, shared}
}

// inAnyCase cuts texts behind their first letters, and returns each with that in both cases.
func inAnyCase(texts []string) []string {
	var both []string
	for _, text := range texts {
		if letter := strings.IndexFunc(text, func(r rune) bool { return unicode.ToLower(r) != unicode.ToUpper(r) }); letter >= 0 {
			text = text[:letter+1]
		}
		both = append(both, strings.ToLower(text), strings.ToUpper(text))
	}
	slices.Sort(both)
	return slices.Compact(both)
}

func (t *translation) shutOwner(object *networkingv1.Ingress) *owner {
	ing := t.without(object)
	ing.Denied, ing.Denial = true, claim.DenyBeginnings
	return ing
}

// shutPaths adds claims that close the paths of a host that begin with given texts.
func (i *owner) shutPaths(host string, starts []string) {
	rules := i.of(host, map[string]*claim.Rules{})
	rules.Field = claim.ShutField
	for _, start := range starts {
		c := claim.Claim{Owner: i.Owner, Annotations: i.Annotations, Field: rules.Field, Path: start, PathType: claim.Prefix, Action: claim.Action{Default: true}}
		if start != "/" {
			c.Path += "*" // no path of a location, so that its beginning is closed
		}
		rules.Claims = append(rules.Claims, c)
	}
}

// pathsOf returns the paths of an Ingress by host. Without rules, it asks for all requests that
// nobody else takes.
func pathsOf(object *networkingv1.Ingress) map[string][]string {
	byHost := map[string][]string{}
	if len(object.Spec.Rules) == 0 {
		byHost[""] = []string{"/"}
	}
	for i := range object.Spec.Rules {
		rule := &object.Spec.Rules[i]
		if rule.HTTP == nil {
			continue
		}
		for p := range rule.HTTP.Paths {
			byHost[rule.Host] = append(byHost[rule.Host], rule.HTTP.Paths[p].Path)
		}
	}
	return byHost
}

// hostsOf returns the hosts of the rules of an Ingress, each once, in their order.
func hostsOf(object *networkingv1.Ingress) []string {
	if len(object.Spec.Rules) == 0 {
		return []string{""}
	}
	seen := map[string]bool{}
	var hosts []string
	for i := range object.Spec.Rules {
		if host := object.Spec.Rules[i].Host; !seen[host] {
			seen[host] = true
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// beginnings returns at most so many texts that every path begins with one of, as long ones as
// possible. None ends in a slash but "/", which stands for every path.
func beginnings(paths []string, most int) []string {
	longest := 1
	starts := make([]string, len(paths))
	for i, path := range paths {
		starts[i] = plainBeginning(path)
		longest = max(longest, len(starts[i]))
	}
	found := []string{"/"}
	for low, high := 2, longest; low <= high; {
		length := (low + high) / 2
		if cut := cutAt(starts, length); len(cut) <= most {
			found, low = cut, length+1
		} else {
			high = length - 1
		}
	}
	return found
}

// cutAt returns the texts, cut to a length, each once and without those that another begins.
func cutAt(starts []string, length int) []string {
	var cut []string
	for _, start := range starts {
		start = start[:min(length, len(start))]
		cut = append(cut, "/"+strings.Trim(start, "/"))
	}
	slices.Sort(cut)
	var once []string
	for _, start := range cut {
		if len(once) == 0 || !strings.HasPrefix(start, once[len(once)-1]) {
			once = append(once, start)
		}
	}
	return once
}

// plainBeginning is what every request begins with that a path can mean, also as a pattern.
func plainBeginning(path string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if literal := strings.IndexAny(path, `.*+?()[]{}|^$\`); literal >= 0 {
		path = path[:min(len(path), commonLength(path, pcre.Beginning(path)))]
	}
	end := strings.IndexFunc(path, func(r rune) bool {
		return !(r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("/-_~", r))
	})
	if end >= 0 {
		path = path[:end]
	}
	if strings.Contains(path, "//") {
		path = path[:strings.Index(path, "//")+1]
	}
	return path
}

// commonLength is the length of the common beginning of two texts.
func commonLength(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
