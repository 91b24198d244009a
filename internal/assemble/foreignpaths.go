package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// A claim for some requests of a path takes them before the path itself, however old that is.
// So it counts only where its own namespace has the path, nobody has it, or the namespace
// that has it delegates the host.

// leavesToOther leaves out a conditional claim of a path that another namespace has, and
// reports it to both. It closes nothing: a stranger could close paths of the owner otherwise.
func (b *builder) leavesToOther(c *claim.Claim) bool {
	if b.scope != literal {
		return false // claimConditional refuses it
	}
	for _, path := range meanings(c.Path) {
		at := matchFor(c, path)
		if holder := b.holder(c, at); holder != nil {
			b.foreignPath(c, holder)
			b.leftOut[c] = true
			return true
		}
		b.claimed[at] = append(b.claimed[at], c)
	}
	return false
}

func (b *builder) foreignPath(c, holder *claim.Claim) {
	host, namespace := hostWords(b.host.name), holder.Owner.Ref.Namespace
	b.problem(c, "", model.NotDelegated, fmt.Sprintf("namespace %s has this path of %s, with %s of %s, and a rule for only some of its requests counts in that namespace only: it is left out; use another path, or have the owner write %s in the annotation %s of that Ingress",
		namespace, host, holder.Field, holder.Owner.Ref, model.Quoted(c.Owner.Ref.Namespace), claim.HostDelegation))
	b.problem(holder, "", model.CrossNamespace, fmt.Sprintf("%s (%s) asks for some requests of this path, although it is of another namespace, and gets none: if it may have them, write %s in the annotation %s",
		c.Owner.Ref, c.Match, model.Quoted(c.Owner.Ref.Namespace), claim.HostDelegation))
}

// holder returns the claim of another namespace that has the requests of a conditional claim,
// nil if none has. Of the other namespaces, only older claims count.
func (b *builder) holder(c *claim.Claim, at match) *claim.Claim {
	plain := b.plainClaims()
	foreign := func(o *claim.Claim) bool { return o.Owner.Ref.Namespace != c.Owner.Ref.Namespace }
	for at != (match{}) {
		for _, o := range b.claimed[at] {
			if foreign(o) && !b.delegatesTo(o.Owner.Ref.Namespace, c) {
				return o
			}
		}
		switch o := plain[at]; {
		case o == nil || foreign(o) && o.Owner.Age.Compare(c.Owner.Age) > 0:
		case !foreign(o) || b.delegatesTo(o.Owner.Ref.Namespace, c):
			return nil
		default:
			return o
		}
		at = above(at)
	}
	return nil
}

// above returns the match that takes the requests of another one if nothing has that, the zero
// value for none.
func above(at match) match {
	switch prefix := at.path; {
	case at.modifier == model.Equal:
		return match{modifier: model.PrefixFirst, path: strings.TrimSuffix(prefix, "/") + "/"}
	case len(prefix) > 1:
		return match{modifier: model.PrefixFirst, path: prefix[:len(prefix)-1]}
	}
	return match{}
}

// plainClaims are the oldest claims without a match, by what they take of a host without
// patterns.
func (b *builder) plainClaims() map[match]*claim.Claim {
	if b.plain == nil {
		b.plain = map[match]*claim.Claim{}
		for c := range claimsOf(b.host.rules) {
			if c.Match != nil {
				continue
			}
			for _, path := range meanings(c.Path) {
				if at := matchFor(c, path); b.plain[at] == nil {
					b.plain[at] = c
				}
			}
		}
	}
	return b.plain
}

// delegatesTo reports whether a namespace delegates the host to that of a claim. That of the owner of
// the host does, or the claim would not be on the host.
func (b *builder) delegatesTo(namespace string, c *claim.Claim) bool {
	if b.byNamespace() && namespace == b.host.oldest.Ref.Namespace {
		return true
	}
	return slices.ContainsFunc(b.host.rules, func(r *claim.Rules) bool {
		return r.Owner.Ref.Namespace == namespace && claim.Delegates(r.Owner.Delegation, c.Owner.Ref.Namespace)
	})
}
