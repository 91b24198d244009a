// Package translate decides what nginx must do. A snapshot of the cluster and
// the controller's options go in; out come a model.Config and the Problems of
// the objects.
//
//	memo := translate.NewMemo()
//	config, problems := translate.Config(snap, options, memo)
//
// The way through it: class.go says which Ingresses are ours, parameters.go which
// settings their classes have. ingress.go reads each of them as an owner with claims,
// attached.go what its annotations name, owner.go the claims of other objects. Package
// assemble makes servers of all claims. backends.go and certificate.go look up what
// claims refer to, streams.go makes what is passed on without a look at it. Nothing that
// is wrong with one object changes what another one gets.
package translate

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
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
	Denied map[model.ObjectRef]claim.Denial
}

// Config says what nginx must do. The Problems are sorted. The memo may be nil;
// it makes the next call faster and never changes a result. What has not
// changed since the last call with the same memo is the same pointer: servers,
// backends and certificates.
func Config(s *snapshot.Snapshot, o Options, m *Memo) (model.Config, []model.Problem) {
	return ConfigWith(s, o, nil, m)
}

// ConfigWith is Config for the claims of further objects, besides the Ingresses.
func ConfigWith(s *snapshot.Snapshot, o Options, objects []*claim.Object, m *Memo) (model.Config, []model.Problem) {
	if m == nil {
		m = NewMemo()
	}
	if config, problems, ok := m.onlyEndpoints(s, o, objects); ok {
		return config, problems
	}
	t := m.begin(s, o)
	a := m.assembler.Assemble(t.input(objects))
	config := model.Config{Static: model.Static{Blocks: t.settings.Blocks(), PassesThrough: o.Passthrough, Servers: a.Servers}}
	config.Dynamic = model.Dynamic{Names: a.Names, Certificates: a.Certificates, Backends: t.backends(a), Users: userFiles(t.users)}
	t.pushed = config.Dynamic.Backends
	config.Static.Passthroughs = a.Passthroughs()
	config.Static.Streams = slices.Concat(t.streams(o.TCPServices, model.TCP), t.streams(o.UDPServices, model.UDP))
	m.end()
	problems := m.problems.Join(nil, append(t.problems, a.Problems...)...)
	m.keep(t, objects, config, problems)
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
	rings    rings // of the used backends
	closed   map[string]bool
	// unsettled is set if the ConfigMap is missing that is required.
	unsettled bool
	memo      *Memo
	// memory is how much of what is pushed nginx can hold.
	memory model.Memory
	// problems are the lists that were reported. They are not copied: most of them
	// are those of the call before.
	problems [][]model.Problem
	// changed tells the Services that may be others than in the last call.
	changed func(snapshot.Name) bool
	// zones counts those of limits, by namespace.
	zones map[string]int
	// exempt counts networks without limits, by namespace, and by namespace and list.
	exempt map[string]int
	// used are the backends in use, sorted by key; reads are the Services that decide
	// about more than what nginx is told of these at run time.
	used  []*backend
	reads reads
	// pushed are the backends of the result.
	pushed []*model.Backend
	// users are the files of users that blocks name.
	users []*model.UserFile
}

func (t *translation) report(problems ...model.Problem) {
	if len(problems) > 0 {
		t.problems = append(t.problems, problems)
	}
}

// input is what the assembler makes servers of.
func (t *translation) input(objects []*claim.Object) assemble.Input {
	return assemble.Input{
		Settings: t.settings, Objects: t, Owners: t.served(objects), Absent: t.removed(), Standard: t.defaultCertificate(),
		Options: assemble.Options{DefaultBackend: t.options.DefaultBackend, HTTPSPort: t.options.HTTPSPort, HealthPath: t.options.HealthPath, Memory: t.memory},
	}
}

// served are the Ingresses that are ours and further objects, the oldest first.
func (t *translation) served(objects []*claim.Object) []*claim.Owner {
	all := make([]*claim.Owner, 0, len(t.memo.accepted)+len(objects))
	add := func(o *owner) {
		t.report(o.Problems...)
		t.users = append(t.users, o.users()...)
		all = append(all, o.Owner)
	}
	accepted := make([]*networkingv1.Ingress, 0, len(t.memo.accepted))
	for _, object := range t.snap.Ingresses() {
		ours, remarks := t.accepts(object)
		t.report(remarks...)
		switch {
		case ours:
			accepted = append(accepted, object)
			add(t.withinZones(t.withinExempt(t.ingress(object))))
		case len(remarks) > 0 && t.shutOut(object):
			all = append(all, t.ingress(object).Owner)
		}
	}
	t.memo.accepted = accepted
	if len(objects) > 0 {
		for _, o := range objects {
			add(t.ownerOf(o))
		}
		slices.SortFunc(all, func(a, b *claim.Owner) int { return cmp.Or(a.Age.Compare(b.Age), a.Ref.Compare(b.Ref)) })
	}
	return all
}

// shutOut reports whether the paths of an Ingress have to be closed that
// --disable-catch-all leaves out: it keeps requests out of them, and a neighbour would
// serve them.
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

// removed are the Ingresses that are not served for the time being, where they keep
// their hosts.
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

// Delegation gives the annotation by which a namespace delegates its hosts.
func (t *translation) Delegation(namespace string) string {
	if object := t.snap.Namespace(namespace); object != nil {
		return HostDelegationOf(object)
	}
	return ""
}

// Backend gives a backend whose endpoints are in nginx.conf.
func (t *translation) Backend(w *assemble.Backend) *model.Backend {
	t.service(w.ID.Service) // a change of it is no change of endpoints only
	at, _ := slices.BinarySearchFunc(t.pushed, w.Key, func(b *model.Backend, key string) int { return strings.Compare(b.Key, key) })
	return t.pushed[at]
}
