package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// search finds the certificates of hosts. The items of an owner are read once for all hosts that no
// item names: an Ingress can have thousands of both.
type search struct {
	*Assembly
	of map[*claim.Owner]*ownerSecrets
	// fresh is the index of the first item that has changed.
	fresh map[*ownerSecrets]int
	// decided are those that decided about a host, in the order of hosts.
	decided []*ownerSecrets
}

// ownerSecrets are the Secrets of an owner's items.
type ownerSecrets struct {
	owner *claim.Owner
	// found and problems are of each item; found is nil without a Secret.
	found    []*readSecret
	problems [][]model.Problem
	// first is the index of the first item with a certificate for a name, which may be a wildcard.
	first map[string]int
	// hostless are the first items with a certificate that name no host, at most mostUnfit. meant are
	// the first ones that name a host: "*.shop.example" finds those with this wildcard, and
	// ".shop.example" those with any name directly below shop.example, at most mostUnfit of each.
	hostless []int
	meant    map[string][]int
	// end is the last item with a Secret, and last the last one that a host looked at in this search.
	end, last int
}

// mostUnfit is the most items without hosts, and the most with related ones, that are reported of a
// host, because their certificates are for other names.
const mostUnfit = 3

// assign finds the certificate of a host, unless that of the last call is still valid.
func (s *search) assign(h *host) {
	if h.certificate == nil || s.outdated(h.certificate) {
		s.assignAnew(h)
	}
}

// noteDecided notes the items that decided about a host. If those of its owner were read anew for
// another host, they replace those of an earlier call, which all hosts would otherwise keep: up to
// the item of the host they are equal.
func (s *search) noteDecided(a *assignment) {
	if a.secrets == nil {
		return
	}
	if of := s.of[a.secrets.owner]; of != nil {
		a.secrets = of
	}
	if a.secrets.last < 0 {
		s.decided = append(s.decided, a.secrets)
	}
	a.secrets.last = max(a.secrets.last, a.item)
}

func (s *search) assignAnew(h *host) {
	h.certificate = &assignment{}
	if h.name == "" {
		return // always the default certificate, as in ingress-nginx
	}
	var first *claim.Owner
	for _, rules := range h.deciding {
		switch {
		case len(rules.Owner.TLS.Items) == 0:
		case first == nil:
			first = rules.Owner
			s.choose(h, first)
		default:
			h.passOver(rules.Owner, first)
		}
	}
}

// outdated reports whether the content of a Secret changed that an assignment depends on.
func (s *search) outdated(a *assignment) bool {
	if a.named != nil && s.changed(a.named) {
		return true
	}
	if a.secrets == nil {
		return false
	}
	fresh, known := s.fresh[a.secrets]
	if !known {
		fresh = slices.IndexFunc(a.secrets.found, func(r *readSecret) bool { return r != nil && s.changed(r) })
		if fresh < 0 {
			fresh = len(a.secrets.found)
		}
		s.fresh[a.secrets] = fresh
		a.secrets.last = -1
	}
	return a.item >= fresh
}

func (s *search) changed(r *readSecret) bool {
	return s.Objects.Certificate(r.secret, r.namespace) != r.found
}

// reportDecided reports the Problems of the items that hosts looked at, each once.
func (s *search) reportDecided() {
	for _, of := range s.decided {
		for at := range of.last + 1 {
			s.report(of.problems[at]...)
		}
	}
}

// passOver reports a Secret of a later owner that is not used for the host.
func (h *host) passOver(later, first *claim.Owner) {
	at := later.TLS.ItemOf(h.name)
	if at < 0 {
		return
	}
	secret := later.TLS.Items[at].Secret
	if last := h.certificate.lastRead(); secret.Name == "" || last != nil && last.secret == secret {
		return
	}
	h.certificate.report(later, at, model.Conflict, fmt.Sprintf("%s is older and decides the certificate of %s", first.Ref, h.name))
}

// lastRead is the Secret that was read last, nil for none.
func (a *assignment) lastRead() *readSecret {
	if a.secrets != nil {
		return a.secrets.found[a.item]
	}
	return a.named
}

// choose takes the certificate of the first owner with a TLS section: that of the item
// that names the host, else the first that is valid for it, else the default
// certificate.
func (s *search) choose(h *host, owner *claim.Owner) {
	a := h.certificate
	a.by = owner
	at := owner.TLS.ItemOf(h.name)
	if at < 0 {
		s.chooseByName(h, owner)
		return
	}
	if owner.TLS.Items[at].Secret.Name == "" {
		return
	}
	found, problems := s.read(owner, at)
	a.named, a.problems = found, append(a.problems, problems...)
	switch pair := found.found; {
	case pair.Certificate == nil:
	case !claim.Covers(pair.Names, h.name):
		a.unfit(owner, at, h.name, pair)
	default:
		a.pair, a.item = pair, at
	}
}

// chooseByName takes the first certificate that is valid for the host. If there is
// none, it reports the first items that may be for the host.
func (s *search) chooseByName(h *host, owner *claim.Owner) {
	of, a := s.secretsOf(owner), h.certificate
	if of == nil {
		return
	}
	a.secrets = of
	if at, found := of.firstFor(h.name); found {
		a.pair, a.item = of.found[at].found, at
		return
	}
	a.item = of.end
	for _, at := range of.unfitFor(h.name) {
		a.unfit(owner, at, h.name, of.found[at].found)
	}
}

// unfitFor returns items with a certificate that may be for a host, but are not.
func (of *ownerSecrets) unfitFor(name string) []int {
	name = strings.ToLower(name)
	_, parent, _ := strings.Cut(name, ".")
	related := "*." + parent
	if name == related {
		related = "." + parent
	}
	some := slices.Concat(of.hostless, of.meant[related])
	slices.Sort(some)
	return some
}

// note notes an item with a certificate.
func (of *ownerSecrets) note(at int) {
	add := func(to []int) []int {
		if len(to) == mostUnfit || slices.Contains(to, at) {
			return to
		}
		return append(to, at)
	}
	hosts := of.owner.TLS.Items[at].Hosts
	if len(hosts) == 0 {
		of.hostless = add(of.hostless)
	}
	for _, host := range hosts {
		host = strings.ToLower(host)
		if strings.HasPrefix(host, "*.") {
			of.meant[host] = add(of.meant[host])
		}
		if _, parent, _ := strings.Cut(host, "."); parent != "" {
			of.meant["."+parent] = add(of.meant["."+parent])
		}
	}
	for _, name := range of.found[at].found.Names {
		name = strings.ToLower(name)
		if _, known := of.first[name]; !known {
			of.first[name] = at
		}
	}
}

// firstFor returns the first item whose certificate is valid for a name.
func (of *ownerSecrets) firstFor(name string) (at int, found bool) {
	name = strings.ToLower(name)
	at, found = of.first[name]
	if _, parent, _ := strings.Cut(name, "."); parent != "" {
		if wildcard, ok := of.first["*."+parent]; ok && (!found || wildcard < at) {
			return wildcard, true
		}
	}
	return at, found
}

// secretsOf reads the Secrets of an owner's items, nil if none names a Secret.
func (s *search) secretsOf(owner *claim.Owner) *ownerSecrets {
	if of := s.of[owner]; of != nil || slices.IndexFunc(owner.TLS.Items, func(i claim.TLSItem) bool { return i.Secret.Name != "" }) < 0 {
		return of
	}
	of := &ownerSecrets{owner: owner, found: make([]*readSecret, len(owner.TLS.Items)), problems: make([][]model.Problem, len(owner.TLS.Items)), first: map[string]int{}, meant: map[string][]int{}, last: -1}
	for at, item := range owner.TLS.Items {
		if item.Secret.Name == "" {
			continue
		}
		of.found[at], of.problems[at] = s.read(owner, at)
		of.end = at
		if of.found[at].found.Certificate != nil {
			of.note(at)
		}
	}
	s.of[owner], s.fresh[of] = of, len(of.found)
	return of
}

// read reads the Secret of a TLS item, and returns its Problems.
func (s *search) read(owner *claim.Owner, at int) (*readSecret, []model.Problem) {
	secret := owner.TLS.Items[at].Secret
	found := s.Objects.Certificate(secret, owner.Ref.Namespace)
	problems := slices.Clone(found.Remarks)
	if found.Certificate == nil {
		problems = append(problems, model.Problem{Object: owner.Ref, Field: owner.TLS.Items[at].Field, Reason: found.Reason, Text: found.Fault + ": the default certificate is presented"})
	}
	return &readSecret{secret, owner.Ref.Namespace, found}, problems
}

// unfit reports a certificate for other names.
func (a *assignment) unfit(owner *claim.Owner, at int, host string, pair *Presented) {
	a.report(owner, at, model.InvalidValue, fmt.Sprintf("want a certificate for %s (got one for %s): the default certificate is presented", host, claim.Listed(pair.Names)))
}

func (a *assignment) report(owner *claim.Owner, at int, reason model.Reason, text string) {
	a.problems = append(a.problems, model.Problem{Object: owner.Ref, Field: owner.TLS.Items[at].Field, Reason: reason, Text: text})
}
