package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// byNamespace reports whether the namespace of its oldest Ingress owns a host.
func (t *Assembly) byNamespace() bool { return t.Settings.Hosts.ByNamespace() }

// hold finds the owners of hosts that have no served rules there: absent ones, so that
// a mistake of theirs does not give their names away, and those with the name as an
// alias. It adds the names of absent owners to the hosts, so that their servers win
// over wildcards and patterns of others.
func (t *Assembly) hold(hosts []*host) []*host {
	if !t.byNamespace() {
		return hosts
	}
	for _, owner := range t.Absent {
		t.absent[owner] = true
		for _, name := range namedBy(owner) {
			hosts = t.withHost(hosts, t.entry(name))
			t.holdName(owner, name)
		}
	}
	for _, owner := range t.aliased {
		for _, alias := range owner.Aliases {
			t.holdName(owner, alias)
		}
	}
	return hosts
}

// namedBy returns the hosts of an owner and its aliases that can be hosts. A canary has
// none; patterns and names that end in ".*" cannot be hosts.
func namedBy(owner *claim.Owner) []string {
	if owner.Canary {
		return nil
	}
	var names []string
	for _, rules := range owner.Hosts {
		names = append(names, rules.Host)
	}
	for _, alias := range owner.Aliases {
		if alias[0] != '~' && !strings.HasSuffix(alias, ".*") {
			names = append(names, alias)
		}
	}
	return names
}

// holdName makes an owner the oldest of a host if no older one has it, and records its
// delegation.
func (t *Assembly) holdName(owner *claim.Owner, name string) {
	h := t.memo.hosts[name]
	if h == nil || h.pass != t.memo.pass {
		return
	}
	if owner.Delegation != "" {
		h.delegating = append(h.delegating, owner)
	}
	if oldest := h.oldestOf(h.next); oldest == nil || owner.Age.Compare(oldest.Age) < 0 {
		h.held = owner
	}
}

// oldestOf is the oldest owner of a host, nil for none.
func (h *host) oldestOf(rules []*claim.Rules) *claim.Owner {
	switch {
	case h.held != nil:
		return h.held
	case len(rules) > 0:
		return rules[0].Owner
	}
	return nil
}

// vacant reports whether a host is kept for an absent owner, and nobody else has rules
// there.
func (t *Assembly) vacant(h *host) bool {
	return len(h.rules) == 0 && t.absent[h.oldest]
}

// keeps reports whether an owner cannot have the host as an alias. Only the namespace
// of a vacant host can.
func (h *host) keeps(owner *claim.Owner) bool {
	return len(h.rules) > 0 || h.oldest.Ref.Namespace != owner.Ref.Namespace
}

// divide splits the gathered rules of a host, the oldest first: those that take effect,
// and those of other namespaces that are left out, because the owner does not delegate
// the host to them.
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

// mayShare reports whether rules may be on a host: they are of the owning namespace, or
// that namespace delegates the host to theirs.
func (t *Assembly) mayShare(h *host, owner string, r *claim.Rules) bool {
	namespace := r.Owner.Ref.Namespace
	to := func(text string) bool { return claim.Delegates(text, namespace) }
	return namespace == owner || slices.ContainsFunc(t.delegations(h, owner), to)
}

// delegations are the texts in which a namespace delegates the host.
func (t *Assembly) delegations(h *host, namespace string) []string {
	var texts []string
	add := func(text string) {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	add(t.Objects.Delegation(namespace))
	for _, owner := range h.delegating {
		if owner.Ref.Namespace == namespace {
			add(owner.Delegation)
		}
	}
	for _, r := range h.next {
		if r.Owner.Ref.Namespace == namespace {
			add(r.Owner.Delegation)
		}
	}
	return texts
}

// own decides whose rules control the whole host.
func (t *Assembly) own(h *host) {
	h.deciding, h.guests, h.notServed = h.rules, nil, nil
	h.remarkHeirs()
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
				hostWords(h.name), owner.Namespace, owner, namespace, model.Quoted(namespace), claim.HostDelegation)})
	}
}

// foreign reports whether rules are of another namespace than the oldest owner of the
// host.
func (h *host) foreign(r *claim.Rules) bool { return r.Owner.Ref.Namespace != h.oldest.Ref.Namespace }

// decides reports whether rules control the whole host.
func (h *host) decides(r *claim.Rules) bool { return len(h.guests) == 0 || !h.foreign(r) }

// remarkGuests reports annotations that affect the whole host, of owners that do not
// decide for it.
func (b *builder) remarkGuests() {
	for _, r := range b.host.guests {
		owner, remark := r.Owner, func(field, text string) {
			b.tell(model.Problem{Object: r.Owner.Ref, Field: field, Reason: model.NotDelegated,
				Text: fmt.Sprintf("%s on %s: namespace %s owns the host, and only its Ingresses decide this for the whole host; ask the owner to set it there, or use another host", text, hostWords(b.host.name), b.host.oldest.Ref.Namespace)})
		}
		if b.asking[r] && b.scope == onlyAsking && b.Settings.Paths.RegexScope != "path" {
			remark(b.askedBy(owner), "it makes patterns only of ImplementationSpecific paths of this Ingress")
		}
		if owner.AppRoot() != "" && !owner.IsDenied() && !owner.Ruleless {
			remark(owner.AppRootKey(), "it has no effect")
		}
		if owner.TLS.For(b.host.name) {
			remark(owner.TLSField, "it has no effect")
		}
		if b.ownCiphers(owner) != "" || owner.Annotations.Ciphers.Prefer != "" {
			remark(b.ciphersKey(owner), "it has no effect")
		}
		if len(owner.Aliases) > 0 {
			remark(owner.AliasKey(), "it has no effect")
		}
	}
}
