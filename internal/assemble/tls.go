package assemble

import (
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
	// named is the Secret of the item that names the host, if one was read.
	named *readSecret
	// secrets are those of an owner's items, which were looked through up to item, if none names
	// the host.
	secrets *ownerSecrets
}

// readSecret is a Secret that was read for owners of a namespace.
type readSecret struct {
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
	s := &search{Assembly: t, of: map[*claim.Owner]*ownerSecrets{}, fresh: map[*ownerSecrets]int{}}
	for _, h := range hosts {
		s.assign(h)
		t.report(h.certificate.problems...)
	}
	for _, h := range hosts {
		s.noteDecided(h.certificate)
	}
	s.reportDecided()
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
