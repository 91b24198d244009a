package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// assignment says which certificate a host is presented.
type assignment struct {
	// by is the Ingress that decided, nil if none of the host has a tls section.
	by *owner
	// pair is nil for the default certificate; else item is the one of the tls section
	// that asks for it.
	pair *keyPair
	item int
	// from is the Secret that was looked at last for it.
	from     snapshot.Name
	problems []model.Problem
	// reads are the Secrets that were looked at.
	reads reads
}

// wildcards are the wildcard hosts, and the aliases, that a certificate was
// assigned to, each with the Ingress that decided so.
type wildcards map[string]*owner

// above is who assigned a certificate to the wildcard above a name, nil for nobody.
func (w wildcards) above(name string) *owner {
	_, parent, ok := strings.Cut(name, ".")
	if !ok || len(w) == 0 {
		return nil
	}
	return w["*."+parent]
}

// coverer says who assigned a certificate to names of a host, or to the wildcard
// above it; nil for nobody. See the case wildcard-tls-exact-plain of the recorded
// answers.
func (t *translation) coverer(h *host, assigned wildcards) *owner {
	if h.certificate.by != nil {
		return h.certificate.by
	}
	return t.covererAbove(h, h.name, assigned)
}

// covererAbove says the same of the wildcard above a name of a host. Where a
// namespace owns the host, the certificate of another one is not for its names.
func (t *translation) covererAbove(h *host, name string, assigned wildcards) *owner {
	by := assigned.above(name)
	if by == nil || t.byNamespace() && by.ref.Namespace != h.oldest.ref.Namespace {
		return nil
	}
	return by
}

// certify assigns the certificates of all hosts and says what is pushed.
func (t *translation) certify(hosts []*host, out *model.Dynamic) wildcards {
	assigned := wildcards{}
	certificates := map[string]*model.Certificate{}
	name := func(host string, certificate *model.Certificate) {
		if certificate != nil {
			certificates[certificate.ID] = certificate
			out.Names = append(out.Names, model.CertificateName{Host: host, ID: certificate.ID})
		}
	}
	standard := t.defaultCertificate()
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
		name(h.name, h.certificate.pair.certificate)
		for _, alias := range h.coveredAliases() {
			assigned[alias] = by
			name(alias, h.certificate.pair.certificate)
		}
	}
	for _, fenced := range t.fenced(hosts, assigned) {
		name(fenced, standard)
	}
	slices.SortStableFunc(out.Names, func(a, b model.CertificateName) int { return strings.Compare(a.Host, b.Host) })
	out.Certificates = slices.SortedFunc(maps.Values(certificates), func(a, b *model.Certificate) int { return strings.Compare(a.ID, b.ID) })
	return assigned
}

// fenced are the names without a certificate that are below a wildcard with one of
// another namespace, where that is not for them.
func (t *translation) fenced(hosts []*host, assigned wildcards) []string {
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

// defaultCertificate gives the certificate of names that have none, or nil.
func (t *translation) defaultCertificate() *model.Certificate {
	name := t.options.DefaultCertificate
	if name == (snapshot.Name{}) {
		return t.options.FallbackCertificate
	}
	problem := model.Problem{Object: model.ObjectRef{Kind: "Secret", Namespace: name.Namespace, Name: name.Name}, Reason: model.NotFound,
		Text: "it does not exist and is to hold the default certificate: a self-signed one is presented"}
	secret := t.snap.Secret(name)
	if secret == nil {
		t.report(problem)
		return t.options.FallbackCertificate
	}
	pair := t.keyPair(secret)
	if pair.certificate == nil {
		problem.Reason, problem.Text = model.InvalidValue, pair.fault+"; a self-signed default certificate is presented"
		t.report(problem)
		return t.options.FallbackCertificate
	}
	return pair.certificate
}

// assign finds the certificate of a host, unless that of the last call is still
// right.
func (t *translation) assign(h *host) {
	if h.certificate != nil && !h.certificate.reads.outdated(t.snap) {
		t.keepPairs(h.certificate.reads)
		return
	}
	h.certificate = &assignment{}
	if h.name == "" {
		return // always the default certificate, as with ingress-nginx
	}
	var first *owner
	for _, rules := range h.deciding {
		switch {
		case len(rules.owner.tls) == 0:
		case first == nil:
			first = rules.owner
			t.choose(h, first)
		default:
			h.passOver(rules.owner, first)
		}
	}
}

// passOver tells a later Ingress that its Secret for the host is not used.
func (h *host) passOver(later, first *owner) {
	at := itemOf(later, h.name)
	if at < 0 {
		return
	}
	secret := later.tls[at].secret
	if secret.Name == "" || h.certificate.from == secret {
		return
	}
	h.certificate.report(later, at, model.Conflict, fmt.Sprintf("%s is older and decides the certificate of %s", first.ref, h.name))
}

// itemOf gives the number of the tls item that names a host, or -1.
func itemOf(ing *owner, host string) int {
	return slices.IndexFunc(ing.tls, func(item tlsItem) bool {
		return slices.ContainsFunc(item.hosts, func(h string) bool { return strings.EqualFold(h, host) })
	})
}

// choose lets the first Ingress with a tls section decide: the item that names
// the host, else the first whose certificate does, else the default
// certificate.
func (t *translation) choose(h *host, ing *owner) {
	a := h.certificate
	a.by = ing
	at := itemOf(ing, h.name)
	if at < 0 {
		t.chooseByName(h, ing)
		return
	}
	if ing.tls[at].secret.Name == "" {
		return
	}
	pair := t.pairOf(a, ing, at)
	switch {
	case pair == nil:
	case !covers(pair.names, h.name):
		a.unfit(ing, at, h.name, pair)
	default:
		a.pair, a.item = pair, at
	}
}

// chooseByName takes the first item whose certificate is for the host. If there
// is none, the items that are meant for it are at fault.
func (t *translation) chooseByName(h *host, ing *owner) {
	unfit := map[int]*keyPair{}
	for at := range ing.tls {
		item := &ing.tls[at]
		if item.secret.Name == "" {
			continue
		}
		pair := t.pairOf(h.certificate, ing, at)
		switch {
		case pair == nil:
		case covers(pair.names, h.name):
			h.certificate.pair, h.certificate.item = pair, at
			return
		case meant(item, h.name):
			unfit[at] = pair
		}
	}
	for _, at := range slices.Sorted(maps.Keys(unfit)) {
		h.certificate.unfit(ing, at, h.name, unfit[at])
	}
}

// meant says whether a tls item that does not name a host is for it: it names
// none at all, or a wildcard above the host or a name under it.
func meant(item *tlsItem, host string) bool {
	return len(item.hosts) == 0 || slices.ContainsFunc(item.hosts, func(h string) bool { return related(h, host) })
}

// related says whether two hosts are the same or one is a wildcard above the
// other.
func related(a, b string) bool {
	return covers([]string{a}, b) || covers([]string{b}, a)
}

// pairOf reads the Secret of a tls item, nil if it cannot be used.
func (t *translation) pairOf(a *assignment, ing *owner, at int) *keyPair {
	name := ing.tls[at].secret
	secret, missing, remarks := t.secret(&a.reads, name, ing.ref.Namespace)
	a.from, a.problems = name, append(a.problems, remarks...)
	if secret == nil {
		a.report(ing, at, model.NotFound, missing+": the default certificate is presented")
		return nil
	}
	pair := t.keyPair(secret)
	if pair.certificate == nil {
		a.report(ing, at, model.InvalidValue, fmt.Sprintf("Secret %s: %s: the default certificate is presented", shown(name.String()), pair.fault))
		if pair.tooLong {
			a.problems = append(a.problems, model.Problem{Object: model.ObjectRef{Kind: "Secret", Namespace: name.Namespace, Name: name.Name}, Reason: model.NoRoom, Text: pair.fault + ": its certificate is not presented"})
		}
		return nil
	}
	return pair
}

// unfit reports a certificate that is for other names.
func (a *assignment) unfit(ing *owner, at int, host string, pair *keyPair) {
	a.report(ing, at, model.InvalidValue, fmt.Sprintf("want a certificate for %s (got one for %s): the default certificate is presented", host, listed(pair.names)))
}

func (a *assignment) report(ing *owner, at int, reason model.Reason, text string) {
	a.problems = append(a.problems, model.Problem{Object: ing.ref, Field: ing.tls[at].field, Reason: reason, Text: text})
}

// listed gives the first few names for a message, in quotes where they are not
// plain and short.
func listed(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), few)] {
		if q := quoted(name); q != `"`+name+`"` {
			name = q
		}
		list = append(list, name)
	}
	if len(names) > few {
		list = append(list, "...")
	}
	return cmp.Or(strings.Join(list, ", "), "no name")
}
