package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// Kind says what becomes of a behaviour.
type Kind string

// The kinds of behaviour.
const (
	Decorating Kind = "decorating" // prints a block
	Shaping    Kind = "shaping"    // is read by translate
)

// Behaviour is a thing that users switch on with annotations.
type Behaviour struct {
	// Name is also the name of its templates.
	Name string
	Kind Kind
	// Protects is set if paths are not served while it is not valid.
	Protects bool
	// Answers is set if what it prints in a location answers some requests by
	// itself. They are answered before plain HTTP is redirected to HTTPS.
	Answers bool
	// Redirected is set if what it prints is meant for the redirect to HTTPS too.
	Redirected bool
	// Keys are its annotations, without the prefix.
	Keys []keys.Doc
}

// behaviour is a Behaviour with its way of reading one Ingress.
type behaviour struct {
	Behaviour
	read func(*reader, Behaviour)
	// values are its keys with the texts in force.
	values func(lookup, defaults keys.Lookup) []keys.InForce
}

// printer is a decorating behaviour that does not print itself as it is.
type printer interface {
	// Print gives the data of its block, nil to print none. s are the settings of
	// the controller, which nginx.conf says once for all.
	Print(s *settings.Settings) any
}

// decorating makes a behaviour of a tagged struct that prints a block.
func decorating[T any](name string) behaviour {
	b := define[T](name, Decorating)
	b.read = func(r *reader, b Behaviour) {
		v := read[T](r, b)
		if data := r.data(b, v, defaults[T](r.settings.Controller())); data != nil {
			r.policies.blocks = append(r.policies.blocks, model.Block{Name: b.Name, Data: data, Answers: b.Answers, Redirected: b.Redirected, Source: r.object})
		}
	}
	return b
}

// answering makes a decorating behaviour that answers some requests by itself.
func answering[T any](name string) behaviour {
	b := decorating[T](name)
	b.Answers = true
	return b
}

// redirected makes a decorating behaviour that is meant for the redirect to
// HTTPS too.
func redirected[T any](name string) behaviour {
	b := decorating[T](name)
	b.Redirected = true
	return b
}

// shaping makes a behaviour of a tagged struct that translate reads.
func shaping[T any](name string) behaviour {
	b := define[T](name, Shaping)
	b.read = func(r *reader, b Behaviour) { read[T](r, b) }
	return b
}

func define[T any](name string, kind Kind) behaviour {
	var t T
	docs := keys.Describe(t)
	protects := slices.ContainsFunc(docs, func(d keys.Doc) bool { return d.Protects })
	return behaviour{
		Behaviour: Behaviour{Name: name, Kind: kind, Protects: protects, Keys: docs},
		values:    func(lookup, defaults keys.Lookup) []keys.InForce { return keys.Values(t, lookup, defaults) },
	}
}

// defaults is what a behaviour is without annotations. It is the same for all
// Ingresses, most of which have none of its annotations.
func defaults[T any](s *settings.Settings) T {
	return s.Once(reflect.TypeFor[T](), func(s *settings.Settings) any {
		var t T
		keys.Decode(&t, func(string) (string, bool) { return "", false }, s.Value)
		return t
	}).(T)
}

// read decodes one behaviour, remembers and returns it. If it must be left
// out, that is its defaults.
func read[T any](r *reader, b Behaviour) T {
	denies := r.denies(b)
	var t T
	sound := true
	if r.hasAny(b.Keys) {
		faults := keys.Decode(&t, r.lookup, r.settings.Value)
		if sound = r.sound(b, faults, denies); !sound && len(faults) > 0 {
			r.policies.leftOut = append(r.policies.leftOut, t)
		}
	} else {
		t = defaults[T](r.settings)
	}
	if !sound {
		t = defaults[T](r.settings)
		r.unsound = append(r.unsound, b.Name)
	}
	r.policies.values = append(r.policies.values, t)
	return t
}

// sound reports what is wrong with the annotations of a behaviour; false if it
// must be left out.
func (r *reader) sound(b Behaviour, faults []keys.Fault, denies bool) bool {
	sound := true
	for _, f := range faults {
		if f.Needs != "" && !f.Protects && !r.catalog.IsOn(f.Needs, r.lookup) {
			r.instead[f.Key] = f
			continue // remark says that it has no effect
		}
		sound = sound && f.Alone
		switch {
		case f.Undone:
			r.report(f.Key, model.Unsupported, f.Text(), true)
		case f.Alone:
			r.instead[f.Key] = f
			r.report(f.Key, model.InvalidValue, f.Text(), false)
		default:
			r.report(f.Key, model.InvalidValue, f.Text(), denies)
		}
	}
	level := r.settings.Annotations.RiskLevel
	for _, doc := range b.Keys {
		name, ok := r.name(doc)
		if !ok {
			continue
		}
		if doc.Risk > level {
			sound = false
			r.report(name, model.Unsupported, fmt.Sprintf("the risk of this annotation is %s and the setting annotations-risk-level allows no more than %s", doc.Risk, level), denies)
		}
		r.remark(doc, name)
	}
	return sound
}

// remark reports what is valid but not as it may have been meant.
func (r *reader) remark(doc keys.Doc, name string) {
	off := doc.IsOff(r.given[name])
	needed, written := r.given[doc.Needs]
	switch alone := doc.Needs != "" && !r.catalog.IsOn(doc.Needs, r.lookup); {
	case alone && off:
		r.report(name, model.NoEffect, "it asks for nothing: remove it", false)
	case alone && doc.Protects && strings.TrimSpace(r.given[name]) != "":
		r.report(name, model.InvalidValue, "want "+r.prefix+doc.Needs+" beside it, without which it cannot be done", true)
	case alone && written && strings.TrimSpace(needed) != "":
		r.report(name, model.NoEffect, "it has no effect, as "+r.prefix+doc.Needs+" asks for nothing", false)
	case alone:
		r.report(name, model.Unread, "it has no effect without "+r.prefix+doc.Needs, false)
	}
	for _, alias := range doc.Aliases {
		older, ok := r.given[alias]
		if ok && name == doc.Key && r.given[name] != "" && older != r.given[name] {
			r.report(alias, model.Ambiguous, "it has no effect beside "+r.prefix+name+", which says something else", false)
		}
	}
}

// denies is true if the Ingress is denied where a behaviour cannot be followed: it
// protects, and is in force or asked for, or what it asks for is not to be done by
// halves. If the default of what protects is broken, the Ingress is denied.
func (r *reader) denies(b Behaviour) bool {
	protects, closes := false, false
	for _, doc := range b.Keys {
		if name, ok := r.name(doc); ok {
			asked := !doc.IsOff(r.given[name])
			protects, closes = protects || doc.Protects && asked, closes || doc.Closes && asked
			continue
		}
		protects = r.inherits(doc) || protects
	}
	if protects {
		r.policies.protects = append(r.policies.protects, b.Name)
	}
	return protects || closes
}

// inherits is true if the settings ask for what protects.
func (r *reader) inherits(doc keys.Doc) bool {
	if (doc.Protects || doc.Closes) && r.settings.Broken(doc.From) {
		r.policies.denied = true
		return doc.Protects
	}
	if !doc.Protects {
		return false
	}
	value, ok := r.settings.Value(doc.From)
	return ok && value != ""
}

// data is what the block of a behaviour prints: only what differs from what the
// settings of the controller say once for all, nil for nothing.
func (r *reader) data(b Behaviour, v, inherited any) any {
	if p, ok := v.(printer); ok {
		return p.Print(r.settings.Controller())
	}
	if !r.hasAny(b.Keys) && r.settings == r.settings.Controller() {
		return nil
	}
	return changed(v, inherited)
}

// changed gives a copy of a struct in which each field that equals that of
// inherited has its zero value; nil if all do.
func changed(v, inherited any) any {
	same := reflect.ValueOf(inherited)
	out := reflect.New(same.Type()).Elem()
	out.Set(reflect.ValueOf(v))
	for i := range out.NumField() {
		if reflect.DeepEqual(out.Field(i).Interface(), same.Field(i).Interface()) {
			out.Field(i).SetZero()
		}
	}
	if out.IsZero() {
		return nil
	}
	return out.Interface()
}
