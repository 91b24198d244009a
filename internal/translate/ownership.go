package translate

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// HostDelegation is the annotation by which an Ingress lets other namespaces have
// paths on its hosts, and a Namespace on all hosts that it owns: the namespaces,
// separated by commas, or "*" for all. It is for host-ownership: namespace.
const HostDelegation = "sluice/host-delegation"

// readDelegation reports what is written in the annotation and is no namespace.
func (i *ingress) readDelegation() {
	text := i.object.Annotations[HostDelegation]
	if at := wrongDelegatee(text); at >= 0 {
		i.report(HostDelegation, model.InvalidValue, fmt.Sprintf("want namespaces separated by commas, or * for all (got %s): the hosts are delegated to the others only", quoted(delegatees(text)[at])))
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
		for _, name := range t.ingress(object).names() {
			hosts = t.withHost(hosts, t.entry(name))
			t.holdName(object, name)
		}
	}
	for _, ing := range t.aliased {
		for _, alias := range ing.aliases {
			t.holdName(ing.object, alias)
		}
	}
	return hosts
}

// names are the hosts of an Ingress and its aliases that could be hosts: a pattern
// and a name that ends in ".*" could not.
func (i *ingress) names() []string {
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
func (t *translation) holdName(object *networkingv1.Ingress, name string) {
	h := t.memo.hosts[name]
	if h == nil || h.pass != t.memo.pass {
		return
	}
	if object.Annotations[HostDelegation] != "" {
		h.lent = append(h.lent, object)
	}
	if oldest := h.oldestOf(h.next); oldest == nil || snapshot.Older(object, oldest) {
		h.held = object
	}
}

// oldestOf is the oldest Ingress of a host, nil for none.
func (h *host) oldestOf(rules []*hostRules) *networkingv1.Ingress {
	switch {
	case h.held != nil:
		return h.held
	case len(rules) > 0:
		return rules[0].owner.object
	}
	return nil
}

// vacant says whether a host is kept for an Ingress that is not served for the time
// being, and nobody else has rules there.
func (t *translation) vacant(h *host) bool {
	return len(h.rules) == 0 && h.oldest != nil && t.snap.Ingress(snapshot.Name{Namespace: h.oldest.Namespace, Name: h.oldest.Name}) == nil
}

// keeps says whether a host is no name that an Ingress may have as an alias. A vacant
// one is such a name for its own namespace.
func (h *host) keeps(ing *ingress) bool {
	return len(h.rules) > 0 || h.oldest.Namespace != ing.ref.Namespace
}

// divide says which of the rules that were gathered for a host hold on it, the
// oldest first, and which are left out: those of other namespaces than the owner's
// that it does not delegate the host to.
func (t *translation) divide(h *host) (rules, left []*hostRules) {
	if len(h.next) == 0 || !t.byNamespace() {
		return h.next, nil
	}
	owner := h.oldestOf(h.next).Namespace
	foreign := func(r *hostRules) bool { return r.owner.ref.Namespace != owner }
	if !slices.ContainsFunc(h.next, foreign) {
		return h.next, nil
	}
	texts := t.delegations(h, owner)
	for _, r := range h.next {
		to := func(text string) bool { return delegates(text, r.owner.ref.Namespace) }
		if !foreign(r) || slices.ContainsFunc(texts, to) {
			rules = append(rules, r)
		} else {
			left = append(left, r)
		}
	}
	return rules, left
}

// delegations are what the owner of a host has written about who may have paths
// on it.
func (t *translation) delegations(h *host, owner string) []string {
	var texts []string
	add := func(annotations map[string]string) {
		if text := annotations[HostDelegation]; text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if namespace := t.snap.Namespace(owner); namespace != nil {
		add(namespace.Annotations)
	}
	for _, object := range h.lent {
		if object.Namespace == owner {
			add(object.Annotations)
		}
	}
	for _, r := range h.next {
		if r.owner.ref.Namespace == owner {
			add(r.owner.object.Annotations)
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
		namespace, owner := r.owner.ref.Namespace, refOf(h.oldest)
		h.notServed = append(h.notServed, model.Problem{Object: r.owner.ref, Field: HostField(r.owner.object, h.name), Reason: model.NotDelegated,
			Text: fmt.Sprintf("%s is owned by namespace %s, because %s is its oldest Ingress, and is not delegated to namespace %s: the rules for it are left out; use another host, or have the owner write %s in the annotation %s of that Ingress",
				hostWords(h.name), owner.Namespace, owner, namespace, quoted(namespace), HostDelegation)})
	}
}

// foreign tells rules that are not of the namespace of the host's oldest Ingress.
func (h *host) foreign(r *hostRules) bool { return r.owner.ref.Namespace != h.oldest.Namespace }

// decides says whether what the rules' Ingress asks for the whole host is done.
func (h *host) decides(r *hostRules) bool { return len(h.guests) == 0 || !h.foreign(r) }

// HostField is the first field by which an Ingress has a host.
func HostField(object *networkingv1.Ingress, host string) string {
	for at, rule := range object.Spec.Rules {
		if rule.Host == host {
			return fmt.Sprintf("spec.rules[%d].host", at)
		}
	}
	return "spec.defaultBackend"
}

// powerless tells those who may have paths on a host what they do not decide there.
func (b *builder) powerless() {
	for _, r := range b.host.guests {
		ing, vain := r.owner, func(field, text string) {
			b.out.problems = append(b.out.problems, model.Problem{Object: r.owner.ref, Field: field, Reason: model.NotDelegated,
				Text: fmt.Sprintf("%s on %s: namespace %s owns the host, and only its Ingresses decide this for the whole host; ask the owner to set it there, or use another host", text, hostWords(b.host.name), b.host.oldest.Namespace)})
		}
		if b.asking[r] && b.scope == onlyAsking && b.settings.Paths.RegexScope != "path" {
			vain(b.askedBy(ing), "it makes patterns only of ImplementationSpecific paths of this Ingress")
		}
		if ing.appRoot != "" && !ing.denied && !ing.ruleless {
			vain(ing.appRootKey(), "it has no effect")
		}
		if ing.tlsFor(b.host.name) {
			vain("spec.tls", "it has no effect")
		}
		if len(ing.aliases) > 0 {
			vain(ing.aliasKey(), "it has no effect")
		}
	}
}

// tlsFor says whether an item of spec.tls is meant for a host.
func (i *ingress) tlsFor(host string) bool {
	return host != "" && slices.ContainsFunc(i.object.Spec.TLS, func(item networkingv1.IngressTLS) bool { return meant(&item, host) })
}
