package assemble

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// assignment is the certificate of a host, with the way it was found.
type assignment struct {
	// by is the owner that decided, nil if none of the host has a TLS section.
	by *claim.Owner
	// pair is nil for the default certificate. Otherwise item is the TLS item that
	// names it.
	pair     *Presented
	item     int
	problems []model.Problem
	// looked are the Secrets that were read, in their order.
	looked []look
}

// look is the content of a Secret for owners of a namespace.
type look struct {
	secret    snapshot.Name
	namespace string
	found     *Presented
}

// Presented is the certificate in a Secret, for hosts of an owner.
type Presented struct {
	// Certificate is nil if Fault has the reason why there is none.
	Certificate *model.Certificate
	// Names are those that the certificate is valid for.
	Names  []string
	Reason model.Reason
	Fault  string
	// Remarks are Problems of the Secret itself.
	Remarks []model.Problem
}

// wildcards are the wildcard hosts and aliases with an assigned certificate, each with
// the owner that assigned it.
type wildcards map[string]*claim.Owner

// above is the owner that assigned a certificate to the wildcard above a name, nil for
// none.
func (w wildcards) above(name string) *claim.Owner {
	_, parent, ok := strings.Cut(name, ".")
	if !ok || len(w) == 0 {
		return nil
	}
	return w["*."+parent]
}

// coverer is the owner that assigned a certificate to a host or to the wildcard above
// it, nil for none. See the case wildcard-tls-exact-plain of the recorded answers.
func (t *Assembly) coverer(h *host, assigned wildcards) *claim.Owner {
	if h.certificate.by != nil {
		return h.certificate.by
	}
	return t.covererAbove(h, h.name, assigned)
}

// covererAbove is the owner that assigned a certificate to the wildcard above a name of
// a host, nil for none. Under host-ownership: namespace, the certificate of another
// namespace does not count.
func (t *Assembly) covererAbove(h *host, name string, assigned wildcards) *claim.Owner {
	by := assigned.above(name)
	if by == nil || t.byNamespace() && by.Ref.Namespace != h.oldest.Ref.Namespace {
		return nil
	}
	return by
}

// certify assigns the certificates of all hosts, and sets Names and Certificates.
func (t *Assembly) certify(hosts []*host) wildcards {
	assigned := wildcards{}
	certificates := map[string]*model.Certificate{}
	name := func(host string, certificate *model.Certificate) {
		if certificate != nil {
			certificates[certificate.ID] = certificate
			t.Names = append(t.Names, model.CertificateName{Host: host, ID: certificate.ID})
		}
	}
	standard := t.Standard
	name("", standard)
	for _, presented := range t.Presented {
		certificates[presented.ID] = presented
	}
	for _, h := range hosts {
		t.assign(h)
		t.report(h.certificate.problems...)
	}
	roomless := t.roomless(hosts, standard)
	for _, h := range hosts {
		by := h.certificate.by
		if by == nil {
			continue
		}
		if h.wildcard() {
			assigned[h.name] = by
		}
		if h.certificate.pair == nil || roomless[h] {
			name(h.name, standard)
			continue
		}
		name(h.name, h.certificate.pair.Certificate)
		for _, alias := range h.coveredAliases() {
			assigned[alias] = by
			name(alias, h.certificate.pair.Certificate)
		}
		if h.other != "" && claim.Covers(h.certificate.pair.Names, h.other) {
			name(h.other, h.certificate.pair.Certificate)
		}
	}
	for _, fenced := range t.fenced(hosts, assigned) {
		name(fenced, standard)
	}
	slices.SortStableFunc(t.Names, func(a, b model.CertificateName) int { return strings.Compare(a.Host, b.Host) })
	t.Certificates = slices.SortedFunc(maps.Values(certificates), func(a, b *model.Certificate) int { return strings.Compare(a.ID, b.ID) })
	return assigned
}

// fenced are the names without a certificate below a wildcard host of another namespace
// whose certificate is not for them.
func (t *Assembly) fenced(hosts []*host, assigned wildcards) []string {
	if !t.byNamespace() || len(assigned) == 0 {
		return nil
	}
	var names []string
	for _, h := range hosts {
		for _, name := range append([]string{h.name}, h.aliases...) {
			own := name == h.name && h.certificate.by != nil || assigned[name] != nil
			if !own && assigned.above(name) != nil && t.covererAbove(h, name, assigned) == nil {
				names = append(names, name)
			}
		}
	}
	return names
}

// assign finds the certificate of a host, unless that of the last call is still valid.
func (t *Assembly) assign(h *host) {
	if h.certificate != nil && !slices.ContainsFunc(h.certificate.looked, t.outdated) {
		return
	}
	h.certificate = &assignment{}
	if h.name == "" {
		return // always the default certificate, as in ingress-nginx
	}
	var first *claim.Owner
	for _, rules := range h.deciding {
		switch {
		case len(rules.Owner.TLS) == 0:
		case first == nil:
			first = rules.Owner
			t.choose(h, first)
		default:
			h.passOver(rules.Owner, first)
		}
	}
}

// outdated reports whether the content of a Secret changed.
func (t *Assembly) outdated(l look) bool {
	return t.Objects.Certificate(l.secret, l.namespace) != l.found
}

// passOver reports a Secret of a later owner that is not used for the host.
func (h *host) passOver(later, first *claim.Owner) {
	at := itemOf(later, h.name)
	if at < 0 {
		return
	}
	secret := later.TLS[at].Secret
	looked := h.certificate.looked
	if secret.Name == "" || len(looked) > 0 && looked[len(looked)-1].secret == secret {
		return
	}
	h.certificate.report(later, at, model.Conflict, fmt.Sprintf("%s is older and decides the certificate of %s", first.Ref, h.name))
}

// itemOf returns the index of the TLS item that names a host, or -1.
func itemOf(owner *claim.Owner, host string) int {
	return slices.IndexFunc(owner.TLS, func(item claim.TLSItem) bool {
		return slices.ContainsFunc(item.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
	})
}

// choose takes the certificate of the first owner with a TLS section: that of the item
// that names the host, else the first that is valid for it, else the default
// certificate.
func (t *Assembly) choose(h *host, owner *claim.Owner) {
	a := h.certificate
	a.by = owner
	at := itemOf(owner, h.name)
	if at < 0 {
		t.chooseByName(h, owner)
		return
	}
	if owner.TLS[at].Secret.Name == "" {
		return
	}
	pair := t.pairOf(a, owner, at)
	switch {
	case pair == nil:
	case !claim.Covers(pair.Names, h.name):
		a.unfit(owner, at, h.name, pair)
	default:
		a.pair, a.item = pair, at
	}
}

// chooseByName takes the first certificate that is valid for the host. If there is
// none, it reports the items that may be for the host.
func (t *Assembly) chooseByName(h *host, owner *claim.Owner) {
	unfit := map[int]*Presented{}
	for at := range owner.TLS {
		item := &owner.TLS[at]
		if item.Secret.Name == "" {
			continue
		}
		pair := t.pairOf(h.certificate, owner, at)
		switch {
		case pair == nil:
		case claim.Covers(pair.Names, h.name):
			h.certificate.pair, h.certificate.item = pair, at
			return
		case claim.Meant(item, h.name):
			unfit[at] = pair
		}
	}
	for _, at := range slices.Sorted(maps.Keys(unfit)) {
		h.certificate.unfit(owner, at, h.name, unfit[at])
	}
}

// pairOf reads the Secret of a TLS item, nil if its certificate is not usable.
func (t *Assembly) pairOf(a *assignment, owner *claim.Owner, at int) *Presented {
	secret := owner.TLS[at].Secret
	found := t.Objects.Certificate(secret, owner.Ref.Namespace)
	a.looked, a.problems = append(a.looked, look{secret, owner.Ref.Namespace, found}), append(a.problems, found.Remarks...)
	if found.Certificate == nil {
		a.report(owner, at, found.Reason, found.Fault+": the default certificate is presented")
		return nil
	}
	return found
}

// unfit reports a certificate for other names.
func (a *assignment) unfit(owner *claim.Owner, at int, host string, pair *Presented) {
	a.report(owner, at, model.InvalidValue, fmt.Sprintf("want a certificate for %s (got one for %s): the default certificate is presented", host, claim.Listed(pair.Names)))
}

func (a *assignment) report(owner *claim.Owner, at int, reason model.Reason, text string) {
	a.problems = append(a.problems, model.Problem{Object: owner.Ref, Field: owner.TLS[at].Field, Reason: reason, Text: text})
}
