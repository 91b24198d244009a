package translate

import (
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// parametersField is the field of an IngressClass that names its settings.
const parametersField = "spec.parameters"

// parametersOf gives the ConfigMap that an IngressClass names in spec.parameters:
// its settings. The name is empty if it names none, or something else; then the
// Problem, if there is one, says what would be valid.
func parametersOf(class *networkingv1.IngressClass) (name snapshot.Name, wrong *model.Problem) {
	p := class.Spec.Parameters
	if p == nil {
		return name, nil
	}
	fault := func(field string, reason model.Reason, text string) (snapshot.Name, *model.Problem) {
		return snapshot.Name{}, &model.Problem{Object: classRef(class), Field: parametersField + field, Reason: reason,
			Text: text + ": the class has the settings of the controller"}
	}
	switch {
	case p.APIGroup != nil && *p.APIGroup != "":
		return fault(".apiGroup", model.Unsupported, fmt.Sprintf("want none, as that of a ConfigMap is (got %s)", quoted(*p.APIGroup)))
	case p.Kind != "ConfigMap":
		return fault(".kind", model.Unsupported, fmt.Sprintf("want ConfigMap (got %s)", quoted(p.Kind)))
	case p.Scope == nil:
		return fault(".scope", model.InvalidValue, "want Namespace (got none, which is Cluster)")
	case *p.Scope != networkingv1.IngressClassParametersReferenceScopeNamespace:
		return fault(".scope", model.InvalidValue, fmt.Sprintf("want Namespace, as a ConfigMap is in one (got %s)", quoted(*p.Scope)))
	case p.Namespace == nil:
		return fault(".namespace", model.InvalidValue, "want the namespace of the ConfigMap (got none)")
	case len(validation.IsDNS1123Label(*p.Namespace)) > 0:
		return fault(".namespace", model.InvalidValue, fmt.Sprintf("want the namespace of the ConfigMap (got %s)", quoted(*p.Namespace)))
	case len(validation.IsDNS1123Subdomain(p.Name)) > 0:
		return fault(".name", model.InvalidValue, fmt.Sprintf("want the name of a ConfigMap (got %s)", quoted(p.Name)))
	}
	return snapshot.Name{Namespace: *p.Namespace, Name: p.Name}, nil
}

func classRef(class *networkingv1.IngressClass) model.ObjectRef {
	return model.ObjectRef{Kind: "IngressClass", Name: class.Name}
}
