package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

const PassthroughKey = "ssl-passthrough"

// Passthroughs gives the hosts that are passed through. The name is all that is
// known of a connection, so that it goes where the rule for / goes; and only the
// Ingress of that rule can ask for it, as all that it says of requests is passed
// by.
func (t *Assembly) Passthroughs() []model.Passthrough {
	var all []model.Passthrough
	for _, h := range t.hosts {
		for _, rules := range h.rules {
			if !rules.Owner.Passes || rules.Owner.IsDenied() || !t.mayPass(h, rules.Owner) {
				continue
			}
			t.remarkPassed(h, rules.Owner)
			all = append(all, model.Passthrough{
				Host: h.name, Aliases: t.passableAliases(h, rules.Owner), Service: h.built.root.Proxy.Service, Endpoints: t.rootBackend(h).Endpoints,
				Source: rules.Owner.Ref, Field: rules.Owner.PrefixKey + PassthroughKey,
			})
		}
	}
	except(all, t.Servers)
	return all
}

// mayPass reports whether the rule for / of a host is the Ingress's and leads to
// a Service that can be passed to, and says why not.
func (t *Assembly) mayPass(h *host, ing *claim.Owner) bool {
	root := h.built.root
	switch {
	case h.name == "":
		t.reportPassed(ing, "want a host: TLS connections are told apart by the name that the client asks for")
	case root == nil || root.Rule.Kind != model.RuleWritten:
		t.reportPassed(ing, fmt.Sprintf("want a rule for / of host %s, with pathType Prefix: the TLS of the host ends here", claim.Shown(h.name)))
	case root.Rule.Object != ing.Ref:
		t.reportPassed(ing, fmt.Sprintf("want it in %s, which has the rule for / of host %s: the TLS of the host ends here", root.Rule.Object, claim.Shown(h.name)))
	case root.Proxy == nil:
		t.reportPassed(ing, fmt.Sprintf("want / of host %s to lead to a Service: the TLS of the host ends here", claim.Shown(h.name)))
	default:
		return t.unguarded(h, ing) && t.reachable(h, ing)
	}
	return false
}

// unguarded reports whether all rules of a host may be passed by. Whatever keeps
// requests out cannot be done for TLS that does not end here, and the rules of
// another namespace are not this Ingress's to pass by.
func (t *Assembly) unguarded(h *host, ing *claim.Owner) bool {
	guard := h.guard(ing.Ref.Namespace)
	if guard != "" {
		t.remarkKept(h, ing)
		t.refusePassed(ing, fmt.Sprintf("host %s is not passed through, but its TLS ends here, as %s: give what is passed through a host of its own", claim.Shown(h.name), guard))
	}
	return guard == ""
}

// remarkKept tells the first Ingress of another namespace that a host is not passed
// through because of it.
func (t *Assembly) remarkKept(h *host, ing *claim.Owner) {
	at := slices.IndexFunc(h.rules, func(r *claim.Rules) bool { return r.Owner.Ref.Namespace != ing.Ref.Namespace })
	if at >= 0 {
		other := h.rules[at].Owner
		t.report(model.Problem{Object: other.Ref, Field: other.HostField(h.name), Reason: model.CrossNamespace,
			Text: fmt.Sprintf("host %s is not passed through, although %s of another namespace asks for it, because this Ingress has rules for the host: use another host, or agree on this with namespace %s", claim.Shown(h.name), ing.Ref, ing.Ref.Namespace)})
	}
}

// guard says why connections of a host must not be passed through for a
// namespace, "" where they may be.
func (h *host) guard(namespace string) string {
	for _, rules := range h.rules {
		switch other := rules.Owner; {
		case other.Ref.Namespace != namespace:
			return fmt.Sprintf("%s of another namespace has rules for it", other.Ref)
		case other.IsDenied():
			return fmt.Sprintf("%s answers 503 on it", other.Ref)
		case other.Guards():
			return fmt.Sprintf("an annotation or a setting protects the paths that %s has on it (%s)", other.Ref, strings.Join(other.Protections(), ", "))
		}
	}
	return ""
}

// reachable reports whether the endpoints of the backend are known: those of an
// ExternalName Service are only while nginx runs, unless it is an address.
func (t *Assembly) reachable(h *host, ing *claim.Owner) bool {
	if name := t.rootBackend(h).ExternalName; name != "" {
		t.reportPassed(ing, fmt.Sprintf("want a Service with endpoints, or an externalName that is an IP address, for host %s (got the externalName %s): the TLS of the host ends here", claim.Shown(h.name), claim.Quoted(name)))
		return false
	}
	return true
}

func (t *Assembly) reportPassed(ing *claim.Owner, text string) {
	t.report(model.Problem{Object: ing.Ref, Field: ing.PrefixKey + PassthroughKey, Reason: model.InvalidValue, Text: text})
}

// refusePassed tells an Ingress whose rules its host, or an alias of it, stays
// under.
func (t *Assembly) refusePassed(ing *claim.Owner, text string) {
	t.report(model.Problem{Object: ing.Ref, Field: ing.PrefixKey + PassthroughKey, Reason: model.Conflict, Text: text})
}

// remarkPassed tells which paths a host that is passed through goes without.
func (t *Assembly) remarkPassed(h *host, ing *claim.Owner) {
	for _, rules := range h.rules {
		for i := range rules.Claims {
			c := &rules.Claims[i]
			if c.Path == "/" {
				continue
			}
			t.report(model.Problem{Object: c.Owner.Ref, Field: c.Field + ".path", Reason: model.Shadowed,
				Text: fmt.Sprintf("it is served over plain HTTP only: HTTPS connections to host %s are passed through, as %s asks for", claim.Shown(h.name), ing.Ref)})
		}
	}
}

// rootBackend is the backend that the requests for / of a host are passed to.
func (t *Assembly) rootBackend(h *host) *model.Backend {
	at := slices.IndexFunc(h.built.uses, func(u Use) bool { return u.Backend.Key == h.built.root.Proxy.Backend })
	return t.Objects.Backend(h.built.uses[at].Backend)
}

// passableAliases are the aliases that are passed through with their host: the
// precise ones, but not names of a wildcard host that must not be.
func (t *Assembly) passableAliases(h *host, ing *claim.Owner) []string {
	return slices.DeleteFunc(preciseAliases(h.aliases), func(alias string) bool {
		_, parent, _ := strings.Cut(alias, ".")
		at, found := slices.BinarySearchFunc(t.hosts, "*."+parent, func(h *host, name string) int { return strings.Compare(h.name, name) })
		if !found {
			return false
		}
		guard := t.hosts[at].guard(ing.Ref.Namespace)
		if guard != "" {
			t.refusePassed(ing, fmt.Sprintf("alias %s is not passed through, but its TLS ends here, as it is a name of host %s, and %s", claim.Shown(alias), claim.Shown(t.hosts[at].name), guard))
		}
		return guard != ""
	})
}

// preciseAliases are those that stand for one name. Names that a pattern or a
// wildcard stands for are not passed through.
func preciseAliases(aliases []string) []string {
	var precise []string
	for _, alias := range aliases {
		if alias[0] != '~' && !strings.Contains(alias, "*") {
			precise = append(precise, alias)
		}
	}
	slices.Sort(precise)
	return precise
}

// except finds the names that others have of those that wildcard hosts stand for.
func except(passed []model.Passthrough, servers []*model.Server) {
	for i := range passed {
		p := &passed[i]
		if !strings.HasPrefix(p.Host, "*.") {
			continue
		}
		for _, s := range servers {
			for _, name := range append([]string{s.Host}, preciseAliases(s.Aliases)...) {
				if claim.Covers([]string{p.Host}, name) && name != p.Host && !isPassed(passed, name) {
					p.Except = append(p.Except, name)
				}
			}
		}
		slices.Sort(p.Except)
		p.Except = slices.Compact(p.Except)
	}
}

func isPassed(passed []model.Passthrough, name string) bool {
	return slices.ContainsFunc(passed, func(p model.Passthrough) bool { return p.Host == name || slices.Contains(p.Aliases, name) })
}
