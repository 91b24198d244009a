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

// assignment says which certificate a host is presented.
type assignment struct {
	// by is the Ingress that decided, nil if none of the host has a tls section.
	by *claim.Owner
	// pair is nil for the default certificate; else item is the one of the tls section
	// that asks for it.
	pair *Presented
	item int
	// from is the Secret that was looked at last for it.
	from     snapshot.Name
	problems []model.Problem
	// looked are the Secrets that were looked at.
	looked []look
}

// look is a Secret with what it gave to owners of a namespace.
type look struct {
	secret    snapshot.Name
	namespace string
	found     *Presented
}

// Presented is what a Secret gives to the hosts of an owner.
type Presented struct {
	// Certificate is nil if fault says why there is none.
	Certificate *model.Certificate
	// Names are those that the certificate is for.
	Names  []string
	Reason model.Reason
	Fault  string
	// Remarks are on the Secret itself.
	Remarks []model.Problem
}

// wildcards are the wildcard hosts, and the aliases, that a certificate was
// assigned to, each with the Ingress that decided so.
type wildcards map[string]*claim.Owner

// above is who assigned a certificate to the wildcard above a name, nil for nobody.
func (w wildcards) above(name string) *claim.Owner {
	_, parent, ok := strings.Cut(name, ".")
	if !ok || len(w) == 0 {
		return nil
	}
	return w["*."+parent]
}

// coverer says who assigned a certificate to names of a host, or to the wildcard
// above it; nil for nobody. See the case wildcard-tls-exact-plain of the recorded
// answers.
func (t *Assembly) coverer(h *host, assigned wildcards) *claim.Owner {
	if h.certificate.by != nil {
		return h.certificate.by
	}
	return t.covererAbove(h, h.name, assigned)
}

// covererAbove says the same of the wildcard above a name of a host. Where a
// namespace owns the host, the certificate of another one is not for its names.
func (t *Assembly) covererAbove(h *host, name string, assigned wildcards) *claim.Owner {
	by := assigned.above(name)
	if by == nil || t.byNamespace() && by.Ref.Namespace != h.oldest.Ref.Namespace {
		return nil
	}
	return by
}

// certify assigns the certificates of all hosts and says what is pushed.
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
	}
	for _, fenced := range t.fenced(hosts, assigned) {
		name(fenced, standard)
	}
	slices.SortStableFunc(t.Names, func(a, b model.CertificateName) int { return strings.Compare(a.Host, b.Host) })
	t.Certificates = slices.SortedFunc(maps.Values(certificates), func(a, b *model.Certificate) int { return strings.Compare(a.ID, b.ID) })
	return assigned
}

// fenced are the names without a certificate that are below a wildcard with one of
// another namespace, where that is not for them.
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

// assign finds the certificate of a host, unless that of the last call is still
// right.
func (t *Assembly) assign(h *host) {
	if h.certificate != nil && !slices.ContainsFunc(h.certificate.looked, t.outdated) {
		return
	}
	h.certificate = &assignment{}
	if h.name == "" {
		return // always the default certificate, as with ingress-nginx
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

// outdated reports whether a Secret gives something else than it did.
func (t *Assembly) outdated(l look) bool {
	return t.Objects.Certificate(l.secret, l.namespace) != l.found
}

// passOver tells a later Ingress that its Secret for the host is not used.
func (h *host) passOver(later, first *claim.Owner) {
	at := itemOf(later, h.name)
	if at < 0 {
		return
	}
	secret := later.TLS[at].Secret
	if secret.Name == "" || h.certificate.from == secret {
		return
	}
	h.certificate.report(later, at, model.Conflict, fmt.Sprintf("%s is older and decides the certificate of %s", first.Ref, h.name))
}

// itemOf gives the number of the tls item that names a host, or -1.
func itemOf(ing *claim.Owner, host string) int {
	return slices.IndexFunc(ing.TLS, func(item claim.TLSItem) bool {
		return slices.ContainsFunc(item.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
	})
}

// choose lets the first Ingress with a tls section decide: the item that names
// the host, else the first whose certificate does, else the default
// certificate.
func (t *Assembly) choose(h *host, ing *claim.Owner) {
	a := h.certificate
	a.by = ing
	at := itemOf(ing, h.name)
	if at < 0 {
		t.chooseByName(h, ing)
		return
	}
	if ing.TLS[at].Secret.Name == "" {
		return
	}
	pair := t.pairOf(a, ing, at)
	switch {
	case pair == nil:
	case !claim.Covers(pair.Names, h.name):
		a.unfit(ing, at, h.name, pair)
	default:
		a.pair, a.item = pair, at
	}
}

// chooseByName takes the first item whose certificate is for the host. If there
// is none, the items that are meant for it are at fault.
func (t *Assembly) chooseByName(h *host, ing *claim.Owner) {
	unfit := map[int]*Presented{}
	for at := range ing.TLS {
		item := &ing.TLS[at]
		if item.Secret.Name == "" {
			continue
		}
		pair := t.pairOf(h.certificate, ing, at)
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
		h.certificate.unfit(ing, at, h.name, unfit[at])
	}
}

// pairOf reads the Secret of a tls item, nil if it cannot be used.
func (t *Assembly) pairOf(a *assignment, ing *claim.Owner, at int) *Presented {
	secret := ing.TLS[at].Secret
	found := t.Objects.Certificate(secret, ing.Ref.Namespace)
	a.from, a.looked, a.problems = secret, append(a.looked, look{secret, ing.Ref.Namespace, found}), append(a.problems, found.Remarks...)
	if found.Certificate == nil {
		a.report(ing, at, found.Reason, found.Fault+": the default certificate is presented")
		return nil
	}
	return found
}

// unfit reports a certificate that is for other names.
func (a *assignment) unfit(ing *claim.Owner, at int, host string, pair *Presented) {
	a.report(ing, at, model.InvalidValue, fmt.Sprintf("want a certificate for %s (got one for %s): the default certificate is presented", host, claim.Listed(pair.Names)))
}

func (a *assignment) report(ing *claim.Owner, at int, reason model.Reason, text string) {
	a.problems = append(a.problems, model.Problem{Object: ing.Ref, Field: ing.TLS[at].Field, Reason: reason, Text: text})
}
