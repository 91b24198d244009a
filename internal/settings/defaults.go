package settings

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// Defaults gives annotations to all Ingresses.
type Defaults struct {
	Annotations keys.AnnotationLines `key:"default-annotations" empty:"zero" protects:"true" doc:"Annotations that Ingresses have unless they have their own, in lines such as \"proxy-read-timeout: 30\": names are without prefix, and those of Sluice have sluice.io/ before them."`
	Fixed       keys.AnnotationLines `key:"fixed-annotations" empty:"zero" protects:"true" doc:"Annotations whose values Ingresses cannot change, in such lines. An annotation without a value here cannot be set at all."`
}

// The annotations of a Namespace that give annotations to its Ingresses.
const (
	NamespacePrefix   = "sluice.io/"
	NamespaceDefaults = NamespacePrefix + "defaults"
	NamespaceFixed    = NamespacePrefix + "fixed"
)

// The keys of Defaults.
const (
	defaultKey = "default-annotations"
	fixedKey   = "fixed-annotations"
)

// LayerKeys returns the settings that give annotations to Ingresses.
func LayerKeys() []string { return []string{defaultKey, fixedKey} }

// Layer is a text that gives annotations to Ingresses: the value of an annotation of a
// Namespace, or of a key of a ConfigMap.
type Layer struct {
	Object model.ObjectRef
	// Field is the annotation or key.
	Field, Text string
	// Fixed is set if Ingresses cannot change the values.
	Fixed bool
}

// String names the layer for messages.
func (l *Layer) String() string {
	if l.Object.Kind == "Namespace" {
		return "annotation " + l.Field + " of " + l.Object.String()
	}
	return "key " + l.Field + " of " + l.Object.String()
}

// namespace holds the annotations of a Namespace that affect its Ingresses.
type namespace struct {
	object          model.ObjectRef
	defaults, fixed string
	// denies is set if a name is misspelled, so that a protection may be missing.
	denies bool
	once   sync.Map
}

// OfNamespace returns the settings for the Ingresses of a Namespace, and the Problems of its
// annotations. The settings are s itself if no annotation is for Ingresses; s does not change.
// annotationsPrefix is that of annotations of Ingresses, without a slash.
func (s *Settings) OfNamespace(object *corev1.Namespace, annotationsPrefix string) (*Settings, []model.Problem) {
	n := &namespace{object: model.ObjectRef{Kind: "Namespace", Name: object.Name}}
	var problems []model.Problem
	for _, name := range slices.Sorted(maps.Keys(object.Annotations)) {
		switch text := object.Annotations[name]; name {
		case NamespaceDefaults:
			n.defaults = text
		case NamespaceFixed:
			n.fixed = text
		default:
			if p := ofOtherName(n.object, name, annotationsPrefix); p != nil {
				n.denies = n.denies || p.Denies
				problems = append(problems, *p)
			}
		}
	}
	if n.defaults == "" && n.fixed == "" && !n.denies {
		return s, problems
	}
	of := *s
	of.namespace = n
	return &of, problems
}

// hostDelegation is the annotation of Namespaces that package assemble reads.
const hostDelegation = "host-delegation"

var (
	ofNamespaces = keys.NewNames([]string{"defaults", "fixed", hostDelegation, defaultKey, fixedKey})
	// exactly are names that mean the same without a prefix.
	exactly = map[string]bool{"defaults": true, "fixed": true, defaultKey: true, fixedKey: true}
	nearOwn = keys.NewNames([]string{"sluice.io", "sluice", UsualPrefix})
	ofKeys  = map[string]string{defaultKey: "defaults", fixedKey: "fixed"}
)

// UsualPrefix is the prefix of the annotations of ingress-nginx, without the slash.
const UsualPrefix = "nginx.ingress.kubernetes.io"

// ofOtherName returns the Problem of an annotation of a Namespace that nothing reads, nil if
// it means nothing to Sluice. A misspelled name denies, as it may stand for a protection.
func ofOtherName(object model.ObjectRef, name, annotationsPrefix string) *model.Problem {
	prefix, own, slashed := strings.Cut(name, "/")
	if !slashed {
		prefix, own = "", name
	}
	near := nearOwn.Nearest(prefix)
	switch first, _, _ := strings.Cut(prefix, "."); {
	case prefix == annotationsPrefix:
		near = UsualPrefix
	case first == "sluice", !slashed && exactly[own]:
		near = NamespacePrefix
	}
	meant := ofNamespaces.Nearest(own)
	meant = cmp.Or(ofKeys[meant], meant) // the keys of ConfigMaps are other names for the same
	p := &model.Problem{Object: object, Field: name, Reason: model.Unread, Denies: meant != "" && meant != hostDelegation}
	switch {
	case name == NamespacePrefix+hostDelegation, near == "":
		return nil
	case meant != "":
		p.Text = "no annotation of a Namespace has this name" + keys.DidYouMean(NamespacePrefix+meant)
	case near == UsualPrefix:
		p.Text = "an annotation for Ingresses has no effect on a Namespace: want it as a line of " + NamespaceDefaults + " or " + NamespaceFixed
	case prefix+"/" == NamespacePrefix:
		p.Text = "no annotation of a Namespace has this name"
	default:
		return nil
	}
	return p
}

// Layers returns the texts that give annotations to Ingresses: those of the Namespace, of the
// class, and of the controller.
func (s *Settings) Layers() []Layer {
	var all []Layer
	add := func(layer Layer) {
		if !s.source.broken[layer.Field] && strings.TrimSpace(layer.Text) != "" {
			all = append(all, layer)
		}
	}
	if n := s.namespace; n != nil {
		add(Layer{n.object, NamespaceDefaults, n.defaults, false})
		add(Layer{n.object, NamespaceFixed, n.fixed, true})
	}
	for of := s.source; of != nil; of = of.above() {
		add(Layer{of.object, defaultKey, of.given[defaultKey], false})
		add(Layer{of.object, fixedKey, of.given[fixedKey], true})
	}
	return all
}

// above returns the source of the controller for that of a class, nil otherwise.
func (s *source) above() *source {
	if s.controller == nil {
		return nil
	}
	return s.controller.source
}

// OnceForNamespace is Once for results that depend on the Namespace.
func (s *Settings) OnceForNamespace(key any, derive func(*Settings) any) any {
	if s.namespace == nil {
		return s.Once(key, derive)
	}
	if known, ok := s.namespace.once.Load(key); ok {
		return known
	}
	result, _ := s.namespace.once.LoadOrStore(key, derive(s))
	return result
}

// allowing are the settings that decide which annotations are followed.
var allowing = []string{"allow-snippet-annotations", "annotations-risk-level"}

// OnlyLayers returns a ConfigMap with the keys of a ConfigMap that give annotations, or decide
// which are followed, nil if it has none. It can be compared by reflect.DeepEqual.
func OnlyLayers(cm *corev1.ConfigMap) *corev1.ConfigMap {
	s := &source{}
	s.take(cm.Data)
	only := &corev1.ConfigMap{Data: map[string]string{}}
	only.Namespace, only.Name = cm.Namespace, cm.Name
	for _, key := range slices.Concat(LayerKeys(), allowing) {
		if text := s.given[key]; text != "" {
			only.Data[key] = text
		}
	}
	if len(only.Data) == 0 {
		return nil
	}
	return only
}
