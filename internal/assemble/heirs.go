package assemble

import (
	"fmt"
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// A server snippet may have directives that the paths of all owners of the host inherit. Where all
// are of one namespace, that is its own business. Heirs are rules of other namespaces that would
// inherit them without having asked for it.

// inheriting returns the first rules of a host with a server snippet that can be printed, if it is
// for one namespace only, and what of it; nil if it is not. rules are those of the host, the
// oldest first.
func (h *host) inheriting(namespace string, rules []*claim.Rules) (of *claim.Rules, what string) {
	for _, r := range rules {
		if h.name != "" && r.Owner.Ref.Namespace == namespace && printableSnippet(r.Owner) != "" {
			if what, _ = snippetOf(r.Owner).Inherited(); what != "" {
				return r, what
			}
			return nil, ""
		}
	}
	return nil, ""
}

// isHeir reports whether rules would inherit from a snippet of another namespace. Who wrote the
// same snippet agrees.
func isHeir(r, of *claim.Rules) bool {
	return r.Owner.Ref.Namespace != of.Owner.Ref.Namespace && !sameSnippet(snippetOf(r.Owner), snippetOf(of.Owner))
}

// withoutHeirs splits rules of a host: those of other namespaces that are younger than a snippet
// which they would inherit are left out, so that they cannot close the paths of its owner. With an
// older one, decideSnippet refuses the snippet.
func (h *host) withoutHeirs(rules []*claim.Rules) (served, heirs []*claim.Rules) {
	oldest := h.oldestOf(rules)
	if oldest == nil || !slices.ContainsFunc(rules, func(r *claim.Rules) bool { return r.Owner.Ref.Namespace != oldest.Ref.Namespace }) {
		return rules, nil
	}
	of, _ := h.inheriting(oldest.Ref.Namespace, rules)
	if of == nil {
		return rules, nil
	}
	at := slices.Index(rules, of)
	if slices.ContainsFunc(rules[:at], func(r *claim.Rules) bool { return isHeir(r, of) }) {
		return rules, nil
	}
	for _, r := range rules {
		if isHeir(r, of) {
			heirs = append(heirs, r)
		} else {
			served = append(served, r)
		}
	}
	return served, heirs
}

// remarkHeirs tells both sides which rules are left out because of a snippet.
func (h *host) remarkHeirs() {
	if len(h.heirs) == 0 {
		return
	}
	of, what := h.inheriting(h.oldest.Ref.Namespace, h.rules)
	by := of.Owner
	var names []string
	for _, r := range h.heirs {
		names = append(names, r.Owner.Ref.String())
		h.notServed = append(h.notServed, model.Problem{Object: r.Owner.Ref, Field: r.Owner.HostField(h.name), Reason: model.Conflict,
			Text: fmt.Sprintf("%s has a server-snippet of %s, which is older, whose directives all its Ingresses inherit (%s), so that only those of namespace %s are served on it: the rules for it are left out; use another host, or ask that namespace for a configuration-snippet instead",
				hostWords(h.name), by.Ref, what, by.Ref.Namespace)})
	}
	h.notServed = append(h.notServed, model.Problem{Object: by.Ref, Field: snippetField(by), Reason: model.Conflict,
		Text: fmt.Sprintf("%s is inherited by all Ingresses of the host: %s is not served for those of other namespaces, which are younger (%s); to share the host, want a configuration-snippet instead", what, hostWords(h.name), claim.ListedFew(names))})
}

// heirsOf names the owners of other namespaces, which are older on the host, that would inherit
// from a snippet.
func (h *host) heirsOf(of *claim.Rules) (names []string) {
	if what, _ := snippetOf(of.Owner).Inherited(); what == "" {
		return nil
	}
	for _, r := range h.rules {
		if isHeir(r, of) {
			names = append(names, r.Owner.Ref.String())
		}
	}
	return names
}

// refuseInherited refuses a snippet that others would inherit.
func (b *builder) refuseInherited(of *claim.Owner, heirs []string) {
	what, why := snippetOf(of).Inherited()
	b.refuseSnippet(of, model.CrossNamespace, fmt.Sprintf("%s %s; of other namespaces, %s would inherit it on %s", what, why, claim.ListedFew(heirs), hostWords(b.host.name)))
}

// inheritance tells the owner of a snippet which other Ingresses of its namespace inherit it.
func (b *builder) inheritance() {
	by := b.snippet.by
	if by == nil {
		return
	}
	what, _ := snippetOf(by).Inherited()
	directive, lifts := snippetOf(by).Lifts()
	var names, lifted []string
	for _, r := range b.host.rules {
		if r.Owner != by && !sameSnippet(snippetOf(r.Owner), snippetOf(by)) {
			names = append(names, r.Owner.Ref.String())
			if r.Owner.Annotations.IsLiftedBy(directive) {
				lifted = append(lifted, r.Owner.Ref.String())
			}
		}
	}
	if what == "" || len(names) == 0 {
		return
	}
	if len(lifted) > 0 {
		b.tell(model.Problem{Object: by.Ref, Field: snippetField(by), Reason: Lifted,
			Text: fmt.Sprintf("%s also holds for %s on %s, and can admit clients that are refused there: want it in a configuration-snippet", lifts, claim.ListedFew(lifted), hostWords(b.host.name))})
	}
	b.tell(model.Problem{Object: by.Ref, Field: snippetField(by), Reason: Inherited,
		Text: fmt.Sprintf("%s holds for %s on %s, too, and no Ingress of another namespace can join the host", what, claim.ListedFew(names), hostWords(b.host.name))})
}
