package translate

import (
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// legacyClass is the annotation that came before spec.ingressClassName.
const legacyClass = "kubernetes.io/ingress.class"

// accepts says whether an Ingress is ours. The legacy annotation has the last
// word where both it and the field are there.
func (t *translation) accepts(object *networkingv1.Ingress) (ours bool, remarks []model.Problem) {
	legacy, annotated := object.Annotations[legacyClass]
	field := object.Spec.IngressClassName
	switch {
	case annotated && (legacy != "" || field == nil):
		ours = slices.Contains(t.options.IngressClasses, legacy)
	case field != nil:
		ours = t.ourClass(*field)
	default:
		ours = t.options.WithoutClass || t.ourDefaultClass()
	}
	if !ours {
		return false, nil
	}
	if annotated && legacy != "" && field != nil && *field != legacy {
		remarks = append(remarks, model.Problem{Object: refOf(object), Field: "spec.ingressClassName", Reason: model.Ambiguous,
			Text: fmt.Sprintf("the annotation %s says %s and this field %s: the annotation is followed, remove one of the two", legacyClass, quoted(legacy), quoted(*field))})
	}
	if t.options.DisableCatchAll && object.Spec.DefaultBackend != nil {
		return false, append(remarks, model.Problem{Object: refOf(object), Field: "spec.defaultBackend", Reason: model.Unsupported,
			Text: "the controller runs with --disable-catch-all, so that this Ingress is left out: remove the field"})
	}
	return true, remarks
}

// ourClass says whether the class of that name is ours.
func (t *translation) ourClass(name string) bool {
	listed := slices.Contains(t.options.IngressClasses, name)
	class := t.snap.IngressClass(name)
	if class == nil {
		return t.options.ManifestMode && listed
	}
	return class.Spec.Controller == t.options.ControllerClass || t.options.ClassByName && listed
}

// ourDefaultClass says whether Ingresses without a class have ours. An API
// server writes the default class into them; here it is done in its place.
func (t *translation) ourDefaultClass() bool {
	if !t.options.ManifestMode {
		return false
	}
	return slices.ContainsFunc(t.snap.IngressClasses(), func(class *networkingv1.IngressClass) bool {
		return class.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" && t.ourClass(class.Name)
	})
}

func refOf(object *networkingv1.Ingress) model.ObjectRef {
	return model.ObjectRef{Kind: "Ingress", Namespace: object.Namespace, Name: object.Name}
}
