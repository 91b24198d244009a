package translate

import (
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/assemble"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Memo remembers results for the next call. It identifies objects by their pointers,
// because those of a snapshot never change. A Memo is for one goroutine at a time.
type Memo struct {
	// pass counts the calls. Entries carry the number of the last call that used them;
	// end drops the others.
	pass uint64

	options   Options
	configMap *corev1.ConfigMap
	settings  *settings.Settings
	blocks    []model.Block // of the settings
	faults    []model.Problem
	// named are the ConfigMaps that the settings name.
	named reads

	// owners are known by the pointers to their Ingresses or other objects.
	owners map[any]*owner
	// overBound are those in place of Ingresses beyond the bounds of their namespaces.
	overBound map[*networkingv1.Ingress]*overBound
	library   *library // nil before the first use
	dh        dhMemo
	secrets   map[*corev1.Secret]*keyPair
	// presentations are the certificates in Secrets, for owners of a namespace.
	presentations map[secretUse]*presentation
	classes       map[*corev1.ConfigMap]*derivedSettings
	namespaces    map[namespaceUse]*derivedSettings
	assembler     *assemble.Memo
	problems      model.Joined
	// accepted are the Ingresses of the last call that are ours.
	accepted []*networkingv1.Ingress
	last     lastCall
	// used counts the entries of each map that this call used.
	used used
}

type used struct{ owners, overBound, secrets, presentations, classes, namespaces int }

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	m := &Memo{}
	m.forget()
	return m
}

func (m *Memo) forget() {
	m.owners = map[any]*owner{}
	m.overBound = map[*networkingv1.Ingress]*overBound{}
	m.secrets = map[*corev1.Secret]*keyPair{}
	m.classes = map[*corev1.ConfigMap]*derivedSettings{}
	m.namespaces = map[namespaceUse]*derivedSettings{}
	m.presentations = map[secretUse]*presentation{}
	m.assembler = assemble.NewMemo()
}

// Accepted are the Ingresses of the last call that are ours, the oldest first. Later
// calls do not change the returned list.
func (m *Memo) Accepted() []*networkingv1.Ingress { return m.accepted }

// begin starts a call. It keeps nothing if the options or the settings changed, because
// these affect everything.
func (m *Memo) begin(s *snapshot.Snapshot, o Options) *translation {
	configMap := s.ConfigMap(o.ConfigMap)
	if m.settings == nil || m.configMap != configMap || m.named.outdated(s) || !m.isFor(o) {
		m.last = lastCall{}
		m.forget()
		m.settings, m.faults = settings.Read(configMap)
		m.options, m.configMap = m.general(o), configMap
		m.settings = m.settings.WithReplicas(m.options.Replicas)
		m.readGlobalHeaders(s)
		m.blocks = m.settings.Blocks()
	}
	m.pass++
	m.used = used{}
	t := &translation{snap: s, options: o, settings: m.settings, memo: m, zones: map[string]int{}, bounds: map[string]*bounds{}, exempt: map[string]int{}, shares: map[string]map[string]bool{"": {}}, caches: map[string]bool{}, changed: m.changed(s)}
	t.report(m.faults...)
	t.report(annotations.LayerProblems(t.settings, o.AnnotationsPrefix)...)
	t.remarkGlobalAuth(t.settings)
	t.remarkReplicas()
	t.sizeMemory()
	if configMap == nil && o.ConfigMap != (snapshot.Name{}) {
		t.missSettings()
	}
	t.readClasses()
	return t
}

// isFor reports whether the options that affect everything are those of the memo.
func (m *Memo) isFor(o Options) bool {
	now := m.general(o)
	return reflect.DeepEqual(&m.options, &now)
}

// general returns the options that affect everything with the settings of the memo.
func (m *Memo) general(o Options) Options {
	o.Denied = nil // ingress checks it for each Ingress
	if m.settings == nil || !m.settings.Limits.Divided {
		o.Replicas = 0
	}
	return o
}

// changed returns a function that reports whether a Service, or its EndpointSlices, may
// have changed since the last call.
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

// missSettings reports a missing ConfigMap. A required one may restrict access, so all
// paths return 503 without it.
func (t *translation) missSettings() {
	name := t.options.ConfigMap
	problem := model.Problem{Object: refTo(kindConfigMap, name), Reason: model.NotFound,
		Text: "it does not exist: all settings have their defaults"}
	if t.unsettled = t.options.RequireConfigMap; t.unsettled {
		problem.Text, problem.Denies = "it does not exist, and --require-configmap is given: create it, empty for the defaults", true
	}
	t.report(problem)
}

// end drops the entries that the call did not use.
func (m *Memo) end() {
	sweep(m.owners, m.used.owners, func(i *owner) bool { return i.pass == m.pass })
	sweep(m.overBound, m.used.overBound, func(o *overBound) bool { return o.pass == m.pass })
	sweep(m.secrets, m.used.secrets, func(k *keyPair) bool { return k.pass == m.pass })
	sweep(m.presentations, m.used.presentations, func(p *presentation) bool { return p.pass == m.pass })
	sweep(m.classes, m.used.classes, func(c *derivedSettings) bool { return c.pass == m.pass })
	sweep(m.namespaces, m.used.namespaces, func(n *derivedSettings) bool { return n.pass == m.pass })
}

// use marks an entry as used by this call, and reports whether it is the first use.
func (m *Memo) use(pass *uint64, used *int) (first bool) {
	if *pass == m.pass {
		return false
	}
	*pass = m.pass
	*used++
	return true
}

func sweep[K comparable, V any](entries map[K]V, used int, live func(V) bool) {
	if len(entries) != used {
		maps.DeleteFunc(entries, func(_ K, entry V) bool { return !live(entry) })
	}
}
