package translate

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const legacyClass = snapshot.LegacyClass

// ClassField is the field of an Ingress that names its class.
const ClassField = "spec.ingressClassName"

// ClassOf returns the class that an Ingress names, and the annotation or field with it;
// both are empty if it names none. A legacy annotation that is not empty wins over the
// field.
func ClassOf(object *networkingv1.Ingress) (name, field string) {
	legacy, annotated := object.Annotations[legacyClass]
	switch {
	case annotated && (legacy != "" || object.Spec.IngressClassName == nil):
		return legacy, legacyClass
	case object.Spec.IngressClassName != nil:
		return *object.Spec.IngressClassName, ClassField
	}
	return "", ""
}

// Accepts reports whether the class of an Ingress and the options let it be served,
// with Problems about that.
func Accepts(s *snapshot.Snapshot, o Options, object *networkingv1.Ingress) (ours bool, remarks []model.Problem) {
	return (&translation{snap: s, options: o}).accepts(object)
}

// ClassFault says why the class of an Ingress that Accepts refuses is not served.
func ClassFault(s *snapshot.Snapshot, o Options, object *networkingv1.Ingress) string {
	name, from := ClassOf(object)
	if from == "" {
		return "names no class, and no IngressClass that is served is the default one"
	}
	text := fmt.Sprintf("is of the class %q (%s), ", name, from)
	class := s.IngressClass(name)
	switch {
	case from == legacyClass || o.ClassesUnreadable:
		return text + "and served are: " + strings.Join(o.IngressClasses, ", ")
	case class == nil:
		return text + "and there is no IngressClass of that name"
	}
	return text + fmt.Sprintf("whose spec.controller is %s and not %s", class.Spec.Controller, o.ControllerClass)
}

// accepts is Accepts for the snapshot and options of this call.
func (t *translation) accepts(object *networkingv1.Ingress) (ours bool, remarks []model.Problem) {
	legacy, annotated := object.Annotations[legacyClass]
	field := object.Spec.IngressClassName
	_, from := ClassOf(object)
	switch name := t.classOf(object); {
	case from == legacyClass:
		ours = slices.Contains(t.options.IngressClasses, name)
	case from == ClassField, name != "":
		ours = t.ourClass(name)
	default:
		ours = t.options.WithoutClass
	}
	if !ours {
		return false, nil
	}
	if annotated && legacy != "" && field != nil && *field != legacy {
		remarks = append(remarks, model.Problem{Object: snapshot.RefOf(object), Field: ClassField, Reason: model.Ambiguous,
			Text: fmt.Sprintf("the annotation %s says %s and this field %s: the annotation is followed, remove one of the two", legacyClass, model.Quoted(legacy), model.Quoted(*field))})
	}
	if from == ClassField && t.isClassless(*field) {
		remarks = append(remarks, model.Problem{Object: snapshot.RefOf(object), Field: ClassField, Reason: Classless,
			Text: fmt.Sprintf("no IngressClass has the name %s: the Ingress is served because --ingress-class has it", model.Quoted(*field))})
	}
	if t.options.leavesOut(object) {
		return false, append(remarks, model.Problem{Object: snapshot.RefOf(object), Field: "spec.defaultBackend", Reason: model.Unsupported,
			Text: "the controller runs with --disable-catch-all, so that this Ingress is left out: remove the field"})
	}
	return true, remarks
}

// Classless is the reason for an Ingress that is served by the name of its class alone.
const Classless model.Reason = "Classless"

// isClassless reports whether a class has no object, although one would be known. Manifests without
// any such object often lack them.
func (t *translation) isClassless(name string) bool {
	known := !t.options.ClassesUnreadable && (!t.options.ManifestMode || len(t.snap.IngressClasses()) > 0)
	return known && t.snap.IngressClass(name) == nil
}

// ourClass reports whether the class with that name is ours. One without an object is, if
// --ingress-class has its name.
func (t *translation) ourClass(name string) bool {
	class := t.snap.IngressClass(name)
	if class == nil || t.options.ClassesUnreadable {
		return slices.Contains(t.options.IngressClasses, name)
	}
	return t.options.serves(class)
}

// serves reports whether an existing class is ours.
func (o *Options) serves(class *networkingv1.IngressClass) bool {
	return class.Spec.Controller == o.ControllerClass || o.ClassByName && slices.Contains(o.IngressClasses, class.Name)
}

// classOf returns the class of an Ingress, which may be the default class; empty for
// none.
func (t *translation) classOf(object *networkingv1.Ingress) string {
	name, from := ClassOf(object)
	if from == "" {
		return t.defaultClass()
	}
	return name
}

// defaultClass returns the class of Ingresses that name none; empty for none. Only
// manifests need it, because an API server writes the class into the Ingress. The
// newest default class wins and, of the same age, the first by name.
// Source: plugin/pkg/admission/network/defaultingressclass of k8s.io/kubernetes
func (t *translation) defaultClass() string {
	if !t.options.ManifestMode || t.options.ClassesUnreadable {
		return ""
	}
	var newest *networkingv1.IngressClass
	for _, class := range t.snap.IngressClasses() {
		if isDefaultClass(class) && (newest == nil || newest.CreationTimestamp.Time.Before(class.CreationTimestamp.Time)) {
			newest = class
		}
	}
	if newest == nil {
		return ""
	}
	return newest.Name
}

// isDefaultClass reports whether a class is for Ingresses that name none.
func isDefaultClass(class *networkingv1.IngressClass) bool {
	return class.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true"
}

// leavesOut reports whether --disable-catch-all leaves an Ingress out.
func (o *Options) leavesOut(object *networkingv1.Ingress) bool {
	return o.DisableCatchAll && object.Spec.DefaultBackend != nil
}
