package translate

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

const passthroughKey = "ssl-passthrough"

// passes reports whether an Ingress asks for its hosts to be passed through, and
// the controller does that.
func (t *translation) passes(p *annotations.Passthrough, ing *owner) bool {
	if p.Enabled && !t.options.Passthrough {
		ing.report(ing.prefixKey+passthroughKey, model.Unsupported, "it has no effect, as the controller runs without --enable-ssl-passthrough: the TLS of its hosts ends here")
		return false
	}
	return p.Enabled
}

// passthroughs gives the hosts that are passed through. The name is all that is
// known of a connection, so that it goes where the rule for / goes; and only the
// Ingress of that rule can ask for it, as all that it says of requests is passed
// by.
func (t *translation) passthroughs(hosts []*host, config model.Config) []model.Passthrough {
	if len(t.passing) == 0 {
		return nil
	}
	var all []model.Passthrough
	for _, h := range hosts {
		for _, rules := range h.rules {
			if !rules.owner.passes || rules.owner.isDenied() || !t.mayPass(h, rules.owner) {
				continue
			}
			t.remarkPassed(h, rules.owner)
			all = append(all, model.Passthrough{
				Host: h.name, Aliases: t.passableAliases(h, rules.owner, hosts), Service: h.built.root.Proxy.Service, Endpoints: endpointsIn(config.Dynamic.Backends, h.built.root.Proxy.Backend),
				Source: rules.owner.ref, Field: rules.owner.prefixKey + passthroughKey,
			})
		}
	}
	except(all, config.Static.Servers)
	return all
}

// mayPass reports whether the rule for / of a host is the Ingress's and leads to
// a Service that can be passed to, and says why not.
func (t *translation) mayPass(h *host, ing *owner) bool {
	root := h.built.root
	switch {
	case h.name == "":
		t.reportPassed(ing, "want a host: TLS connections are told apart by the name that the client asks for")
	case root == nil || root.Rule.Kind != model.RuleWritten:
		t.reportPassed(ing, fmt.Sprintf("want a rule for / of host %s, with pathType Prefix: the TLS of the host ends here", shown(h.name)))
	case root.Rule.Object != ing.ref:
		t.reportPassed(ing, fmt.Sprintf("want it in %s, which has the rule for / of host %s: the TLS of the host ends here", root.Rule.Object, shown(h.name)))
	case root.Proxy == nil:
		t.reportPassed(ing, fmt.Sprintf("want / of host %s to lead to a Service: the TLS of the host ends here", shown(h.name)))
	default:
		return t.unguarded(h, ing) && t.reachable(h, ing)
	}
	return false
}

// unguarded reports whether all rules of a host may be passed by. Whatever keeps
// requests out cannot be done for TLS that does not end here, and the rules of
// another namespace are not this Ingress's to pass by.
func (t *translation) unguarded(h *host, ing *owner) bool {
	guard := h.guard(ing.ref.Namespace)
	if guard != "" {
		t.remarkKept(h, ing)
		t.refusePassed(ing, fmt.Sprintf("host %s is not passed through, but its TLS ends here, as %s: give what is passed through a host of its own", shown(h.name), guard))
	}
	return guard == ""
}

// remarkKept tells the first Ingress of another namespace that a host is not passed
// through because of it.
func (t *translation) remarkKept(h *host, ing *owner) {
	at := slices.IndexFunc(h.rules, func(r *hostRules) bool { return r.owner.ref.Namespace != ing.ref.Namespace })
	if at >= 0 {
		other := h.rules[at].owner
		t.report(model.Problem{Object: other.ref, Field: other.hostField(h.name), Reason: model.CrossNamespace,
			Text: fmt.Sprintf("host %s is not passed through, although %s of another namespace asks for it, because this Ingress has rules for the host: use another host, or agree on this with namespace %s", shown(h.name), ing.ref, ing.ref.Namespace)})
	}
}

// guard says why connections of a host must not be passed through for a
// namespace, "" where they may be.
func (h *host) guard(namespace string) string {
	for _, rules := range h.rules {
		switch other := rules.owner; {
		case other.ref.Namespace != namespace:
			return fmt.Sprintf("%s of another namespace has rules for it", other.ref)
		case other.isDenied():
			return fmt.Sprintf("%s answers 503 on it", other.ref)
		case other.guards():
			return fmt.Sprintf("an annotation or a setting protects the paths that %s has on it (%s)", other.ref, strings.Join(other.protections(), ", "))
		}
	}
	return ""
}

// reachable reports whether the endpoints of the backend are known: those of an
// ExternalName Service are only while nginx runs, unless it is an address.
func (t *translation) reachable(h *host, ing *owner) bool {
	at := slices.IndexFunc(h.built.uses, func(u use) bool { return u.backend.key == h.built.root.Proxy.Backend })
	b := h.built.uses[at].backend
	t.service(b.id.service) // its endpoints are in nginx.conf
	if name := b.model.ExternalName; name != "" {
		t.reportPassed(ing, fmt.Sprintf("want a Service with endpoints, or an externalName that is an IP address, for host %s (got the externalName %s): the TLS of the host ends here", shown(h.name), quoted(name)))
		return false
	}
	return true
}

func (t *translation) reportPassed(ing *owner, text string) {
	t.report(model.Problem{Object: ing.ref, Field: ing.prefixKey + passthroughKey, Reason: model.InvalidValue, Text: text})
}

// refusePassed tells an Ingress whose rules its host, or an alias of it, stays
// under.
func (t *translation) refusePassed(ing *owner, text string) {
	t.report(model.Problem{Object: ing.ref, Field: ing.prefixKey + passthroughKey, Reason: model.Conflict, Text: text})
}

// remarkPassed tells which paths a host that is passed through goes without.
func (t *translation) remarkPassed(h *host, ing *owner) {
	for _, rules := range h.rules {
		for i := range rules.claims {
			c := &rules.claims[i]
			if c.path == "/" {
				continue
			}
			t.report(model.Problem{Object: c.owner.ref, Field: c.field + ".path", Reason: model.Shadowed,
				Text: fmt.Sprintf("it is served over plain HTTP only: HTTPS connections to host %s are passed through, as %s asks for", shown(h.name), ing.ref)})
		}
	}
}

// endpointsIn gives the endpoints of a backend in a list that is sorted by key.
func endpointsIn(backends []*model.Backend, key string) []model.Endpoint {
	at, found := slices.BinarySearchFunc(backends, key, func(b *model.Backend, key string) int { return strings.Compare(b.Key, key) })
	if !found {
		return nil
	}
	return backends[at].Endpoints
}

// passableAliases are the aliases that are passed through with their host: the
// precise ones, but not names of a wildcard host that must not be.
func (t *translation) passableAliases(h *host, ing *owner, hosts []*host) []string {
	return slices.DeleteFunc(preciseAliases(h.aliases), func(alias string) bool {
		_, parent, _ := strings.Cut(alias, ".")
		at, found := slices.BinarySearchFunc(hosts, "*."+parent, func(h *host, name string) int { return strings.Compare(h.name, name) })
		if !found {
			return false
		}
		guard := hosts[at].guard(ing.ref.Namespace)
		if guard != "" {
			t.refusePassed(ing, fmt.Sprintf("alias %s is not passed through, but its TLS ends here, as it is a name of host %s, and %s", shown(alias), shown(hosts[at].name), guard))
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
				if covers([]string{p.Host}, name) && name != p.Host && !isPassed(passed, name) {
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
