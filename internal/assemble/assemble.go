// Package assemble makes servers and locations of claims. In go the owners of claims, as
// their sources read them, and the settings. Out come servers, the certificates of their
// names, the backends in use, and Problems. It knows no kind of object: its caller looks
// up the objects that claims refer to.
//
//	assembly := memo.Assemble(assemble.Input{Settings: s, Owners: owners, Objects: o})
//
// hosts.go gathers the claims by host. ownership.go decides who owns a host, aliases.go its
// further names, and tls.go its certificate. server.go makes a server of each host, and
// locations.go, patterns.go and dispatch.go its locations. hold.go lets package guard check
// them.
package assemble

import (
	"slices"

	"sluice/internal/claim"
	"sluice/internal/giveway"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Input is everything that servers are made of.
type Input struct {
	Settings *settings.Settings
	Options  Options
	// Owners are those to serve, the oldest first. Absent are those that are
	// temporarily not served; they keep their hosts from other namespaces.
	Owners, Absent []*claim.Owner
	// Standard is the certificate of names without one, nil for none.
	Standard *model.Certificate
	// Presented are the certificates for backends, in any order and with repetitions.
	Presented []*model.Certificate
	Objects   Objects
}

// Options are those that the controller was started with.
type Options struct {
	// DefaultBackend is the Service for requests that no rule takes; its name is empty
	// for none.
	DefaultBackend snapshot.Name
	// HTTPSPort is the port in redirects to HTTPS, if they have one.
	HTTPSPort int
	// HealthPath is the path at which the catch-all server returns 200; empty for none.
	HealthPath string
	// Memory is the room in nginx for pushed objects.
	Memory model.Memory
}

// Objects looks up the objects that claims refer to.
type Objects interface {
	// Certificate returns the certificate in a Secret for owners of a namespace. The
	// pointer changes with the content.
	Certificate(secret snapshot.Name, namespace string) *Presented
	// Delegation returns the namespaces to which one delegates its hosts, as written.
	Delegation(namespace string) string
	// Backend returns the endpoints of a backend, once all Backends are known.
	Backend(*Backend) *model.Backend
}

// Assembly is the result for an input.
type Assembly struct {
	Input
	memo *Memo
	// Servers, Names and Certificates are for nginx, sorted.
	Servers      []*model.Server
	Names        []model.CertificateName
	Certificates []*model.Certificate
	// Backends are those that locations pass requests to, sorted by key, each once.
	Backends []*Backend
	// Problems are the reported lists. They are not copied, because most are those of
	// the call before.
	Problems [][]model.Problem
	// Unplaced are the claims without a location, in a list for each host.
	Unplaced [][]model.Unplaced

	hosts []*host
	// aliased are the owners with aliases, the oldest first.
	aliased []*claim.Owner
	// absent are the owners of Absent.
	absent map[*claim.Owner]bool
	// labelled are the wildcard hosts, if any owner has aliases.
	labelled []string
}

func (t *Assembly) report(problems ...model.Problem) {
	if len(problems) > 0 {
		t.Problems = append(t.Problems, problems)
	}
}

// Assemble makes servers of the claims of an input.
func (m *Memo) Assemble(in Input) *Assembly {
	t := m.begin(in)
	t.hosts = t.nameAliases(t.gather())
	t.nameOthers(t.hosts)
	assigned := t.certify(t.hosts)
	t.Servers = t.makeServers(t.hosts, assigned)
	t.Backends = t.usedBackends(t.hosts)
	m.end()
	return t
}

// gather returns the hosts of the owners, sorted by name. The catch-all host is always
// among them.
func (t *Assembly) gather() []*host {
	hosts := append(make([]*host, 0, len(t.memo.hosts)+1), t.entry(""))
	t.beginHost(hosts[0])
	var canaries []*claim.Owner
	for _, owner := range t.Owners {
		if owner.Canary {
			canaries = append(canaries, owner)
			continue
		}
		hosts = t.collect(hosts, owner)
	}
	hosts = t.hold(hosts)
	t.collectCanaries(canaries)
	for _, h := range hosts {
		t.settle(h)
	}
	hosts = slices.DeleteFunc(hosts, func(h *host) bool { return h.name != "" && len(h.rules) == 0 && !t.vacant(h) })
	return t.memo.sortedHosts.next(t.memo.pass, hosts)
}

// collect adds the rules of an owner to their hosts, and records an owner with aliases.
func (t *Assembly) collect(hosts []*host, owner *claim.Owner) []*host {
	if len(owner.Aliases) > 0 {
		t.aliased = append(t.aliased, owner)
	}
	for _, rules := range owner.Hosts {
		h := t.entry(rules.Host)
		hosts = t.withHost(hosts, h)
		h.next = append(h.next, rules)
	}
	return hosts
}

// withHost adds a host to the list of this call, unless it is on it.
func (t *Assembly) withHost(hosts []*host, h *host) []*host {
	if h.pass == t.memo.pass {
		return hosts
	}
	t.beginHost(h)
	return append(hosts, h)
}

// makeServers makes the server of each host. The catch-all one comes first, because the
// miss of a wildcard host is its root. Without one, wildcard hosts take no other
// names: see hasMiss.
func (t *Assembly) makeServers(hosts []*host, assigned wildcards) []*model.Server {
	servers := make([]*model.Server, 0, len(hosts))
	var miss *model.Location
	below := foreignHosts{}
	for i, h := range hosts {
		giveway.Sometimes(i)
		coverer := t.coverer(h, assigned)
		in := serverInput{covered: coverer != nil, wildcard: below.add(coverer, h), addresses: t.healthFor(h.name)}
		if h.wildcard() {
			in.miss = miss
		}
		more := t.divideAliases(h, &in, assigned)
		built := t.server(h, in)
		if h.name == "" && built.hasMiss() {
			miss = built.root
		}
		t.report(built.problems...)
		if len(built.unplaced) > 0 {
			t.Unplaced = append(t.Unplaced, built.unplaced)
		}
		servers = append(servers, built.server)
		h.built = built
		for _, in := range more {
			servers = append(servers, t.server(h, in).server)
		}
	}
	t.report(below.problems()...)
	t.idleDefaults(hosts)
	servers = t.addOthers(servers, hosts)
	t.orderPatterns(servers, hosts)
	return servers
}
