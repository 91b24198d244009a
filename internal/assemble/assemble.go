// Package assemble makes servers and locations of claims. The owners of claims go in, as
// their sources read them, with the settings; out come servers, the certificates of
// their names, the backends in use and Problems. It knows no kind of object: what claims
// refer to is looked up by whoever calls it.
//
//	assembly := memo.Assemble(assemble.Input{Settings: s, Owners: owners, Objects: o})
//
// hosts.go gathers the claims by host, ownership.go says whose a host is, aliases.go its
// further names, tls.go which certificate it is presented. server.go makes a server of
// each host, locations.go, patterns.go and dispatch.go its locations, and hold.go has
// them checked by package guard.
package assemble

import (
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Input is what servers are made of.
type Input struct {
	Settings *settings.Settings
	Options  Options
	// Owners are those that are served, the oldest first. Absent are those that
	// are not for the time being and keep their hosts from other namespaces.
	Owners, Absent []*claim.Owner
	// Standard is the certificate of names that have none, nil for none.
	Standard *model.Certificate
	Objects  Objects
}

// Options are what the controller was started with.
type Options struct {
	// DefaultBackend is the Service that answers what no rule matches; its name is
	// empty for none.
	DefaultBackend snapshot.Name
	// HTTPSPort is the port that redirects name if they are to name one.
	HTTPSPort int
	// HealthPath is where the catch-all server answers 200; empty for nowhere.
	HealthPath string
	// Memory is how much of what is pushed nginx can hold.
	Memory model.Memory
}

// Objects tells of the objects that claims refer to.
type Objects interface {
	// Certificate gives the certificate in a Secret to owners of a namespace. It is the
	// same pointer as long as it did not change.
	Certificate(secret snapshot.Name, namespace string) *Presented
	// Delegation gives the namespaces to which one delegates its hosts, as written.
	Delegation(namespace string) string
	// Backend gives a backend of those that the assembly names, once they are known.
	Backend(*Backend) *model.Backend
}

// Assembly is what was made of an input.
type Assembly struct {
	Input
	memo *Memo
	// Servers, Names and Certificates are for nginx, sorted.
	Servers      []*model.Server
	Names        []model.CertificateName
	Certificates []*model.Certificate
	// Backends are those that requests are passed to, sorted by key, each once.
	Backends []*Backend
	// Problems are the lists that were reported. They are not copied: most of them
	// are those of the call before.
	Problems [][]model.Problem
	// Unplaced are the claims without a location, in a list for each host.
	Unplaced [][]model.Unplaced

	hosts []*host
	// aliased are the owners with further names, the oldest first.
	aliased []*claim.Owner
	// absent are the owners that are not served for the time being.
	absent map[*claim.Owner]bool
	// labelled are the wildcard hosts, while there are aliases.
	labelled []string
}

func (t *Assembly) report(problems ...model.Problem) {
	if len(problems) > 0 {
		t.Problems = append(t.Problems, problems)
	}
}

// Assemble makes servers of claims.
func (m *Memo) Assemble(in Input) *Assembly {
	t := m.begin(in)
	t.hosts = t.nameAliases(t.gather())
	assigned := t.certify(t.hosts)
	t.Servers = t.makeServers(t.hosts, assigned)
	t.Backends = t.usedBackends(t.hosts)
	m.end()
	return t
}

// gather gives the hosts of the owners, sorted by name. The catch-all host is always
// there.
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

// collect adds the rules of an owner to their hosts, and notes its aliases.
func (t *Assembly) collect(hosts []*host, ing *claim.Owner) []*host {
	if len(ing.Aliases) > 0 {
		t.aliased = append(t.aliased, ing)
	}
	for _, rules := range ing.Hosts {
		h := t.entry(rules.Host)
		hosts = t.withHost(hosts, h)
		h.next = append(h.next, rules)
	}
	return hosts
}

// withHost adds a host to those of this call, unless it is among them.
func (t *Assembly) withHost(hosts []*host, h *host) []*host {
	if h.pass == t.memo.pass {
		return hosts
	}
	t.beginHost(h)
	return append(hosts, h)
}

// makeServers makes the server of each host. The catch-all one comes first, as
// wildcard hosts do with a miss what it does. If that depends on the path, they
// take no name that is not theirs, and have no miss.
func (t *Assembly) makeServers(hosts []*host, assigned wildcards) []*model.Server {
	servers := make([]*model.Server, 0, len(hosts))
	var miss *model.Location
	below := foreignHosts{}
	for _, h := range hosts {
		coverer := t.coverer(h, assigned)
		in := serverInput{covered: coverer != nil, wildcard: below.add(coverer, h), addresses: t.healthFor(h.name)}
		if h.wildcard() {
			in.miss = miss
		}
		more := t.divideAliases(h, &in, assigned)
		built := t.server(h, in)
		if h.name == "" && built.onlyRoot() {
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
	t.orderPatterns(servers, hosts)
	return servers
}
