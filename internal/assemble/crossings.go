package assemble

import (
	"fmt"
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// A crossing is an effect of an owner on a whole host whose oldest owner is of another
// namespace. It exists only under host-ownership: shared. Both owners get a Problem.

const decidesTLS = "the certificate and the redirect to HTTPS of %s are decided"

// crossings reports those of a host.
func (b *builder) crossings() {
	h := b.host
	if b.byNamespace() || h.oldest == nil {
		return // there are no crossings
	}
	if by := b.input.wildcard; by != nil {
		_, oldest := h.crossing([]*claim.Owner{by}, tlsFieldOf, decidesTLS)
		b.tell(oldest) // foreignHosts tells the other owner
	}
	if !slices.ContainsFunc(h.rules, h.foreign) {
		return
	}
	if by := b.turners(); b.scope == wholeHost && len(by) > 0 {
		b.crossed(by, b.askedBy, "all paths of %s are made patterns")
	}
	if b.appRootOwner != nil {
		b.crossedBy(b.appRootOwner, (*claim.Owner).AppRootKey, "/ of %s is redirected")
	}
	if first := h.certificate.by; first != nil {
		b.crossedBy(first, tlsFieldOf, decidesTLS)
	}
	if by := b.clients.by; by != nil {
		b.crossedBy(by, func(o *claim.Owner) string { return o.PrefixKey + clientSecretKey }, "clients of %s are asked for certificates")
	}
	if by := b.ciphersBy; by != nil {
		b.crossedBy(by, b.ciphersKey, "the ciphers of %s are decided")
	}
	if first := h.redirector(); first != nil {
		b.crossedBy(first, wwwRedirectKey, "the other name of %s, with or without www., is redirected")
	}
	if first := h.firstAliased(); first != nil {
		b.crossedBy(first, (*claim.Owner).AliasKey, "further names of %s are added")
	}
}

// turners are the owners that turn a host, none if one of the namespace of the oldest
// owner does.
func (b *builder) turners() []*claim.Owner {
	var by []*claim.Owner
	for _, r := range b.host.rules {
		switch {
		case !b.asking[r]:
		case !b.host.foreign(r):
			return nil
		default:
			by = append(by, r.Owner)
		}
	}
	return by
}

// crossedBy reports an effect of one owner, if it is a crossing.
func (b *builder) crossedBy(by *claim.Owner, field func(*claim.Owner) string, effect string) {
	if by.Ref.Namespace != b.host.oldest.Ref.Namespace {
		b.crossed([]*claim.Owner{by}, field, effect)
	}
}

// crossed reports a crossing to both owners; effect has a verb for the host.
func (b *builder) crossed(by []*claim.Owner, field func(*claim.Owner) string, effect string) {
	others, oldest := b.host.crossing(by, field, effect)
	b.out.problems = append(append(b.out.problems, others...), oldest)
}

// crossing returns the Problems of a crossing: those of the owners that caused it, and that
// of the oldest owner of the host.
func (h *host) crossing(by []*claim.Owner, field func(*claim.Owner) string, effect string) (others []model.Problem, oldest model.Problem) {
	effect = fmt.Sprintf(effect, hostWords(h.name))
	var names []string
	for _, owner := range by {
		names = append(names, fmt.Sprintf("%s (%s)", owner.Ref, field(owner)))
		others = append(others, model.Problem{Object: owner.Ref, Field: field(owner), Reason: model.CrossNamespace,
			Text: fmt.Sprintf("because of this, %s, although the oldest Ingress of the host is %s of another namespace: use another host, or agree on this with namespace %s", effect, h.oldest.Ref, h.oldest.Ref.Namespace)})
	}
	return others, model.Problem{Object: h.oldest.Ref, Field: h.oldest.HostField(h.name), Reason: model.CrossNamespace,
		Text: fmt.Sprintf("%s by %s, although this Ingress is of another namespace and is the oldest of the host: agree on this with that namespace, or set host-ownership: namespace in the ConfigMap, so that only this namespace decides it", effect, claim.ListedFew(names))}
}

// crossedPath reports a canary that shares a path of another namespace.
func (b *builder) crossedPath(can *canary) {
	main := can.main
	b.problem(can.Claim, "", model.CrossNamespace, fmt.Sprintf("it is the canary of this path of %s, which is of another namespace: agree on this with namespace %s", main.Owner.Ref, main.Owner.Ref.Namespace))
	b.problem(main, "", model.CrossNamespace, fmt.Sprintf("%s (%scanary) gets requests of this path, although it is of another namespace: agree on this with that namespace, or set host-ownership: namespace in the ConfigMap, so that only this namespace decides it",
		can.Owner.Ref, can.Owner.PrefixKey))
}

// foreignHosts are the hosts below a wildcard host of another namespace that get its
// certificate, by the owner that assigned it.
type foreignHosts map[*claim.Owner][]*host

// add records a host with the owner of its certificate. It returns that owner if it
// assigned the certificate to a wildcard host of another namespace, otherwise nil.
func (f foreignHosts) add(by *claim.Owner, h *host) *claim.Owner {
	if by == nil || by == h.certificate.by || by.Ref.Namespace == h.oldest.Ref.Namespace {
		return nil
	}
	f[by] = append(f[by], h)
	return by
}

// problems reports all hosts of an owner at once.
func (f foreignHosts) problems() []model.Problem {
	var problems []model.Problem
	for by, hosts := range f {
		names := make([]string, len(hosts))
		for i, h := range hosts[:min(len(hosts), claim.Few)] {
			names[i] = h.name + " of " + h.oldest.Ref.String()
		}
		problems = append(problems, model.Problem{Object: by.Ref, Field: by.TLSField, Reason: model.CrossNamespace,
			Text: fmt.Sprintf("this also decides the certificate and the redirect to HTTPS of hosts of other namespaces below a wildcard host of this Ingress (%s): agree on this with those namespaces, or set host-ownership: namespace in the ConfigMap, so that each decides it for its own", claim.ListedFew(names))})
	}
	return problems
}

func tlsFieldOf(owner *claim.Owner) string { return owner.TLSField }
