package translate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// HostDelegation is the annotation by which an Ingress lets other namespaces have
// paths on its hosts, and a Namespace on all hosts that it owns: the namespaces,
// separated by commas, or "*" for all. It is for host-ownership: namespace.
const HostDelegation = "sluice.io/host-delegation"

// HostDelegationOf gives the delegation that a Namespace has, empty for none.
func HostDelegationOf(n *corev1.Namespace) string { return delegationIn(n.Annotations, HostDelegation) }

// readDelegation reports what is written in the annotation and is no namespace.
func (i *owner) readDelegation() {
	if at := wrongDelegatee(i.delegation); at >= 0 {
		i.report(HostDelegation, model.InvalidValue, fmt.Sprintf("want namespaces separated by commas, or * for all (got %s): the hosts are delegated to the others only", quoted(delegatees(i.delegation)[at])))
	}
}

// byNamespace says whether a host is that of the namespace of its oldest Ingress.
func (t *translation) byNamespace() bool { return t.settings.Hosts.ByNamespace() }

// hold finds the Ingresses that own hosts without rules that are served for them:
// those that are not served for the time being, as a mistake of theirs would else
// give their names to somebody else, and those that have the name as an alias. The
// names of the former are added to the hosts: a server that has them keeps them from
// the wildcards and the patterns of others.
func (t *translation) hold(hosts []*host) []*host {
	if !t.byNamespace() {
		return hosts
	}
	for _, object := range t.snap.Removed() {
		if ours, _ := t.accepts(object); !ours {
			continue
		}
		ing := t.ingress(object)
		t.absent[ing] = true
		for _, name := range ing.names() {
			hosts = t.withHost(hosts, t.entry(name))
			t.holdName(ing, name)
		}
	}
	for _, ing := range t.aliased {
		for _, alias := range ing.aliases {
			t.holdName(ing, alias)
		}
	}
	return hosts
}

// names are the hosts of an Ingress and its aliases that could be hosts: a canary has none, and a pattern
// and a name that ends in ".*" could not.
func (i *owner) names() []string {
	if i.annotations.Canary.Enabled {
		return nil
	}
	var names []string
	for _, rules := range i.hosts {
		names = append(names, rules.host)
	}
	for _, alias := range i.aliases {
		if alias[0] != '~' && !strings.HasSuffix(alias, ".*") {
			names = append(names, alias)
		}
	}
	return names
}

// holdName lets an Ingress own a host if it is older than all that have it so far,
// and delegate it if its namespace does.
func (t *translation) holdName(ing *owner, name string) {
	h := t.memo.hosts[name]
	if h == nil || h.pass != t.memo.pass {
		return
	}
	if ing.delegation != "" {
		h.lent = append(h.lent, ing)
	}
	if oldest := h.oldestOf(h.next); oldest == nil || ing.age.compare(oldest.age) < 0 {
		h.held = ing
	}
}

// oldestOf is the oldest Ingress of a host, nil for none.
func (h *host) oldestOf(rules []*hostRules) *owner {
	switch {
	case h.held != nil:
		return h.held
	case len(rules) > 0:
		return rules[0].owner
	}
	return nil
}

// vacant says whether a host is kept for an Ingress that is not served for the time
// being, and nobody else has rules there.
func (t *translation) vacant(h *host) bool {
	return len(h.rules) == 0 && t.absent[h.oldest]
}

// keeps says whether a host is no name that an Ingress may have as an alias. A vacant
// one is such a name for its own namespace.
func (h *host) keeps(ing *owner) bool {
	return len(h.rules) > 0 || h.oldest.ref.Namespace != ing.ref.Namespace
}

// divide says which of the rules that were gathered for a host hold on it, the
// oldest first, and which are left out: those of other namespaces than the owner's
// that it does not delegate the host to.
func (t *translation) divide(h *host) (rules, left []*hostRules) {
	if len(h.next) == 0 || !t.byNamespace() {
		return h.next, nil
	}
	owner := h.oldestOf(h.next).ref.Namespace
	foreign := func(r *hostRules) bool { return r.owner.ref.Namespace != owner }
	if !slices.ContainsFunc(h.next, foreign) {
		return h.next, nil
	}
	for _, r := range h.next {
		if t.mayShare(h, owner, r) {
			rules = append(rules, r)
		} else {
			left = append(left, r)
		}
	}
	return rules, left
}

// mayShare says whether rules may be on a host: they are of the namespace of its owner,
// or that delegates the host to theirs.
func (t *translation) mayShare(h *host, owner string, r *hostRules) bool {
	namespace := r.owner.ref.Namespace
	to := func(text string) bool { return delegates(text, namespace) }
	return namespace == owner || slices.ContainsFunc(t.delegations(h, owner), to)
}

// delegations are what the owner of a host has written about who may have paths
// on it.
func (t *translation) delegations(h *host, owner string) []string {
	var texts []string
	add := func(text string) {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if namespace := t.snap.Namespace(owner); namespace != nil {
		add(HostDelegationOf(namespace))
	}
	for _, ing := range h.lent {
		if ing.ref.Namespace == owner {
			add(ing.delegation)
		}
	}
	for _, r := range h.next {
		if r.owner.ref.Namespace == owner {
			add(r.owner.delegation)
		}
	}
	return texts
}

// own finds out who decides what holds for the whole host.
func (t *translation) own(h *host) {
	h.deciding, h.guests, h.notServed = h.rules, nil, nil
	if h.oldest == nil || !t.byNamespace() {
		return
	}
	if slices.ContainsFunc(h.rules, h.foreign) {
		h.guests = slices.DeleteFunc(slices.Clone(h.rules), func(r *hostRules) bool { return !h.foreign(r) })
		h.deciding = slices.DeleteFunc(slices.Clone(h.rules), h.foreign)
	}
	for _, r := range h.left {
		namespace, owner := r.owner.ref.Namespace, h.oldest.ref
		h.notServed = append(h.notServed, model.Problem{Object: r.owner.ref, Field: r.owner.hostField(h.name), Reason: model.NotDelegated,
			Text: fmt.Sprintf("%s is owned by namespace %s, because %s is its oldest Ingress, and is not delegated to namespace %s: the rules for it are left out; use another host, or have the owner write %s in the annotation %s of that Ingress",
				hostWords(h.name), owner.Namespace, owner, namespace, quoted(namespace), HostDelegation)})
	}
}

// foreign tells rules that are not of the namespace of the host's oldest Ingress.
func (h *host) foreign(r *hostRules) bool { return r.owner.ref.Namespace != h.oldest.ref.Namespace }

// decides says whether what the rules' Ingress asks for the whole host is done.
func (h *host) decides(r *hostRules) bool { return len(h.guests) == 0 || !h.foreign(r) }

// hostField is the first field by which an owner has a host.
func (i *owner) hostField(host string) string {
	at := slices.IndexFunc(i.hosts, func(rules *hostRules) bool { return rules.host == host && rules.field != "" })
	if at < 0 {
		return defaultBackendField
	}
	return i.hosts[at].field
}

// HostField is the first field by which an Ingress has a host.
func HostField(object *networkingv1.Ingress, host string) string {
	for at, rule := range object.Spec.Rules {
		if rule.Host == host {
			return fmt.Sprintf("spec.rules[%d].host", at)
		}
	}
	return defaultBackendField
}

// powerless tells those who may have paths on a host what they do not decide there.
func (b *builder) powerless() {
	for _, r := range b.host.guests {
		ing, vain := r.owner, func(field, text string) {
			b.out.problems = append(b.out.problems, model.Problem{Object: r.owner.ref, Field: field, Reason: model.NotDelegated,
				Text: fmt.Sprintf("%s on %s: namespace %s owns the host, and only its Ingresses decide this for the whole host; ask the owner to set it there, or use another host", text, hostWords(b.host.name), b.host.oldest.ref.Namespace)})
		}
		if b.asking[r] && b.scope == onlyAsking && b.settings.Paths.RegexScope != "path" {
			vain(b.askedBy(ing), "it makes patterns only of ImplementationSpecific paths of this Ingress")
		}
		if ing.appRoot() != "" && !ing.isDenied() && !ing.ruleless {
			vain(ing.appRootKey(), "it has no effect")
		}
		if ing.tlsFor(b.host.name) {
			vain(ing.tlsField, "it has no effect")
		}
		if len(ing.aliases) > 0 {
			vain(ing.aliasKey(), "it has no effect")
		}
	}
}

// tlsFor says whether an item of spec.tls is meant for a host.
func (i *owner) tlsFor(host string) bool {
	return host != "" && slices.ContainsFunc(i.tls, func(item tlsItem) bool { return meant(&item, host) })
}
