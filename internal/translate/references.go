package translate

import (
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// The kinds of referenced objects.
const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
	kindService   = "Service"
)

// reads are the objects that a result depends on, each with the pointer that it had;
// nil if it was missing. Each is recorded when it is read.
type reads []read

type read struct {
	ref    model.ObjectRef
	object any
}

func (r *reads) secret(s *snapshot.Snapshot, name snapshot.Name) *corev1.Secret {
	return recorded(r, s, refTo(kindSecret, name), s.Secret(name))
}

func (r *reads) configMap(s *snapshot.Snapshot, name snapshot.Name) *corev1.ConfigMap {
	return recorded(r, s, refTo(kindConfigMap, name), s.ConfigMap(name))
}

// recorded records the read of an object that Sluice may have no permission to read.
func recorded[T any](r *reads, s *snapshot.Snapshot, ref model.ObjectRef, object *T) *T {
	if object == nil && s.Forbids(ref) {
		r.add(ref, forbidden{})
	} else {
		r.add(ref, object)
	}
	return object
}

// forbidden stands for an object that Sluice has no permission to read.
type forbidden struct{}

// noPermission is the text of a Problem with a Secret that Sluice may not read.
func noPermission(name snapshot.Name) string {
	return fmt.Sprintf("Sluice has no permission to read Secret %s: name it in rbac.secretNames of the chart, or grant get on secrets in its namespace", claim.Shown(name.String()))
}

func (r *reads) service(s *snapshot.Snapshot, name snapshot.Name) *corev1.Service {
	service := s.Service(name)
	r.add(refTo(kindService, name), service)
	return service
}

func (r *reads) add(ref model.ObjectRef, object any) {
	if !r.has(ref) {
		*r = append(*r, read{ref, object})
	}
}

func refTo(kind string, name snapshot.Name) model.ObjectRef {
	return model.ObjectRef{Kind: kind, Namespace: name.Namespace, Name: name.Name}
}

// has reports whether an object was read, or looked for.
func (r reads) has(ref model.ObjectRef) bool {
	return slices.ContainsFunc(r, func(one read) bool { return one.ref == ref })
}

// outdated reports whether one of the objects differs in a snapshot.
func (r reads) outdated(s *snapshot.Snapshot) bool {
	var now reads
	for i, one := range r {
		switch name := (snapshot.Name{Namespace: one.ref.Namespace, Name: one.ref.Name}); one.ref.Kind {
		case kindSecret:
			now.secret(s, name)
		case kindConfigMap:
			now.configMap(s, name)
		case kindService:
			now.service(s, name)
		}
		if now[i] != one {
			return true
		}
	}
	return false
}

// refs are the references to the objects, sorted.
func (r reads) refs() []model.ObjectRef {
	var refs []model.ObjectRef
	for _, one := range r {
		refs = append(refs, one.ref)
	}
	slices.SortFunc(refs, model.ObjectRef.Compare)
	return refs
}

// References are the objects that Config reads for an Ingress besides Services, sorted,
// each once: those of its TLS section and those that its annotations name. It finds
// them by reading the Ingress with an empty snapshot and the given settings: those of
// the Ingress, or those of OnlyLayers, which follow the same annotations or more. A source
// that reads these, ConfigMaps and the default certificate reads everything. References
// ignores whether the Ingress is served.
func References(object *networkingv1.Ingress, values *settings.Settings, o Options) []model.ObjectRef {
	if len(object.Annotations)+len(object.Spec.TLS)+len(values.Layers()) == 0 {
		return nil
	}
	t := &translation{snap: nothing(), options: o, settings: values}
	ing := t.begun(object, t.settings)
	if ing.Annotations.Withheld() {
		return nil
	}
	t.attach(ing)
	ing.readTLS(ing.Annotations.Certificates.In(object))
	return ing.references()
}

// References are the objects that the last call of Config read for an Ingress, or looked
// for, as those of the function References; nil for an Ingress that it did not read.
func (m *Memo) References(object *networkingv1.Ingress) []model.ObjectRef {
	if ing := m.owners[object]; ing != nil {
		return ing.references()
	}
	return nil
}

// references are the objects of an owner that is read, with the Secrets of its TLS section.
func (o *owner) references() []model.ObjectRef {
	refs := o.reads.refs()
	for _, item := range o.TLS.Items { // there can be thousands
		if _, err := snapshot.ParseName(item.Secret.String()); err == nil {
			refs = append(refs, refTo(kindSecret, item.Secret))
		}
	}
	slices.SortFunc(refs, model.ObjectRef.Compare)
	return slices.Compact(refs)
}

var nothing = sync.OnceValue(func() *snapshot.Snapshot {
	empty, _ := snapshot.New(snapshot.Objects{})
	return empty
})

// OnlyLayers returns the ConfigMaps with only the keys that give annotations or decide which
// are followed, without those that have none.
func OnlyLayers(configMaps []*corev1.ConfigMap) []*corev1.ConfigMap {
	var only []*corev1.ConfigMap
	for _, cm := range configMaps {
		if layers := settings.OnlyLayers(cm); layers != nil {
			only = append(only, layers)
		}
	}
	return only
}

// begun returns an Ingress with only its annotations read.
func (t *translation) begun(object *networkingv1.Ingress, values *settings.Settings) *owner {
	a := annotations.Read(object, values, t.options.AnnotationsPrefix)
	return &owner{object: object, given: object.Annotations, Owner: &claim.Owner{
		Ref: snapshot.RefOf(object), Age: ageOf(object), Settings: values, Annotations: a,
		HostPolicy: claim.HostPolicy{Delegation: delegationIn(object.Annotations, claim.HostDelegation)},
		Problems:   slices.Clone(a.Problems()),
		PrefixKey:  t.options.AnnotationsPrefix + "/",
	}}
}

// ConfigMaps are the ConfigMaps that Config reads with these classes besides those of
// References, sorted, each once: the settings, the TCP and UDP services, and the
// settings of our classes.
func ConfigMaps(classes []*networkingv1.IngressClass, o Options) []snapshot.Name {
	names := slices.DeleteFunc([]snapshot.Name{o.ConfigMap, o.TCPServices, o.UDPServices, o.NamedSnippets}, func(name snapshot.Name) bool { return name == snapshot.Name{} })
	if o.ClassesUnreadable {
		classes = nil
	}
	for _, class := range classes {
		if name, _ := parametersOf(class); name != (snapshot.Name{}) && o.serves(class) {
			names = append(names, name)
		}
	}
	return once(names)
}

// Services are the Services that Config reads besides those of Ingresses, sorted, each
// once: the default backend, and the TCP and UDP services. configMap returns a
// ConfigMap, or nil.
func Services(configMap func(snapshot.Name) *corev1.ConfigMap, o Options) []snapshot.Name {
	var names []snapshot.Name
	if o.DefaultBackend != (snapshot.Name{}) {
		names = append(names, o.DefaultBackend)
	}
	for _, list := range []snapshot.Name{o.TCPServices, o.UDPServices} {
		source := configMap(list)
		if source == nil {
			continue
		}
		for _, value := range source.Data {
			if name, err := serviceOf(value); err == nil {
				names = append(names, name)
			}
		}
	}
	return once(names)
}

// once sorts names and drops repetitions.
func once(names []snapshot.Name) []snapshot.Name {
	slices.SortFunc(names, snapshot.Name.Compare)
	return slices.Compact(names)
}
