package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// PassthroughKey is the annotation that asks for it, without its prefix.
const PassthroughKey = "ssl-passthrough"

// Passthroughs returns the hosts whose TLS connections are passed on. nginx knows only
// the name that a client asks for, so that connections go to the backend of /. Only the
// owner of the rule for / can ask for it, because everything else that it asks for is
// bypassed.
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

// mayPass reports whether the rule for / of a host is that of the owner and has a
// Service with known endpoints. It reports the reason if not.
func (t *Assembly) mayPass(h *host, owner *claim.Owner) bool {
	root := h.built.root
	switch {
	case h.name == "":
		t.reportPassed(owner, model.InvalidValue, "want a host: TLS connections are told apart by the name that the client asks for")
	case root == nil || root.Rule.Kind != model.RuleWritten:
		t.reportPassed(owner, model.InvalidValue, fmt.Sprintf("want a rule for / of host %s, with pathType Prefix: the TLS of the host ends here", claim.Shown(h.name)))
	case root.Rule.Object != owner.Ref:
		t.reportPassed(owner, model.InvalidValue, fmt.Sprintf("want it in %s, which has the rule for / of host %s: the TLS of the host ends here", root.Rule.Object, claim.Shown(h.name)))
	case root.Proxy == nil:
		t.reportPassed(owner, model.InvalidValue, fmt.Sprintf("want / of host %s to lead to a Service: the TLS of the host ends here", claim.Shown(h.name)))
	default:
		return t.unguarded(h, owner) && t.reachable(h, owner)
	}
	return false
}

// unguarded reports whether all rules of a host may be bypassed. nginx cannot protect
// connections that it does not decrypt, and an owner may not bypass rules of another
// namespace.
func (t *Assembly) unguarded(h *host, owner *claim.Owner) bool {
	guard := h.guard(owner.Ref.Namespace)
	if guard != "" {
		t.remarkKept(h, owner)
		t.reportPassed(owner, model.Conflict, fmt.Sprintf("host %s is not passed through, but its TLS ends here, as %s: give what is passed through a host of its own", claim.Shown(h.name), guard))
	}
	return guard == ""
}

// remarkKept tells the first owner of another namespace that it prevents the
// passthrough.
func (t *Assembly) remarkKept(h *host, owner *claim.Owner) {
	at := slices.IndexFunc(h.rules, func(r *claim.Rules) bool { return r.Owner.Ref.Namespace != owner.Ref.Namespace })
	if at >= 0 {
		other := h.rules[at].Owner
		t.report(model.Problem{Object: other.Ref, Field: other.HostField(h.name), Reason: model.CrossNamespace,
			Text: fmt.Sprintf("host %s is not passed through, although %s of another namespace asks for it, because this Ingress has rules for the host: use another host, or agree on this with namespace %s", claim.Shown(h.name), owner.Ref, owner.Ref.Namespace)})
	}
}

// guard returns the reason why a namespace must not have the connections of a host
// passed on, empty for none.
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

// reachable reports whether the endpoints of the backend are known. Those of an
// ExternalName Service are not, unless it is an address.
func (t *Assembly) reachable(h *host, owner *claim.Owner) bool {
	if name := t.rootBackend(h).ExternalName; name != "" {
		t.reportPassed(owner, model.InvalidValue, fmt.Sprintf("want a Service with endpoints, or an externalName that is an IP address, for host %s (got the externalName %s): the TLS of the host ends here", claim.Shown(h.name), model.Quoted(name)))
		return false
	}
	return true
}

func (t *Assembly) reportPassed(owner *claim.Owner, reason model.Reason, text string) {
	t.report(model.Problem{Object: owner.Ref, Field: owner.PrefixKey + PassthroughKey, Reason: reason, Text: text})
}

// remarkPassed reports the paths that the passthrough bypasses.
func (t *Assembly) remarkPassed(h *host, owner *claim.Owner) {
	for c := range claimsOf(h.rules) {
		if c.Path != "/" {
			t.report(model.Problem{Object: c.Owner.Ref, Field: c.Field + ".path", Reason: model.Shadowed,
				Text: fmt.Sprintf("it is served over plain HTTP only: HTTPS connections to host %s are passed through, as %s asks for", claim.Shown(h.name), owner.Ref)})
		}
	}
}

// rootBackend is the backend of / of a host.
func (t *Assembly) rootBackend(h *host) *model.Backend {
	at := slices.IndexFunc(h.built.uses, func(u Use) bool { return u.Backend.Key == h.built.root.Proxy.Backend })
	return t.Objects.Backend(h.built.uses[at].Backend)
}

// passableAliases are the aliases that are passed on with their host: the precise ones,
// except names of a wildcard host that must not be.
func (t *Assembly) passableAliases(h *host, owner *claim.Owner) []string {
	return slices.DeleteFunc(preciseAliases(h.aliases), func(alias string) bool {
		_, parent, _ := strings.Cut(alias, ".")
		at, found := slices.BinarySearchFunc(t.hosts, "*."+parent, func(h *host, name string) int { return strings.Compare(h.name, name) })
		if !found {
			return false
		}
		guard := t.hosts[at].guard(owner.Ref.Namespace)
		if guard != "" {
			t.reportPassed(owner, model.Conflict, fmt.Sprintf("alias %s is not passed through, but its TLS ends here, as it is a name of host %s, and %s", claim.Shown(alias), claim.Shown(t.hosts[at].name), guard))
		}
		return guard != ""
	})
}

// preciseAliases are those that stand for one name, sorted. Names of a pattern or
// wildcard are not passed on.
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

// except sets the names below wildcard hosts that other servers have.
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
