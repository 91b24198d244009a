package annotations

import (
	"fmt"
	"strings"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// inherit gives an Ingress the annotations in the layers of its settings.
func (r *reader) inherit() {
	l := layersOf(r.settings, strings.TrimSuffix(r.prefix, "/"))
	r.general.protects = append(r.general.protects, l.protects...)
	r.denied = r.denied || l.denied
	if len(l.fixed)+len(l.defaults) == 0 {
		return
	}
	r.inherited, r.resets = map[string]inherited{}, map[string]bool{}
	for _, b := range behaviours {
		for _, doc := range b.Keys {
			v, fixed := l.fixed[doc.Key]
			if along, ok := l.along[doc.Key]; ok {
				r.fix(doc.Key, along)
			}
			if fixed {
				r.fix(doc.Key, v)
			} else {
				v = l.defaults[doc.Key]
			}
			switch _, own := r.name(&doc); {
			case v.layer == nil || v.void:
			case own:
				r.resets[doc.Key] = r.isEmpty(&doc)
			default:
				r.given[doc.Key], r.inherited[doc.Key] = v.value, v
			}
		}
	}
}

// fix takes a fixed annotation from an Ingress, and its lines for single paths. It reports
// other values than the fixed one.
func (r *reader) fix(key string, v inherited) {
	for _, name := range docOf[key].Names {
		if own, given := r.given[name]; given {
			delete(r.given, name)
			if strings.TrimSpace(own) != v.value {
				closes := r.catalog.Closes(name, own)
				r.refuseChange(change{FieldOf(r.prefix, name), name, own, closes}, v)
			}
		}
		r.fixPaths(name, v)
	}
}

// fixPaths is fix for the lines for single paths.
func (r *reader) fixPaths(name string, v inherited) {
	if r.byPath == nil {
		return
	}
	text, given := r.byPath.given[name]
	if !given {
		return
	}
	delete(r.byPath.given, name)
	for _, line := range linesOf(text) {
		if _, own, whole := r.byPath.split(line); !whole || own != v.value {
			r.refuseChange(change{PathsPrefix + name, name, line, r.protectsAs(name)}, v)
			return
		}
	}
}

// change is an annotation of an Ingress for a fixed key. closes is set if it protects.
type change struct {
	field, name, value string
	closes             bool
}

// refuseChange reports a change. If the Ingress would be open without it, or get all requests,
// it is closed or left out.
func (r *reader) refuseChange(c change, v inherited) {
	text := fmt.Sprintf("want %s, as %s fixes it (got %s): remove it here", model.Quoted(v.value), v.layer, model.Quoted(c.value))
	switch {
	case v.along != "":
		text = fmt.Sprintf("it could undo %s, which %s fixes: remove it here", FieldOf(r.prefix, v.along), v.layer)
	case v.told && v.void:
		text = fmt.Sprintf("%s fixes it, to a value that is not valid (got %s): remove it here", v.layer, model.Quoted(c.value))
	case v.value == "":
		text = fmt.Sprintf("%s allows no value (got %s): remove it here", v.layer, model.Quoted(c.value))
	}
	without := v.isOff(docOf[c.name])
	if without && r.catalog.Withholds(c.name, c.value) {
		text = r.withhold(text)
	}
	denies := without && c.closes
	if denies {
		r.general.protects, r.general.denied = append(r.general.protects, r.protection(c.name)), true
	}
	r.problem(c.field, model.Fixed, text, denies)
}

// inheritedAt returns the layer with the value of a key, false if it is that of the Ingress.
func (r *reader) inheritedAt(key string) (inherited, bool) {
	v, ok := r.inherited[key]
	return v, ok && r.fields[key] == ""
}

// reportInherited reports a mistake with an inherited value: for the layer, unless it is one
// only beside annotations of the Ingress. A value that is not needed is none.
func (r *reader) reportInherited(key string, v inherited, p model.Problem) {
	r.denied = r.denied || p.Denies
	switch idle := p.Reason == model.NoEffect || p.Reason == model.Unread; {
	case v.told, idle && !p.Denies:
	case r.isWhollyInherited(key):
		r.of.problems = append(r.of.problems, inLayer(v.layer, FieldOf("", key), p))
	default:
		r.problem(FieldOf(r.prefix, key), p.Reason, p.Text+" (the value is from "+v.layer.String()+")", p.Denies)
	}
}

// isWhollyInherited reports whether all given keys of the behaviour of a key are inherited.
func (r *reader) isWhollyInherited(key string) bool {
	for _, doc := range behaviourOf[key].Keys {
		name, given := r.name(&doc)
		if _, from := r.inheritedAt(name); given && !from {
			return false
		}
	}
	return true
}

// inLayer returns a Problem with an annotation in a layer. name is the annotation as it is
// written there.
func inLayer(layer *settings.Layer, name string, p model.Problem) model.Problem {
	p.Object, p.Field, p.Text = layer.Object, layer.Field, name+": "+p.Text
	return p
}

// Inherited returns a Problem with an annotation as one with the layer that gives it; p itself
// if the Ingress gives it.
func (a *Annotations) Inherited(key string, p model.Problem) model.Problem {
	if v, ok := a.inherited[key]; ok && a.fields[key] == "" {
		return inLayer(v.layer, FieldOf("", key), p)
	}
	return p
}

// InheritedSize returns the size of the inherited values.
func (a *Annotations) InheritedSize() int {
	size := 0
	for _, v := range a.inherited {
		size += len(v.value)
	}
	return size
}
