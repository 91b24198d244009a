package annotations

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// inherited is the value of an annotation in a layer.
type inherited struct {
	value string
	layer *settings.Layer
	// void is set if Ingresses get no value: it is empty, or a mistake that protects nothing.
	// told is set if the layer has a Problem with it.
	void, told bool
	// along is the fixed key that this one could undo, "" for none.
	along string
}

// isOff reports whether the value asks for nothing.
func (v inherited) isOff(doc keys.Doc) bool { return v.void || doc.IsOff(v.value) }

// isMistake reports whether the value counts as missing, unless it is fixed.
func (v inherited) isMistake() bool { return v.void && v.told }

// layered are the annotations in the layers of settings, by key.
type layered struct {
	defaults, fixed map[string]inherited
	// along are the keys that are fixed because they could undo another one.
	along map[string]inherited
	// denied is set if a layer has a mistake that affects all Ingresses; protects are the
	// names of the protections with such mistakes.
	denied   bool
	protects []string
	problems []model.Problem
}

// layersOf returns the annotations in the layers of settings.
func layersOf(s *settings.Settings, prefix string) *layered {
	type key struct{ prefix string }
	return s.OnceForNamespace(key{prefix}, func(s *settings.Settings) any {
		l := &layered{defaults: map[string]inherited{}, fixed: map[string]inherited{}}
		layers := s.Layers()
		for i := range layers { // the most specific default wins
			if !layers[i].Fixed {
				l.add(s, prefix, &layers[i], l.defaults)
			}
		}
		for i := range slices.Backward(layers) { // the least specific fixed value wins
			if layers[i].Fixed {
				l.add(s, prefix, &layers[i], l.fixed)
			}
		}
		l.fixAlong(prefix, ranksOf(layers))
		l.problems = model.SortProblems(l.problems)
		return l
	}).(*layered)
}

// LayerProblems returns the Problems of the texts that give annotations to Ingresses with
// these settings, sorted. prefix is without the slash.
func LayerProblems(s *settings.Settings, prefix string) []model.Problem {
	return layersOf(s, prefix).problems
}

// add adds the values of a layer to those of the layers before it, which win.
func (l *layered) add(s *settings.Settings, prefix string, layer *settings.Layer, to map[string]inherited) {
	r := readLayer(s, prefix, layer)
	l.denied, l.protects = l.denied || r.denied, append(l.protects, r.general.protects...)
	l.problems = append(l.problems, r.of.problems...)
	for key, value := range r.values {
		if before, taken := to[key]; taken && !before.isMistake() || isOverridden(s, docOf[key].From, layer) {
			continue
		}
		to[key] = value
	}
}

// isOverridden reports whether the ConfigMap of the class has the setting of which a default
// in the ConfigMap of the controller would take the place.
func isOverridden(s *settings.Settings, setting string, layer *settings.Layer) bool {
	if setting == "" || layer.Fixed || s == s.Controller() || !isOfController(s, layer) {
		return false
	}
	from, given := s.Origin(setting)
	return given && from != layer.Object || s.Broken(setting)
}

func isOfController(s *settings.Settings, layer *settings.Layer) bool {
	origins := s.Origins()
	return layer.Object == origins[len(origins)-1]
}

// ranks orders the objects of layers: the most specific one is the first.
type ranks map[model.ObjectRef]int

func ranksOf(layers []settings.Layer) ranks {
	of := ranks{}
	for i := range layers {
		if _, known := of[layers[i].Object]; !known {
			of[layers[i].Object] = i
		}
	}
	return of
}

// fixAlong finds the keys by which an Ingress, or a more specific layer, could undo fixed
// values that protect.
func (l *layered) fixAlong(prefix string, of ranks) {
	l.along = map[string]inherited{}
	for _, b := range behaviours {
		for _, doc := range b.Keys {
			v, fixed := l.fixed[doc.Key]
			if !fixed || !doc.Protects && !doc.Closes || v.isOff(doc) {
				continue
			}
			for key := range undoing(b, doc) {
				l.outrank(prefix, key, inherited{layer: v.layer, along: doc.Key, void: true}, of)
			}
		}
	}
}

// outrank fixes a key along with another one, unless a layer that is no more specific fixes it.
// Values of more specific layers have no effect.
func (l *layered) outrank(prefix, key string, along inherited, of ranks) {
	for _, values := range []map[string]inherited{l.fixed, l.defaults} {
		v, given := values[key]
		if !given || of[v.layer.Object] >= of[along.layer.Object] {
			continue
		}
		delete(values, key)
		text := fmt.Sprintf("it could undo %s, which %s fixes: remove it here", FieldOf(prefix+"/", along.along), along.layer)
		l.problems = append(l.problems, inLayer(v.layer, FieldOf("", key), model.Problem{Reason: model.Fixed, Text: text}))
	}
	_, own := l.fixed[key]
	if _, known := l.along[key]; !own && !known {
		l.along[key] = along
	}
}

// satisfied are the behaviours of which satisfy can make one enough.
var satisfied = []string{"deny-list", "allow-list", "basic-auth", "external-auth"}

// undoing yields the keys that could undo a protecting key of a behaviour: other keys of the
// behaviour, unless they only protect more, keys that it needs or that need it, and satisfy.
func undoing(b *behaviour, doc keys.Doc) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, of := range behaviours {
			for _, other := range of.Keys {
				beside := of == b && (!other.Protects || other.Allowed != "")
				needs := slices.Contains(strings.Fields(other.Needs), doc.Key) || slices.Contains(strings.Fields(doc.Needs), other.Key)
				if (beside || needs || other.Key == "satisfy" && slices.Contains(satisfied, b.Name)) && !yield(other.Key) {
					return
				}
			}
		}
	}
}
