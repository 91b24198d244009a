package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// assignment says which certificate a host is presented.
type assignment struct {
	// by is the Ingress that decided, nil if none of the host has a tls section.
	by *ingress
	// pair is nil for the default certificate; else item is the one of the tls section
	// that asks for it.
	pair *keyPair
	item int
	// from is the Secret that was looked at last for it.
	from     snapshot.Name
	problems []model.Problem
	// reads are the Secrets that were looked at.
	reads []secretRead
}

// secretRead is a name with the Secret that had it, nil for none, and whether it
// was used.
type secretRead struct {
	name   snapshot.Name
	secret *corev1.Secret
	used   bool
}

// wildcards are the wildcard hosts, and the aliases, that a certificate was
// assigned to, each with the Ingress that decided so.
type wildcards map[string]*ingress

// above is who assigned a certificate to the wildcard above a name, nil for nobody.
func (w wildcards) above(name string) *ingress {
	_, parent, ok := strings.Cut(name, ".")
	if !ok || len(w) == 0 {
		return nil
	}
	return w["*."+parent]
}

// coverer says who assigned a certificate to names of a host, or to the wildcard
// above it; nil for nobody. See the case wildcard-tls-exact-plain of the recorded
// answers.
func (t *translation) coverer(h *host, assigned wildcards) *ingress {
	if h.certificate.by != nil {
		return h.certificate.by
	}
	return t.covererAbove(h, h.name, assigned)
}

// covererAbove says the same of the wildcard above a name of a host. Where a
// namespace owns the host, the certificate of another one is not for its names.
func (t *translation) covererAbove(h *host, name string, assigned wildcards) *ingress {
	by := assigned.above(name)
	if by == nil || t.byNamespace() && by.ref.Namespace != h.oldest.Namespace {
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
	if h.certificate != nil && !slices.ContainsFunc(h.certificate.reads, t.outdated) {
		for _, r := range h.certificate.reads {
			if r.used {
				t.keyPair(r.secret) // still in use
			}
		}
		return
	}
	h.certificate = &assignment{}
	if h.name == "" {
		return // always the default certificate, as with ingress-nginx
	}
	var first *ingress
	for _, rules := range h.deciding {
		switch {
		case len(rules.owner.object.Spec.TLS) == 0:
		case first == nil:
			first = rules.owner
			t.choose(h, first)
		default:
			h.passOver(rules.owner, first)
		}
	}
}

// passOver tells a later Ingress that its Secret for the host is not used.
func (h *host) passOver(later, first *ingress) {
	at := itemOf(later, h.name)
	if at < 0 {
		return
	}
	secret := later.secretOf(at)
	if secret.Name == "" || h.certificate.from == secret {
		return
	}
	h.certificate.report(later, at, model.Conflict, fmt.Sprintf("%s is older and decides the certificate of %s", first.ref, h.name))
}

// itemOf gives the number of the tls item that names a host, or -1.
func itemOf(ing *ingress, host string) int {
	return slices.IndexFunc(ing.object.Spec.TLS, func(item networkingv1.IngressTLS) bool {
		return slices.ContainsFunc(item.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
	})
}

func (t *translation) outdated(r secretRead) bool { return t.snap.Secret(r.name) != r.secret }

// choose lets the first Ingress with a tls section decide: the item that names
// the host, else the first whose certificate does, else the default
// certificate.
func (t *translation) choose(h *host, ing *ingress) {
	a := h.certificate
	a.by = ing
	at := itemOf(ing, h.name)
	if at < 0 {
		t.chooseByName(h, ing)
		return
	}
	if ing.object.Spec.TLS[at].SecretName == "" {
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
func (t *translation) chooseByName(h *host, ing *ingress) {
	unfit := map[int]*keyPair{}
	for at := range ing.object.Spec.TLS {
		item := &ing.object.Spec.TLS[at]
		if item.SecretName == "" {
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
func meant(item *networkingv1.IngressTLS, host string) bool {
	return len(item.Hosts) == 0 || slices.ContainsFunc(item.Hosts, func(h string) bool { return related(h, host) })
}

// related says whether two hosts are the same or one is a wildcard above the
// other.
func related(a, b string) bool {
	return covers([]string{a}, b) || covers([]string{b}, a)
}

// hostlessTLS reports the tls section of an Ingress without a host.
func (i *ingress) hostlessTLS() {
	if len(i.object.Spec.TLS) > 0 {
		i.report("spec.tls", model.Unsupported, "rules without a host are served with the default certificate: name a host")
	}
}

// vainTLS reports the hosts of the tls section that no rule and no alias has. The rules count
// as they are written: one that is wrong is a problem of its own.
func (i *ingress) vainTLS() {
	for at, item := range i.object.Spec.TLS {
		for n, host := range item.Hosts {
			named := slices.ContainsFunc(i.object.Spec.Rules, func(rule networkingv1.IngressRule) bool { return related(host, rule.Host) })
			// An alias is presented the certificate of its host, so that issuers go by the entry.
			if !named && !slices.ContainsFunc(i.aliases, func(alias string) bool { return related(host, alias) }) {
				i.report(fmt.Sprintf("spec.tls[%d].hosts[%d]", at, n), model.NoEffect, fmt.Sprintf("no rule of this Ingress has the host %s: the entry has no effect", quoted(host)))
			}
		}
	}
}

// vainNamespace reports a namespace for Secrets that nobody names.
func (i *ingress) vainNamespace() {
	named := func(item networkingv1.IngressTLS) bool { return item.SecretName != "" }
	if i.secrets != i.object.Namespace && !slices.ContainsFunc(i.object.Spec.TLS, named) {
		i.report(i.prefixKey+"tls-cert-namespace", model.Unread, "it has no effect without a spec.tls[].secretName")
	}
}

// secretOf is the Secret that a tls item names. No API server takes a reference to
// another namespace there, so that it is a name and nothing else.
func (i *ingress) secretOf(at int) snapshot.Name {
	return snapshot.Name{Namespace: i.secrets, Name: i.object.Spec.TLS[at].SecretName}
}

// pairOf reads the Secret of a tls item, nil if it cannot be used.
func (t *translation) pairOf(a *assignment, ing *ingress, at int) *keyPair {
	name := ing.secretOf(at)
	secret, missing := t.secret(name, ing.object.Namespace)
	a.from = name
	found := t.snap.Secret(name)
	a.reads = append(a.reads, secretRead{name, found, secret != nil})
	if found != nil && name.Namespace != ing.object.Namespace {
		a.problems = append(a.problems, misdelegated(found)...)
	}
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
func (a *assignment) unfit(ing *ingress, at int, host string, pair *keyPair) {
	a.report(ing, at, model.InvalidValue, fmt.Sprintf("want a certificate for %s (got one for %s): the default certificate is presented", host, listed(pair.names)))
}

func (a *assignment) report(ing *ingress, at int, reason model.Reason, text string) {
	a.problems = append(a.problems, model.Problem{Object: ing.ref, Field: fmt.Sprintf("spec.tls[%d].secretName", at), Reason: reason, Text: text})
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
