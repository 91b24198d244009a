package translate

import (
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Memo remembers what was made of what. Objects are known by their pointers, as
// those of a snapshot never change. A Memo is for one goroutine at a time.
type Memo struct {
	// pass counts the calls; what a call uses carries its number, and the rest
	// is dropped at its end.
	pass uint64

	options   Options
	configMap *corev1.ConfigMap
	settings  *settings.Settings
	faults    []model.Problem

	ingresses map[*networkingv1.Ingress]*owner
	owners    map[*claim.Object]*owner
	backends  map[*assemble.Backend]*backend
	secrets   map[*corev1.Secret]*keyPair
	// presentations are what Secrets give to owners of a namespace.
	presentations map[secretUse]*presentation
	classes       map[*corev1.ConfigMap]*classSettings
	assembler     *assemble.Memo
	problems      model.Joined
	// accepted are the Ingresses that were ours in the last call.
	accepted []*networkingv1.Ingress
	// last is the last call.
	last lastCall
	// used counts what the present call used of each map.
	used used
}

type used struct{ ingresses, owners, backends, secrets, presentations, classes int }

// NewMemo gives an empty memo.
func NewMemo() *Memo {
	m := &Memo{}
	m.forget()
	return m
}

func (m *Memo) forget() {
	m.ingresses = map[*networkingv1.Ingress]*owner{}
	m.owners = map[*claim.Object]*owner{}
	m.backends = map[*assemble.Backend]*backend{}
	m.secrets = map[*corev1.Secret]*keyPair{}
	m.classes = map[*corev1.ConfigMap]*classSettings{}
	m.presentations = map[secretUse]*presentation{}
	m.assembler = assemble.NewMemo()
}

// Accepted are the Ingresses of the last call that are ours, the oldest first:
// those that Accepts accepts. A later call changes nothing of what was given.
func (m *Memo) Accepted() []*networkingv1.Ingress { return m.accepted }

// begin starts a call. Other options or settings touch everything, so that
// nothing is kept then.
func (m *Memo) begin(s *snapshot.Snapshot, o Options) *translation {
	configMap := s.ConfigMap(o.ConfigMap)
	general := o
	general.Denied = nil // looked up for each Ingress
	if m.settings == nil || m.configMap != configMap || !reflect.DeepEqual(m.options, general) {
		m.last = lastCall{}
		m.forget()
		m.options, m.configMap = general, configMap
		m.settings, m.faults = settings.Read(configMap)
	}
	m.pass++
	m.used = used{}
	t := &translation{snap: s, options: o, settings: m.settings, memo: m, zones: map[string]int{}, exempt: map[string]int{}, changed: m.changed(s)}
	t.report(m.faults...)
	t.sizeMemory()
	if configMap == nil && o.ConfigMap != (snapshot.Name{}) {
		t.missSettings()
	}
	t.readClasses()
	return t
}

// changed tells the Services that may be others than in the last call, themselves or
// in their EndpointSlices.
func (m *Memo) changed(s *snapshot.Snapshot) func(snapshot.Name) bool {
	if m.last.snap == nil {
		return func(snapshot.Name) bool { return true }
	}
	services := map[snapshot.Name]bool{}
	for _, name := range s.Since(m.last.snap).Services {
		services[name] = true
	}
	return func(name snapshot.Name) bool { return services[name] }
}

// missSettings says what holds while the ConfigMap is missing. A required one may
// say who is let in.
func (t *translation) missSettings() {
	name := t.options.ConfigMap
	problem := model.Problem{Object: model.ObjectRef{Kind: "ConfigMap", Namespace: name.Namespace, Name: name.Name},
		Reason: model.NotFound, Text: "it does not exist: all settings have their defaults"}
	if t.unsettled = t.options.RequireConfigMap; t.unsettled {
		problem.Text, problem.Denies = "it does not exist, and --require-configmap is given: create it, empty for the defaults", true
	}
	t.report(problem)
}

// end drops what the call did not use.
func (m *Memo) end() {
	sweep(m.ingresses, m.used.ingresses, func(i *owner) bool { return i.pass == m.pass })
	sweep(m.owners, m.used.owners, func(i *owner) bool { return i.pass == m.pass })
	sweep(m.backends, m.used.backends, func(b *backend) bool { return b.pass == m.pass })
	sweep(m.secrets, m.used.secrets, func(k *keyPair) bool { return k.pass == m.pass })
	sweep(m.presentations, m.used.presentations, func(p *presentation) bool { return p.pass == m.pass })
	sweep(m.classes, m.used.classes, func(c *classSettings) bool { return c.pass == m.pass })
}

func sweep[K comparable, V any](entries map[K]V, used int, live func(V) bool) {
	if len(entries) != used {
		maps.DeleteFunc(entries, func(_ K, entry V) bool { return !live(entry) })
	}
}
