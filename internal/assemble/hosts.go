package assemble

import (
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// host is one host name with what was made of it.
type host struct {
	name  string
	pass  uint64
	place place
	// next gathers the rules of the present call; rules are those that the
	// rest was made of.
	next, rules []*claim.Rules
	// canaries are the rules of canaries that get some requests of the rules, those
	// gathered in nextCanaries.
	canaries, nextCanaries []*claim.Rules
	// left are the rules of other namespaces that are left out, and notServed says
	// so. Oldest is the oldest owner, nil for none; held is one that is older than
	// all with rules that are served, in the present call.
	left         []*claim.Rules
	notServed    []model.Problem
	oldest, held *claim.Owner
	// lent are the owners that are not served for the time being and delegate the
	// host.
	lent []*claim.Owner
	// deciding are the rules whose Ingresses decide what holds for the whole host,
	// guests the others.
	deciding, guests []*claim.Rules
	certificate      *assignment
	// aliases are its further names, in the present call.
	aliases []string
	// built is its server; made are all servers that were made of the rules.
	built *builtServer
	made  []madeServer
}

// madeServer is a server with what it was made of besides the rules.
type madeServer struct {
	input serverInput
	built *builtServer
}

// serverInput is what a server is made of besides the rules of its host.
type serverInput struct {
	// covered: names of this host are presented a certificate that was
	// assigned to them, so that ssl-redirect applies.
	covered bool
	// wildcard is the Ingress of another namespace that assigned it, to the wildcard
	// above; nil for none.
	wildcard *claim.Owner
	// miss is what the catch-all server does with every request, for wildcard
	// hosts; nil if it has several answers.
	miss *model.Location
	// aliases are further names, separated by spaces; aliasesOnly leaves the name
	// of the host to another server. Addresses is set if names of this one can be IP
	// addresses.
	aliases     string
	aliasesOnly bool
	addresses   bool
}

// builtServer is a server with what came up when it was made.
type builtServer struct {
	server   *model.Server
	problems []model.Problem
	unplaced []model.Unplaced
	// uses are the backends that its locations pass to.
	uses []Use
	// root is what answers "/" and all that nothing else matches, with the
	// redirect that holds there.
	root *model.Location
}

// entry gives the host of a name, ready to gather the rules of this call.
func (t *Assembly) entry(name string) *host {
	h := t.memo.hosts[name]
	if h == nil {
		h = &host{name: name}
		t.memo.hosts[name] = h
	}
	return h
}

// beginHost makes a host ready to gather the rules of this call.
func (t *Assembly) beginHost(h *host) {
	h.pass = t.memo.pass
	h.next, h.nextCanaries, h.aliases, h.held, h.lent = h.next[:0], nil, nil, nil, nil
	t.memo.used.hosts++
}

// settle takes over what was gathered. If it differs from the rules of the
// last call, nothing that was made of them is kept.
func (t *Assembly) settle(h *host) {
	rules, left := t.divide(h)
	oldest := h.oldestOf(h.next)
	if h.rules == nil || h.oldest != oldest || !slices.Equal(rules, h.rules) || !slices.Equal(left, h.left) || !slices.Equal(h.nextCanaries, h.canaries) {
		h.canaries = h.nextCanaries
		h.rules, h.left, h.oldest = append(make([]*claim.Rules, 0, len(rules)), rules...), left, oldest
		t.own(h)
		h.certificate, h.built, h.made = nil, nil, nil
	}
	t.report(h.notServed...)
}

// mostServers is how many servers a host can have: with its own name, and with
// aliases that are covered and that are not, and that can be addresses and cannot.
const mostServers = 5

// server gives a server of a host, the same as long as nothing that it was made
// of has changed.
func (t *Assembly) server(h *host, in serverInput) *builtServer {
	if at := slices.IndexFunc(h.made, func(m madeServer) bool { return m.input == in }); at >= 0 {
		return h.made[at].built
	}
	if len(h.made) == mostServers {
		h.made = slices.Delete(h.made, 0, 1)
	}
	h.made = append(h.made, madeServer{in, t.build(h, in)})
	return h.made[len(h.made)-1].built
}

func (h *host) compare(o *host) int { return strings.Compare(h.name, o.name) }

func (h *host) wildcard() bool { return strings.HasPrefix(h.name, "*") }

// onlyRoot says whether one location answers all requests of the server, but those
// for its health.
func (b *builtServer) onlyRoot() bool {
	return !slices.ContainsFunc(b.server.Locations, func(l *model.Location) bool {
		return len(l.Dispatch) > 0 || !l.IsRoot() && l.Rule.Kind != model.RuleHealth
	})
}
