package controller

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"sluice/internal/model"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Everything that nginx can reject, or that a refusal depends on, has a form. For an
// Ingress, a Secret, a ConfigMap with settings, a Namespace, a stream and templates it is a
// pointer, and for nginx its features.
type (
	nginxForm struct {
		version string
		can     render.Capabilities
	}
	// configsForm holds the ConfigMaps in force that affect the output for Ingresses.
	configsForm = *[]*corev1.ConfigMap
	// busyForm is a stream whose port nginx cannot listen on, whatever its other fields
	// are.
	busyForm struct{ *model.Stream }
)

// kindNamespace is the kind of Namespaces.
const kindNamespace = "Namespace"

// The kinds of subjects that are not objects of the cluster.
const (
	kindTemplates = "Templates"
	kindSettings  = "Settings"
	kindNginx     = "Nginx"
)

var (
	templatesSubject = quarantine.Of(model.ObjectRef{Kind: kindTemplates})
	settingsSubject  = quarantine.Of(model.ObjectRef{Kind: kindSettings})
	nginxSubject     = quarantine.Of(model.ObjectRef{Kind: kindNginx})
)

// sameForm compares the content of two forms.
func sameForm(a, b quarantine.Form) bool {
	switch a := a.(type) {
	case *networkingv1.Ingress:
		return sameContent(a, b.(*networkingv1.Ingress))
	case *corev1.Secret:
		return reflect.DeepEqual(a.Data, b.(*corev1.Secret).Data)
	case *corev1.ConfigMap:
		return sameSettings(a, b.(*corev1.ConfigMap))
	case configsForm:
		return slices.EqualFunc(*a, *b.(configsForm), func(a, b *corev1.ConfigMap) bool {
			return a == b || a != nil && b != nil && sameSettings(a, b)
		})
	case *corev1.Namespace:
		return reflect.DeepEqual(a.Annotations, b.(*corev1.Namespace).Annotations)
	case *model.Stream:
		return reflect.DeepEqual(a, b)
	}
	return is[busyForm](a)
}

// is reports whether a form has a type.
func is[T any](form quarantine.Form) bool {
	_, ok := form.(T)
	return ok
}

// orNone returns the form of an object, nil if there is no object.
func orNone[T any](object *T) quarantine.Form {
	if object == nil {
		return nil
	}
	return object
}

// look returns the form of a subject in a plan, as far as it is decided: for objects
// the form in the source, for templates and settings the form in force.
func (p *plan) look(s quarantine.Subject) quarantine.Form {
	switch name := nameOf(s.ObjectRef); s.Kind {
	case "Ingress":
		return orNone(p.snap.IngressOf(s.ObjectRef))
	case "Secret":
		return orNone(p.snap.Secret(name))
	case "ConfigMap":
		if name == p.options.ConfigMap {
			return orNone(p.settings)
		}
		return orNone(p.snap.ConfigMap(name))
	case kindNamespace:
		return orNone(p.snap.Namespace(name.Name))
	case kindTemplates:
		return p.templates
	case kindSettings:
		return &p.configs
	case kindNginx:
		return p.nginx
	}
	return nil
}

// basisOf returns everything that nginx's verdict on an object depends on in a plan.
func (p *plan) basisOf(o model.ObjectRef) quarantine.Basis {
	named := p.named(o)
	if len(named) == 0 {
		return p.basis
	}
	return slices.Concat(p.basis, quarantine.Look(p.look).Basis(named...))
}

// named returns the objects that an Ingress names, such as Secrets and ConfigMaps, and the
// Namespace that gives it annotations.
func (p *plan) named(o model.ObjectRef) []quarantine.Subject {
	ing := p.snap.IngressOf(o)
	if ing == nil {
		return nil
	}
	var named []quarantine.Subject
	of := p.settingsOf()(ing)
	for _, ref := range translate.References(ing, of, p.options) {
		named = append(named, quarantine.Of(ref))
	}
	for _, ref := range of.Origins() {
		if ref.Kind == kindNamespace {
			named = append(named, quarantine.Of(ref))
		}
	}
	return named
}

// namesTheSame reports whether the objects that an Ingress names have the same content
// in another plan. Without another plan it is not known that any changed.
func (p *plan) namesTheSame(o model.ObjectRef, other *plan) bool {
	return other == nil || !slices.ContainsFunc(p.named(o), func(s quarantine.Subject) bool {
		now, was := p.look(s), other.look(s)
		return now != was && (now == nil || was == nil || !sameForm(now, was))
	})
}

// causes returns objects with those that they name.
func (p *plan) causes(objects []model.ObjectRef) []quarantine.Subject {
	var causes []quarantine.Subject
	for _, o := range objects {
		causes = append(append(causes, quarantine.Of(o)), p.named(o)...)
	}
	return causes
}

// configsOf returns the ConfigMaps that affect the output for Ingresses.
func (p *plan) configsOf() []*corev1.ConfigMap {
	var configs []*corev1.ConfigMap
	for _, name := range translate.ConfigMaps(p.snap.IngressClasses(), p.options) {
		if name != p.options.TCPServices && name != p.options.UDPServices {
			configs = append(configs, p.served.ConfigMap(name))
		}
	}
	for _, name := range translate.HeaderConfigMaps(p.served.ConfigMap(p.options.ConfigMap)) {
		configs = append(configs, p.served.ConfigMap(name))
	}
	return configs
}

// sameContent compares the parts of an Ingress that Sluice reads: annotations and spec.
func sameContent(a, b *networkingv1.Ingress) bool {
	if a == b {
		return true
	}
	return equality.Semantic.DeepEqual(a.Annotations, b.Annotations) && equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

func nameOf(ref model.ObjectRef) snapshot.Name {
	return snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}
}
