package assemble

import (
	"iter"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// host is one host name with everything made of it.
type host struct {
	name  string
	pass  uint64
	place place
	// next gathers the rules of this call; rules are those that the other fields were
	// made of.
	next, rules []*claim.Rules
	// canaries are the rules of canaries; nextCanaries gathers those of this call.
	canaries, nextCanaries []*claim.Rules
	// left are the rules of other namespaces that are left out, and notServed reports
	// them. oldest is the oldest owner, nil for none; held is an owner, found in this
	// call, that is older than all with served rules.
	left []*claim.Rules
	// heirs are rules that are left out because of a server snippet.
	heirs        []*claim.Rules
	notServed    []model.Problem
	oldest, held *claim.Owner
	// delegating are the owners of Absent, or with the host as an alias, that delegate the
	// host.
	delegating []*claim.Owner
	// deciding are the rules whose owners decide the settings of the whole host; guests
	// are the others.
	deciding, guests []*claim.Rules
	certificate      *assignment
	// aliases are those of this call.
	aliases []string
	// other is the name that is redirected to the host, empty for none; toOther is its
	// server.
	other   string
	toOther *model.Server
	// built is its server; made are all servers made of the rules.
	built *builtServer
	made  []madeServer
}

// madeServer is a server with its input besides the rules.
type madeServer struct {
	input serverInput
	built *builtServer
}

// serverInput is the input of a server besides the rules of its host. It is compared
// with ==.
type serverInput struct {
	// covered is set if names of the host have an assigned certificate, so that
	// ssl-redirect applies.
	covered bool
	// wildcard is the owner of another namespace that assigned it to the wildcard host
	// above; nil for none.
	wildcard *claim.Owner
	// miss is the single location of the catch-all server, for wildcard hosts; nil if
	// it has several or needs internal ones.
	miss *model.Location
	// aliases are separated by spaces; aliasesOnly is set if the host itself has
	// another server. addresses is set if names of this server can be IP addresses.
	aliases     string
	aliasesOnly bool
	addresses   bool
}

// builtServer is a server with the findings of its making.
type builtServer struct {
	server   *model.Server
	problems []model.Problem
	unplaced []model.Unplaced
	// uses are the backends of its locations.
	uses []Use
	// root takes "/" and all requests that nothing else matches. It has the redirect
	// that applies there.
	root *model.Location
}

// entry returns the host with a name, a new one at first.
func (t *Assembly) entry(name string) *host {
	h := t.memo.hosts[name]
	if h == nil {
		h = &host{name: name}
		t.memo.hosts[name] = h
	}
	return h
}

// beginHost prepares a host to gather the rules of this call.
func (t *Assembly) beginHost(h *host) {
	h.pass = t.memo.pass
	h.next, h.nextCanaries, h.aliases, h.held, h.delegating, h.other = h.next[:0], nil, nil, nil, nil, ""
	t.memo.usedHosts++
}

// settle takes over the gathered rules. If they differ from those of the last call, it
// drops everything made of them.
func (t *Assembly) settle(h *host) {
	rules, left := t.divide(h)
	rules, heirs := h.withoutHeirs(rules)
	oldest := h.oldestOf(h.next)
	if h.rules == nil || h.oldest != oldest || !slices.Equal(rules, h.rules) || !slices.Equal(left, h.left) || !slices.Equal(heirs, h.heirs) || !slices.Equal(h.nextCanaries, h.canaries) {
		h.canaries = h.nextCanaries
		h.rules, h.left, h.oldest = append(make([]*claim.Rules, 0, len(rules)), rules...), left, oldest
		h.heirs = heirs
		t.own(h)
		h.certificate, h.built, h.made = nil, nil, nil
	}
	t.report(h.notServed...)
}

// mostServers is the maximum number of servers of a host: that of its own name, and
// those of aliases by whether a certificate covers them and whether they can be
// addresses.
const mostServers = 5

// server returns a server of a host, the same pointer while its input does not change.
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

// claimsOf yields the claims of rules in their order.
func claimsOf(all []*claim.Rules) iter.Seq[*claim.Claim] {
	return func(yield func(*claim.Claim) bool) {
		for _, rules := range all {
			for i := range rules.Claims {
				if !yield(&rules.Claims[i]) {
					return
				}
			}
		}
	}
}

func (h *host) compare(o *host) int { return strings.Compare(h.name, o.name) }

func (h *host) wildcard() bool { return strings.HasPrefix(h.name, "*") }

// hasMiss reports whether the root of the catch-all server can be the miss of wildcard hosts: it takes
// all requests but those for the health path and nginx's counters, and needs no internal location. A
// copy in another server would lack that location. nginx would also send the question of its auth-url
// to the copy, which checks nobody in a subrequest, and so would answer it.
func (b *builtServer) hasMiss() bool {
	return len(b.server.Internal) == 0 && !slices.ContainsFunc(b.server.Locations, func(l *model.Location) bool {
		return len(l.Dispatch) > 0 || !l.IsRoot() && l.Rule.Kind != model.RuleHealth && l.Rule.Kind != model.RuleStatus
	})
}
