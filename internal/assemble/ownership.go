package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// byNamespace says whether a host is that of the namespace of its oldest Ingress.
func (t *Assembly) byNamespace() bool { return t.Settings.Hosts.ByNamespace() }

// hold finds the Ingresses that own hosts without rules that are served for them:
// those that are not served for the time being, as a mistake of theirs would else
// give their names to somebody else, and those that have the name as an alias. The
// names of the former are added to the hosts: a server that has them keeps them from
// the wildcards and the patterns of others.
func (t *Assembly) hold(hosts []*host) []*host {
	if !t.byNamespace() {
		return hosts
	}
	for _, ing := range t.Absent {
		t.absent[ing] = true
		for _, name := range namedBy(ing) {
			hosts = t.withHost(hosts, t.entry(name))
			t.holdName(ing, name)
		}
	}
	for _, ing := range t.aliased {
		for _, alias := range ing.Aliases {
			t.holdName(ing, alias)
		}
	}
	return hosts
}

// namedBy gives the hosts of an Ingress and its aliases that could be hosts: a canary has none, and a pattern
// and a name that ends in ".*" could not.
func namedBy(i *claim.Owner) []string {
	if i.Canary {
		return nil
	}
	var names []string
	for _, rules := range i.Hosts {
		names = append(names, rules.Host)
	}
	for _, alias := range i.Aliases {
		if alias[0] != '~' && !strings.HasSuffix(alias, ".*") {
			names = append(names, alias)
		}
	}
	return names
}

// holdName lets an Ingress own a host if it is older than all that have it so far,
// and delegate it if its namespace does.
func (t *Assembly) holdName(ing *claim.Owner, name string) {
	h := t.memo.hosts[name]
	if h == nil || h.pass != t.memo.pass {
		return
	}
	if ing.Delegation != "" {
		h.lent = append(h.lent, ing)
	}
	if oldest := h.oldestOf(h.next); oldest == nil || ing.Age.Compare(oldest.Age) < 0 {
		h.held = ing
	}
}

// oldestOf is the oldest Ingress of a host, nil for none.
func (h *host) oldestOf(rules []*claim.Rules) *claim.Owner {
	switch {
	case h.held != nil:
		return h.held
	case len(rules) > 0:
		return rules[0].Owner
	}
	return nil
}

// vacant says whether a host is kept for an Ingress that is not served for the time
// being, and nobody else has rules there.
func (t *Assembly) vacant(h *host) bool {
	return len(h.rules) == 0 && t.absent[h.oldest]
}

// keeps says whether a host is no name that an Ingress may have as an alias. A vacant
// one is such a name for its own namespace.
func (h *host) keeps(ing *claim.Owner) bool {
	return len(h.rules) > 0 || h.oldest.Ref.Namespace != ing.Ref.Namespace
}

// divide says which of the rules that were gathered for a host hold on it, the
// oldest first, and which are left out: those of other namespaces than the owner's
// that it does not delegate the host to.
func (t *Assembly) divide(h *host) (rules, left []*claim.Rules) {
	if len(h.next) == 0 || !t.byNamespace() {
		return h.next, nil
	}
	owner := h.oldestOf(h.next).Ref.Namespace
	foreign := func(r *claim.Rules) bool { return r.Owner.Ref.Namespace != owner }
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
func (t *Assembly) mayShare(h *host, owner string, r *claim.Rules) bool {
	namespace := r.Owner.Ref.Namespace
	to := func(text string) bool { return claim.Delegates(text, namespace) }
	return namespace == owner || slices.ContainsFunc(t.delegations(h, owner), to)
}

// delegations are what the owner of a host has written about who may have paths
// on it.
func (t *Assembly) delegations(h *host, owner string) []string {
	var texts []string
	add := func(text string) {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	add(t.Objects.Delegation(owner))
	for _, ing := range h.lent {
		if ing.Ref.Namespace == owner {
			add(ing.Delegation)
		}
	}
	for _, r := range h.next {
		if r.Owner.Ref.Namespace == owner {
			add(r.Owner.Delegation)
		}
	}
	return texts
}

// own finds out who decides what holds for the whole host.
func (t *Assembly) own(h *host) {
	h.deciding, h.guests, h.notServed = h.rules, nil, nil
	if h.oldest == nil || !t.byNamespace() {
		return
	}
	if slices.ContainsFunc(h.rules, h.foreign) {
		h.guests = slices.DeleteFunc(slices.Clone(h.rules), func(r *claim.Rules) bool { return !h.foreign(r) })
		h.deciding = slices.DeleteFunc(slices.Clone(h.rules), h.foreign)
	}
	for _, r := range h.left {
		namespace, owner := r.Owner.Ref.Namespace, h.oldest.Ref
		h.notServed = append(h.notServed, model.Problem{Object: r.Owner.Ref, Field: r.Owner.HostField(h.name), Reason: model.NotDelegated,
			Text: fmt.Sprintf("%s is owned by namespace %s, because %s is its oldest Ingress, and is not delegated to namespace %s: the rules for it are left out; use another host, or have the owner write %s in the annotation %s of that Ingress",
				hostWords(h.name), owner.Namespace, owner, namespace, claim.Quoted(namespace), claim.HostDelegation)})
	}
}

// foreign tells rules that are not of the namespace of the host's oldest Ingress.
func (h *host) foreign(r *claim.Rules) bool { return r.Owner.Ref.Namespace != h.oldest.Ref.Namespace }

// decides says whether what the rules' Ingress asks for the whole host is done.
func (h *host) decides(r *claim.Rules) bool { return len(h.guests) == 0 || !h.foreign(r) }

// powerless tells those who may have paths on a host what they do not decide there.
func (b *builder) powerless() {
	for _, r := range b.host.guests {
		ing, vain := r.Owner, func(field, text string) {
			b.out.problems = append(b.out.problems, model.Problem{Object: r.Owner.Ref, Field: field, Reason: model.NotDelegated,
				Text: fmt.Sprintf("%s on %s: namespace %s owns the host, and only its Ingresses decide this for the whole host; ask the owner to set it there, or use another host", text, hostWords(b.host.name), b.host.oldest.Ref.Namespace)})
		}
		if b.asking[r] && b.scope == onlyAsking && b.Settings.Paths.RegexScope != "path" {
			vain(b.askedBy(ing), "it makes patterns only of ImplementationSpecific paths of this Ingress")
		}
		if ing.AppRoot() != "" && !ing.IsDenied() && !ing.Ruleless {
			vain(ing.AppRootKey(), "it has no effect")
		}
		if ing.TLSFor(b.host.name) {
			vain(ing.TLSField, "it has no effect")
		}
		if len(ing.Aliases) > 0 {
			vain(ing.AliasKey(), "it has no effect")
		}
	}
}
