package translate

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// parametersField is the field of an IngressClass that names its settings.
const parametersField = "spec.parameters"

// parametersOf returns the ConfigMap that an IngressClass names in spec.parameters: its
// settings. The name is empty if there is none; wrong is the Problem of an invalid
// reference, nil for none.
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
		return fault(".apiGroup", model.Unsupported, fmt.Sprintf("want none, as that of a ConfigMap is (got %s)", model.Quoted(*p.APIGroup)))
	case p.Kind != "ConfigMap":
		return fault(".kind", model.Unsupported, fmt.Sprintf("want ConfigMap (got %s)", model.Quoted(p.Kind)))
	case p.Scope == nil:
		return fault(".scope", model.InvalidValue, "want Namespace (got none, which is Cluster)")
	case *p.Scope != networkingv1.IngressClassParametersReferenceScopeNamespace:
		return fault(".scope", model.InvalidValue, fmt.Sprintf("want Namespace, as a ConfigMap is in one (got %s)", model.Quoted(*p.Scope)))
	case p.Namespace == nil:
		return fault(".namespace", model.InvalidValue, "want the namespace of the ConfigMap (got none)")
	case len(validation.IsDNS1123Label(*p.Namespace)) > 0:
		return fault(".namespace", model.InvalidValue, fmt.Sprintf("want the namespace of the ConfigMap (got %s)", model.Quoted(*p.Namespace)))
	case len(validation.IsDNS1123Subdomain(p.Name)) > 0:
		return fault(".name", model.InvalidValue, fmt.Sprintf("want the name of a ConfigMap (got %s)", model.Quoted(p.Name)))
	}
	return snapshot.Name{Namespace: *p.Namespace, Name: p.Name}, nil
}

func classRef(class *networkingv1.IngressClass) model.ObjectRef {
	return model.ObjectRef{Kind: "IngressClass", Name: class.Name}
}

// derivedSettings are the settings of a class or of a Namespace.
type derivedSettings struct {
	pass     uint64
	settings *settings.Settings
	problems []model.Problem
}

// Settings returns a function for the settings of Ingresses, which are those of their
// classes. They are computed once.
func Settings(s *snapshot.Snapshot, o Options) func(*networkingv1.Ingress) *settings.Settings {
	return NewMemo().Settings(s, o)
}

// Settings is the function Settings. It returns the same settings for the same ConfigMaps.
func (m *Memo) Settings(s *snapshot.Snapshot, o Options) func(*networkingv1.Ingress) *settings.Settings {
	return m.begin(s, o).settingsOf
}

// settingsOf returns the settings of an Ingress: those of its class or, if that has
// none, those of the controller, with the annotations that its Namespace gives.
func (t *translation) settingsOf(object *networkingv1.Ingress) *settings.Settings {
	of := t.settings
	if len(t.classes) > 0 {
		of = cmp.Or(t.classes[t.classOf(object)], of)
	}
	if namespace := t.snap.Namespace(object.Namespace); namespace != nil && len(namespace.Annotations) > 0 {
		return t.namespaceSettings(namespaceUse{namespace, of})
	}
	return of
}

// namespaceUse is a Namespace with the settings of a class or of the controller.
type namespaceUse struct {
	namespace *corev1.Namespace
	settings  *settings.Settings
}

// namespaceSettings reads the annotations of a Namespace, and remembers them.
func (t *translation) namespaceSettings(use namespaceUse) *settings.Settings {
	n := t.memo.namespaces[use]
	if n == nil {
		n = &derivedSettings{}
		n.settings, n.problems = use.settings.OfNamespace(use.namespace, t.options.AnnotationsPrefix)
		if n.settings != use.settings {
			n.problems = append(n.problems, annotations.LayerProblems(n.settings, t.options.AnnotationsPrefix)...)
		}
		t.memo.namespaces[use] = n
	}
	if t.memo.use(&n.pass, &t.memo.used.namespaces) {
		t.report(n.problems...)
	}
	return n.settings
}

// readClasses reads the settings of the classes that are ours.
func (t *translation) readClasses() {
	if t.options.ClassesUnreadable {
		return
	}
	for _, class := range t.snap.IngressClasses() {
		if !t.options.serves(class) {
			continue
		}
		name, wrong := parametersOf(class)
		if wrong != nil {
			t.report(*wrong)
		}
		if name == (snapshot.Name{}) || name == t.options.ConfigMap {
			continue
		}
		configMap := t.snap.ConfigMap(name)
		if configMap == nil {
			t.closeClass(class, name)
			continue
		}
		if t.classes == nil {
			t.classes = map[string]*settings.Settings{}
		}
		t.classes[class.Name] = t.classSettings(configMap)
	}
}

// closeClass denies the Ingresses of a class whose settings are missing, because these
// may restrict access.
func (t *translation) closeClass(class *networkingv1.IngressClass, configMap snapshot.Name) {
	t.report(model.Problem{Object: classRef(class), Field: parametersField + ".name", Reason: model.NotFound,
		Text: fmt.Sprintf("ConfigMap %s does not exist, which may say who is let in: the paths of all Ingresses of the class answer 503 until it does", configMap)})
	if t.closed == nil {
		t.closed = map[string]bool{}
	}
	t.closed[class.Name] = true
}

// denial returns the extent to which options, settings or the class deny an Ingress.
func (t *translation) denial(object *networkingv1.Ingress) claim.Denial {
	if denial := t.deniedAnyway(object); denial != 0 || !t.options.leavesOut(object) {
		return denial
	}
	return claim.DenyButSnippet
}

// deniedAnyway is the denial of an Ingress without that of --disable-catch-all.
func (t *translation) deniedAnyway(object *networkingv1.Ingress) claim.Denial {
	if len(t.options.Denied) > 0 {
		if denial := t.options.Denied[snapshot.RefOf(object)]; denial != 0 {
			return denial
		}
	}
	if t.unsettled || len(t.closed) > 0 && t.closed[t.classOf(object)] {
		return claim.DenyButSnippet
	}
	return 0
}

// classSettings reads the ConfigMap of a class, and remembers it.
func (t *translation) classSettings(configMap *corev1.ConfigMap) *settings.Settings {
	c := t.memo.classes[configMap]
	if c == nil {
		c = &derivedSettings{}
		c.settings, c.problems = t.settings.OfClass(configMap, annotations.PerClass)
		c.problems = append(c.problems, annotations.LayerProblems(c.settings, t.options.AnnotationsPrefix)...)
		t.memo.classes[configMap] = c
	}
	if t.memo.use(&c.pass, &t.memo.used.classes) {
		t.report(c.problems...)
		if _, own := configMap.Data[globalAuthURL]; own {
			t.remarkGlobalAuth(c.settings)
		}
	}
	return c.settings
}
