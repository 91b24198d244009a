// Package translate decides what nginx must do. A snapshot of the cluster and
// the controller's options go in; out come a model.Config and the Problems of
// the objects.
//
//	memo := translate.NewMemo()
//	config, problems := translate.Config(snap, options, memo)
//
// The way through it: class.go says which Ingresses are ours, parameters.go which
// settings their classes have, ingress.go reads each of them and makes its claims,
// owner.go those of other owners, hosts.go gathers the claims by host, ownership.go says whose a host is, server.go makes a server of each host, locations.go,
// patterns.go and dispatch.go its locations. backends.go and tls.go make what is pushed at run time,
// streams.go and passthrough.go what is passed on without a look at it. Nothing that
// is wrong with one object changes what another one gets.
package translate

import (
	"cmp"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Options are what the controller was started with.
type Options struct {
	// IngressClasses are names of classes: an Ingress is ours if its legacy
	// annotation is one of them.
	IngressClasses []string
	// ControllerClass is the spec.controller of the IngressClass objects that
	// are ours. Their spec.parameters may name the settings of their Ingresses.
	ControllerClass string
	// ClassByName takes an IngressClass named in IngressClasses whatever its
	// controller.
	ClassByName bool
	// WithoutClass takes Ingresses that name no class.
	WithoutClass bool
	// ClassesUnreadable is for a controller that may not read IngressClasses: an
	// Ingress is ours by spec.ingressClassName, too, if IngressClasses has it.
	ClassesUnreadable bool
	// ManifestMode is for objects that no API server has seen: an IngressClass
	// need not exist if its name is in IngressClasses, and the default class is
	// found here.
	ManifestMode bool
	// DisableCatchAll leaves out Ingresses that have a spec.defaultBackend.
	DisableCatchAll bool
	// DisableExternalName leaves ExternalName Services without endpoints.
	DisableExternalName bool
	// AnnotationsPrefix is without the slash.
	AnnotationsPrefix string

	// ConfigMap holds the settings, DefaultBackend is the Service that answers
	// what no rule matches, DefaultCertificate is the Secret with the
	// certificate of every name that has no other. Each may be empty.
	ConfigMap, DefaultBackend, DefaultCertificate snapshot.Name
	// RequireConfigMap has every path answer 503 while ConfigMap is not there.
	RequireConfigMap bool
	// FallbackCertificate stands in for DefaultCertificate where that is not
	// usable; the shell makes it.
	FallbackCertificate *model.Certificate
	// TCPServices and UDPServices are the ConfigMaps that say which ports are
	// passed on to which Services. Each may be empty.
	TCPServices, UDPServices snapshot.Name
	// Reserved are the ports that cannot be those of TCP and UDP services.
	Reserved []ReservedPort
	// Passthrough lets Ingresses have the TLS of their hosts passed on.
	Passthrough bool
	// HTTPSPort is the port that redirects name if they are to name one.
	HTTPSPort int
	// Memory is what nginx was started with; none means what the settings say.
	Memory model.Memory
	// HealthPath is where the catch-all server answers 200, as load balancers ask
	// for it; empty for nowhere.
	HealthPath string
	// Denied are Ingresses whose paths answer 503 whatever they say.
	Denied map[model.ObjectRef]Denial
}

// Denial is how much of an Ingress answers 503 that is denied whatever it says;
// the zero value is nothing.
type Denial int

const (
	// DenyPaths closes its paths as they are written, where nginx is sure to take
	// them so.
	DenyPaths Denial = iota + 1
	// DenyBeginnings closes all that begins as its paths do, in plain characters,
	// and takes none of the patterns among its aliases.
	DenyBeginnings
)

// Config says what nginx must do. The Problems are sorted. The memo may be nil;
// it makes the next call faster and never changes a result. What has not
// changed since the last call with the same memo is the same pointer: servers,
// backends and certificates.
func Config(s *snapshot.Snapshot, o Options, m *Memo) (model.Config, []model.Problem) {
	return Assemble(s, o, nil, m)
}

// Assemble is Config for the claims of further owners, besides those of the Ingresses.
func Assemble(s *snapshot.Snapshot, o Options, owners []*Owner, m *Memo) (model.Config, []model.Problem) {
	if m == nil {
		m = NewMemo()
	}
	if config, problems, ok := m.onlyEndpoints(s, o, owners); ok {
		return config, problems
	}
	t := m.begin(s, o)
	t.owners = owners
	hosts := t.gather()
	hosts = t.nameAliases(hosts)
	config := model.Config{Static: model.Static{Blocks: t.settings.Blocks(), PassesThrough: o.Passthrough}}
	assigned := t.certify(hosts, &config.Dynamic)
	config.Static.Servers = t.servers(hosts, assigned)
	config.Dynamic.Backends, config.Dynamic.Users = t.backends(hosts), userFiles(t.users)
	config.Static.Passthroughs = t.passthroughs(hosts, config)
	config.Static.Streams = slices.Concat(t.streams(o.TCPServices, model.TCP), t.streams(o.UDPServices, model.UDP))
	m.end()
	problems := m.problems.Join(nil, t.problems...)
	m.keep(t, config, problems)
	return config, problems
}

// translation is one call of Config.
type translation struct {
	snap    *snapshot.Snapshot
	options Options
	// settings are those of the controller, classes those of classes that have
	// their own, by name. Closed are the classes whose own are missing.
	settings *settings.Settings
	classes  map[string]*settings.Settings
	closed   map[string]bool
	// unsettled is set if the ConfigMap is missing that is required.
	unsettled bool
	memo      *Memo
	// memory is how much of what is pushed nginx can hold.
	memory model.Memory
	// problems are the lists that were reported. They are not copied: most of them
	// are those of the call before.
	problems [][]model.Problem
	// aliased are the Ingresses with a server-alias, the oldest first.
	aliased []*owner
	// passing are the Ingresses whose hosts are to be passed through.
	passing []*owner
	// owners make claims besides the Ingresses.
	owners []*Owner
	// absent are the owners that are not served for the time being.
	absent map[*owner]bool
	// labelled are the wildcard hosts, while there are aliases.
	labelled []string
	// changed tells the Services that may be others than in the last call.
	changed func(snapshot.Name) bool
	// zones counts those of limits, by namespace.
	zones map[string]int
	// used are the backends in use, sorted by key; reads are the Services that decide
	// about more than what nginx is told of these at run time.
	used  []*backend
	reads reads
	// users are the files of users that blocks name.
	users []*model.UserFile
}

func (t *translation) report(problems ...model.Problem) {
	if len(problems) > 0 {
		t.problems = append(t.problems, problems)
	}
}

// gather reads the Ingresses that are ours and gives their hosts, sorted by
// name. The catch-all host is always there.
func (t *translation) gather() []*host {
	hosts := append(make([]*host, 0, len(t.memo.hosts)+1), t.entry(""))
	t.begin(hosts[0])
	more := t.sortedOwners()
	accepted := make([]*networkingv1.Ingress, 0, len(t.memo.accepted))
	var canaries []*owner
	for _, object := range t.snap.Ingresses() {
		ours, remarks := t.accepts(object)
		t.report(remarks...)
		if !ours {
			if len(remarks) > 0 {
				hosts = t.shutOut(hosts, object)
			}
			continue
		}
		accepted = append(accepted, object)
		ing := t.withinZones(t.ingress(object))
		for len(more) > 0 && more[0].age.compare(ing.age) < 0 {
			hosts, more = t.collect(hosts, more[0]), more[1:]
		}
		t.report(ing.problems...)
		t.users = append(t.users, ing.users()...)
		if ing.passes {
			t.passing = append(t.passing, ing)
		}
		if ing.annotations.Canary.Enabled {
			canaries = append(canaries, ing)
			continue
		}
		hosts = t.collect(hosts, ing)
	}
	t.memo.accepted = accepted
	for _, owner := range more {
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

// sortedOwners are the owners besides the Ingresses, the oldest first.
func (t *translation) sortedOwners() []*owner {
	var all []*owner
	for _, o := range t.owners {
		owner := t.ownerOf(o)
		t.report(owner.problems...)
		t.users = append(t.users, owner.users()...)
		all = append(all, owner)
	}
	slices.SortFunc(all, func(a, b *owner) int { return cmp.Or(a.age.compare(b.age), a.ref.Compare(b.ref)) })
	return all
}

// collect adds the rules of an Ingress to their hosts, and notes its aliases.
func (t *translation) collect(hosts []*host, ing *owner) []*host {
	if len(ing.aliases) > 0 {
		t.aliased = append(t.aliased, ing)
	}
	for _, rules := range ing.hosts {
		if rules.entry == nil {
			rules.entry = t.entry(rules.host)
		}
		hosts = t.withHost(hosts, rules.entry)
		rules.entry.next = append(rules.entry.next, rules)
	}
	return hosts
}

// withHost adds a host to those of this call, unless it is among them.
func (t *translation) withHost(hosts []*host, h *host) []*host {
	if h.pass == t.memo.pass {
		return hosts
	}
	t.begin(h)
	return append(hosts, h)
}

// servers makes the server of each host. The catch-all one comes first, as
// wildcard hosts do with a miss what it does. If that depends on the path, they
// take no name that is not theirs, and have no miss.
func (t *translation) servers(hosts []*host, assigned wildcards) []*model.Server {
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
