// Package translate makes the configuration of nginx. In go a snapshot of the cluster and
// the options of the controller; out come a model.Config and the Problems of the objects.
//
//	memo := translate.NewMemo()
//	config, problems := translate.Config(snap, options, memo)
//
// class.go decides which Ingresses are ours, and parameters.go reads the settings of their
// classes. ingress.go reads each Ingress as an owner with claims, attached.go the objects
// that its annotations name, and owner.go the claims of other objects. Package assemble
// makes servers of all claims. backends.go and certificate.go look up the objects that
// claims refer to. streams.go reads TCP and UDP services. A mistake in one object never
// changes the result for another.
package translate

import (
	"cmp"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/giveway"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Options are those that the controller was started with.
type Options struct {
	// IngressClasses are names of classes. An Ingress is ours if its legacy annotation
	// is one of them, or its spec.ingressClassName and there is no such IngressClass.
	IngressClasses []string
	// ControllerClass is the spec.controller of our IngressClasses. Their
	// spec.parameters may name settings.
	ControllerClass string
	// ClassByName accepts an IngressClass named in IngressClasses whatever its
	// controller.
	ClassByName bool
	// WithoutClass accepts Ingresses that name no class.
	WithoutClass bool
	// ClassesUnreadable is for a controller that may not read IngressClasses: an
	// Ingress is ours if IngressClasses has its spec.ingressClassName.
	ClassesUnreadable bool
	// Replicas is the number of ready replicas of this controller, 0 if it is not known.
	// Only limits that are divided depend on it.
	Replicas int
	// ManifestMode is for objects that no API server has seen: translate applies the
	// default class.
	ManifestMode bool
	// DisableCatchAll leaves out Ingresses that have a spec.defaultBackend.
	DisableCatchAll bool
	// DisableExternalName leaves ExternalName Services without endpoints.
	DisableExternalName bool
	// AnnotationsPrefix is without the slash.
	AnnotationsPrefix string

	// ConfigMap holds the settings, DefaultBackend is the Service for requests that no
	// rule takes, DefaultCertificate is the Secret with the certificate of names
	// without one. Each may be empty.
	ConfigMap, DefaultBackend, DefaultCertificate snapshot.Name
	// RequireConfigMap makes every path return 503 while ConfigMap is missing.
	RequireConfigMap bool
	// FallbackCertificate replaces an unusable DefaultCertificate.
	FallbackCertificate *model.Certificate
	// TCPServices and UDPServices are the ConfigMaps that assign ports to Services.
	// Each may be empty.
	TCPServices, UDPServices snapshot.Name
	// NamedSnippets is the ConfigMap with the snippets that Ingresses use by name. It may be
	// empty.
	NamedSnippets snapshot.Name
	// Reserved are the ports that TCP and UDP services cannot have.
	Reserved []ReservedPort
	// Zone is that of the controller's node, for Services whose endpoints are chosen by
	// zones; empty to use the endpoints of all zones.
	Zone string
	// Passthrough lets Ingresses ask for TLS passthrough.
	Passthrough bool
	// HTTPSPort is the port in redirects to HTTPS, if they have one.
	HTTPSPort int
	// Memory is the room that nginx was started with; the zero value means that of the
	// settings.
	Memory model.Memory
	// HealthPath is the path at which the catch-all server returns 200 to load
	// balancers; empty for none.
	HealthPath string
	// Denied are Ingresses whose paths return 503, whatever their annotations say.
	Denied map[model.ObjectRef]claim.Denial
}

// Config returns the model of the whole configuration, and its Problems, sorted. The
// memo may be nil; it makes the next call faster and never changes a result. Servers,
// backends and certificates keep their pointers while they do not change between calls
// with the same memo.
func Config(s *snapshot.Snapshot, o Options, m *Memo) (model.Config, []model.Problem) {
	return ConfigWith(s, o, nil, m)
}

// ConfigWith is Config with claims of further objects.
func ConfigWith(s *snapshot.Snapshot, o Options, objects []*claim.Object, m *Memo) (model.Config, []model.Problem) {
	if m == nil {
		m = NewMemo()
	}
	if config, problems, ok := m.onlyEndpoints(s, o, objects); ok {
		return config, problems
	}
	t := m.begin(s, o)
	a := m.assembler.Assemble(t.input(objects))
	config := model.Config{Static: model.Static{Blocks: m.blocks, PassesThrough: o.Passthrough, Servers: a.Servers, DHParams: t.dhParams(), DebugToken: t.debugToken()}, Unplaced: a.Unplaced}
	t.dynamic = model.Dynamic{Names: a.Names, Certificates: a.Certificates, Backends: t.backends(a), Users: userFiles(t.users), Stapling: t.settings.TLS.OCSP, TicketKey: t.ticketKey(), IPv4Names: t.settings.Balancing.DisableIPv6DNS}
	config.Dynamic = t.dynamic
	config.Static.Passthroughs = a.Passthroughs()
	config.Static.Streams = slices.Concat(t.streams(o.TCPServices, model.TCP), t.streams(o.UDPServices, model.UDP))
	t.remarkLibrary()
	config.Static.Streams = t.withSnippets(config.Static.Streams, a.Owners)
	m.end()
	problems := m.problems.Join(nil, append(t.problems, a.Problems...)...)
	m.keep(t, objects, config, problems)
	return config, problems
}

// translation is one call of Config.
type translation struct {
	snap    *snapshot.Snapshot
	options Options
	// settings are those of the controller, classes those of classes with their own, by
	// name. closed are the classes whose own settings are missing.
	settings *settings.Settings
	classes  map[string]*settings.Settings
	rings    rings // of the used backends
	closed   map[string]bool
	// unsettled is set if a required ConfigMap is missing.
	unsettled bool
	memo      *Memo
	// memory is the room in nginx for pushed objects.
	memory model.Memory
	// problems are the reported lists. They are not copied, because most are those of
	// the call before.
	problems [][]model.Problem
	// changed reports whether a Service may have changed since the last call.
	changed func(snapshot.Name) bool
	// zones counts the zones of limits by namespace.
	zones map[string]int
	// bounds counts what the served Ingresses of a namespace have.
	bounds map[string]*bounds
	// exempt counts networks without limits, by namespace, and by namespace and list.
	exempt map[string]int
	// shares has the lists of access-log-sampling by namespace, and all of them by "".
	shares map[string]map[string]bool
	// textLog is set if an Ingress has an access log of the format text.
	textLog bool
	// caches are the namespaces with kept answers of authentication servers.
	caches map[string]bool
	// used are the backends in use, sorted by key; reads are the Services that affect
	// more than pushed backends.
	used  []*backend
	reads reads
	// dynamic is the dynamic part of the result, once it is known.
	dynamic model.Dynamic
	// users are the files of users that blocks name, presented the certificates for
	// backends.
	users     []*model.UserFile
	presented []*model.Certificate
}

func (t *translation) report(problems ...model.Problem) {
	if len(problems) > 0 {
		t.problems = append(t.problems, problems)
	}
}

// input is the input of the assembler.
func (t *translation) input(objects []*claim.Object) assemble.Input {
	owners := t.served(objects)
	return assemble.Input{
		Settings: t.settings, Objects: t, Owners: owners, Absent: t.removed(), Standard: t.defaultCertificate(), Presented: t.presented,
		Options: assemble.Options{DefaultBackend: t.options.DefaultBackend, HTTPSPort: t.options.HTTPSPort, HealthPath: t.options.HealthPath, Memory: t.memory},
	}
}

// served returns the owners of our Ingresses and of further objects, the oldest first.
func (t *translation) served(objects []*claim.Object) []*claim.Owner {
	all := make([]*claim.Owner, 0, len(t.memo.accepted)+len(objects))
	add := func(o *owner) {
		t.report(o.Problems...)
		t.users = append(t.users, o.users()...)
		t.presented = append(t.presented, o.presented()...)
		all = append(all, o.Owner)
	}
	accepted := make([]*networkingv1.Ingress, 0, len(t.memo.accepted))
	for i, object := range t.snap.Ingresses() {
		giveway.Sometimes(i)
		ours, remarks := t.accepts(object)
		t.report(remarks...)
		switch {
		case ours:
			accepted = append(accepted, object)
			ing := t.withinZones(t.withinShares(t.withinExempt(t.withinCaches(t.withinBounds(object)))))
			t.noteLogFormat(ing)
			add(ing)
		case len(remarks) > 0 && t.shutOut(object):
			all = append(all, t.ingress(object).Owner)
		}
	}
	t.memo.accepted = accepted
	t.remarkLogFormat()
	if len(objects) > 0 {
		for _, o := range objects {
			add(t.ownerOf(o))
		}
		slices.SortFunc(all, func(a, b *claim.Owner) int { return cmp.Or(a.Age.Compare(b.Age), a.Ref.Compare(b.Ref)) })
	}
	return all
}

// shutOut reports whether an Ingress that --disable-catch-all leaves out has to be
// closed, because it protects paths that a neighbour might serve.
func (t *translation) shutOut(object *networkingv1.Ingress) bool {
	if len(object.Spec.Rules) == 0 {
		return false
	}
	ing := t.ingress(object)
	if !ing.Annotations.GuardsAny() && t.deniedAnyway(object) == 0 {
		return false
	}
	t.report(model.Problem{Object: ing.Ref, Reason: model.Unsupported, Denies: true,
		Text: "it is left out by --disable-catch-all and protects its paths, which a neighbour could serve"})
	return true
}

// removed are the Ingresses that are temporarily not served, if they keep their hosts.
func (t *translation) removed() []*claim.Owner {
	if !t.settings.Hosts.ByNamespace() {
		return nil
	}
	var all []*claim.Owner
	for _, object := range t.snap.Removed() {
		if ours, _ := t.accepts(object); ours {
			all = append(all, t.ingress(object).Owner)
		}
	}
	return all
}

// Delegation returns the delegation of hosts of a namespace.
func (t *translation) Delegation(namespace string) string {
	if object := t.snap.Namespace(namespace); object != nil {
		return HostDelegationOf(object)
	}
	return ""
}

// Backend returns a backend whose endpoints are in nginx.conf.
func (t *translation) Backend(w *assemble.Backend) *model.Backend {
	t.service(w.ID.Service) // if it changes, Config computes everything again
	return t.dynamic.Backend(w.Key)
}
