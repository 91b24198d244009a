package annotations

import (
	"reflect"
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/templates"
)

// Kind is the kind of a behaviour.
type Kind string

// The kinds of behaviour.
const (
	Decorating Kind = "decorating" // prints a block
	Shaping    Kind = "shaping"    // is read by translate or assemble
)

// Behaviour is a feature that annotations turn on.
type Behaviour struct {
	// Name is also the name of its templates.
	Name string
	Kind Kind
	// Protects is set if paths are not served while it is invalid.
	Protects bool
	// Answers is set if it has a template for the context "answer": it answers some
	// requests itself, before the redirect to HTTPS.
	Answers bool
	// Redirected is set if it has a template for the context "redirect": its block also
	// applies to redirects to HTTPS and to the sign-in page.
	Redirected bool
	// Scope is "host" or "Ingress" if it applies to a whole one; empty if it can differ by
	// path.
	Scope string
	// Keys are its annotations, without the prefix.
	Keys []keys.Doc
	// single is the reason why several Ingresses cannot get it from one place, "" for none.
	single string
}

// behaviour is a Behaviour with its group.
type behaviour struct {
	Behaviour
	// index is the index of its field in Annotations; group is the type of its struct.
	index int
	group reflect.Type
	// together is set if the group is an inheritor. switchKey is that of a switched one, "" for
	// others.
	together  bool
	switchKey string
}

// behavioursOf returns the behaviours of the fields of Annotations.
func behavioursOf(t reflect.Type) []*behaviour {
	var list []*behaviour
	for i := range t.NumField() {
		field := t.Field(i)
		name := field.Tag.Get("behaviour")
		if name == "" {
			continue
		}
		b := &behaviour{Behaviour: Behaviour{Name: name, Kind: Decorating, Scope: field.Tag.Get("scope"), single: field.Tag.Get("single")}, index: i, group: field.Type.Elem()}
		if field.Tag.Get("kind") == string(Shaping) {
			b.Kind = Shaping
		}
		_, b.together = reflect.New(b.group).Interface().(inheritor)
		if s, ok := reflect.New(b.group).Interface().(switched); ok {
			b.switchKey = s.switchKey()
		}
		b.Keys = keys.Describe(reflect.New(b.group).Interface())
		b.Protects = slices.ContainsFunc(b.Keys, func(d keys.Doc) bool { return d.Protects })
		b.Answers, b.Redirected = printed[name+"/answer"], printed[name+"/redirect"]
		list = append(list, b)
	}
	return list
}

// withholds reports whether the Ingress must not be served without the behaviour, because
// it would get requests of others.
func (b *behaviour) withholds() bool {
	return slices.ContainsFunc(b.Keys, func(d keys.Doc) bool { return d.Withholds })
}

// HasBlock reports whether a behaviour has a template for locations.
func HasBlock(name string) bool { return printed[name+"/location"] || printed[name+"/redirect"] }

// BlockOf returns a block of an object. The contexts of its templates determine its
// properties.
func BlockOf(object model.ObjectRef, name string, data any) model.Block {
	return model.Block{Name: name, Data: data, Answers: printed[name+"/answer"], Redirected: printed[name+"/redirect"], Source: object}
}

// printed are the names of all templates.
var printed = templates.Names()

// of returns the group of the behaviour, a pointer to a struct.
func (b *behaviour) of(a *Annotations) reflect.Value { return reflect.ValueOf(a).Elem().Field(b.index) }

// Place is the place of a block.
type Place struct {
	// Object is the Ingress. Path is empty if the block is for all its paths.
	Object model.ObjectRef
	Path   string
	// Settings are those of the controller, which apply at http level.
	Settings *settings.Settings
}

// printer is a decorating behaviour whose block has other data than the group.
type printer interface {
	// Print returns the data of the block, nil for no block.
	Print(Place) any
}

// placer is a decorating behaviour that sets properties of its block by its value.
type placer interface{ place(*model.Block) }

// mender is a behaviour that reports and changes values that are invalid together.
type mender interface {
	// mend gets to know which keys are given. A Fault of another one is ignored: its
	// value is that of the settings.
	mend(given func(key string) bool) []keys.Fault
}

// leaver is a behaviour that records that it was left out for an invalid value.
type leaver interface{ leaveOut() }

// defaultsOf returns the annotations of an Ingress that has none. All Ingresses share its
// groups.
func defaultsOf(s *settings.Settings) *Annotations {
	return s.Once(reflect.TypeFor[Annotations](), func(s *settings.Settings) any {
		a := &Annotations{ofObject: &ofObject{}}
		for _, b := range behaviours {
			group := reflect.New(b.group)
			keys.Decode(group.Interface(), nothing, newReader(Source{}, s, "").defaults(group))
			b.of(a).Set(group)
		}
		return a
	}).(*Annotations)
}

// inheritor is a behaviour whose settings hold all together or not at all.
type inheritor interface {
	// inherits reports whether they hold. ofBoth reports whether an annotation also counts
	// then.
	inherits(r *reader) bool
	ofBoth(key string) bool
}

// nothing is a lookup that finds no key.
func nothing(string) (string, bool) { return "", false }

// defaults returns the lookup of the settings for a behaviour.
func (r *reader) defaults(group reflect.Value) keys.Lookup {
	if i, ok := group.Interface().(inheritor); ok && !i.inherits(r) {
		return nothing
	}
	return r.settings.Value
}

// annotated returns the lookup of the annotations for a behaviour.
func (r *reader) annotated(group reflect.Value) keys.Lookup {
	if i, ok := group.Interface().(inheritor); ok && i.inherits(r) {
		return func(key string) (string, bool) {
			if !i.ofBoth(key) {
				return "", false
			}
			return r.lookup(key)
		}
	}
	return r.lookup
}

// outcome is the result of a behaviour.
type outcome struct {
	// group points to the struct. data is that of its block, nil for no block.
	group reflect.Value
	data  any
	// protects is set if the behaviour protects the paths, denied if they must return 503.
	protects, denied bool
	// emptied is set if a key without a value closes them.
	emptied bool
}

// read decodes a behaviour. If it must be left out, the result has its defaults.
func (r *reader) read(b *behaviour) outcome {
	r.denied = false
	group := b.of(defaultsOf(r.settings))
	denies, protects := r.denies(b)
	emptied := r.emptied(b)
	if emptied {
		denies, protects = true, true
	}
	switch given := r.hasAny(b.Keys); {
	case given && r.isTurnedOff(b):
		group = r.turnOff(b)
	case given:
		group = r.decode(b, denies)
	}
	return outcome{group: group, data: r.data(b, group), protects: protects, denied: r.denied, emptied: emptied}
}

// decode returns the group of a behaviour with a given key.
func (r *reader) decode(b *behaviour, denies bool) reflect.Value {
	group := reflect.New(b.group)
	faults := append(keys.Decode(group.Interface(), r.annotated(group), r.defaults(group)), r.mend(group.Interface())...)
	if r.sound(b.Behaviour, faults, denies) {
		return group
	}
	r.unsound = append(r.unsound, b.Name)
	group.Elem().Set(b.of(defaultsOf(r.settings)).Elem())
	if leaver, ok := group.Interface().(leaver); ok && len(faults) > 0 {
		leaver.leaveOut()
	}
	r.of.withheld = r.of.withheld || b.withholds()
	return group
}

// mend reports the values of a group that are invalid together.
func (r *reader) mend(group any) []keys.Fault {
	m, ok := group.(mender)
	if !ok {
		return nil
	}
	given := func(key string) bool {
		_, ok := r.lookup(key)
		return ok
	}
	return slices.DeleteFunc(m.mend(given), func(f keys.Fault) bool { return !given(f.Key) })
}

// assemble combines the results of all behaviours.
func (r *reader) assemble(base *Annotations, outcomes []outcome) *Annotations {
	a := *base
	a.ofObject, a.fields, a.inherited, a.blocks, a.protects, a.emptied, a.denied = r.of, r.fields, r.inherited, nil, nil, nil, r.general.denied
	for i, b := range behaviours {
		o := &outcomes[i]
		b.of(&a).Set(o.group)
		if o.protects {
			a.protects = append(a.protects, b.Name)
		}
		if o.emptied {
			a.emptied = append(a.emptied, b.Name)
		}
		a.denied = a.denied || o.denied
		if o.data != nil {
			block := BlockOf(r.object, b.Name, o.data)
			if p, ok := o.group.Interface().(placer); ok {
				p.place(&block)
			}
			a.blocks = append(a.blocks, block)
		}
	}
	a.protects = append(a.protects, r.general.protects...)
	a.leftOut = r.unsound
	return &a
}

// switched is a behaviour that one key turns off, whatever its other keys say.
type switched interface{ switchKey() string }

// isTurnedOff reports whether the switch of a behaviour is off. The setting turns it off only
// for Ingresses without any key of it.
func (r *reader) isTurnedOff(b *behaviour) bool {
	if b.switchKey == "" {
		return false
	}
	doc := b.Keys[slices.IndexFunc(b.Keys, func(d keys.Doc) bool { return d.Key == b.switchKey })]
	if text := strings.TrimSpace(r.given[doc.Key]); text != "" {
		return doc.IsOff(text)
	}
	value, _ := r.settings.Value(doc.From)
	return doc.IsOff(value) && !r.settings.Broken(doc.From) && !r.hasAny(b.Keys)
}

// turnOff returns the group of a behaviour that is off, and reports its other keys.
func (r *reader) turnOff(b *behaviour) reflect.Value {
	for _, doc := range b.Keys {
		if name, ok := r.name(&doc); ok && doc.Key != b.switchKey {
			r.report(name, model.NoEffect, "it has no effect, as "+FieldOf(r.prefix, b.switchKey)+" asks for nothing", false)
		}
	}
	return reflect.New(b.group)
}

// denies reports whether the paths must return 503 if the behaviour cannot be honoured,
// and whether it protects them. If the default of a protecting key is invalid, it denies
// the paths.
func (r *reader) denies(b *behaviour) (denies, protects bool) {
	if r.isTurnedOff(b) {
		return false, false
	}
	inherits, closes := true, false
	if b.together {
		inherits = reflect.New(b.group).Interface().(inheritor).inherits(r)
	}
	for i := range b.Keys {
		doc := &b.Keys[i]
		if name, ok := r.name(doc); ok && !(b.together && inherits) {
			asked := !doc.IsOff(r.given[name]) && !r.isUnset(doc)
			protects, closes = protects || doc.Protects && asked, closes || doc.Closes && asked
			if !r.isUnset(doc) {
				continue
			}
		}
		protects = inherits && r.inherits(doc) || protects
	}
	return protects || closes, protects
}

// isUnset reports whether a key has no value, and an empty value counts as missing.
func (r *reader) isUnset(doc *keys.Doc) bool {
	return doc.EmptyIsUnset && r.isEmpty(doc)
}

// inherits reports whether the key protects by its default in the settings.
func (r *reader) inherits(doc *keys.Doc) bool {
	if r.settings.Broken(doc.From) {
		r.denied = true
		return doc.Protects
	}
	if !doc.Protects {
		return false
	}
	value, ok := r.settings.Value(doc.From)
	return ok && value != "" && !doc.IsOff(value)
}

// data returns the data of the block of a behaviour: the fields that differ from the
// settings of the controller, nil for none.
func (r *reader) data(b *behaviour, group reflect.Value) any {
	if b.Kind == Shaping {
		return nil
	}
	controller := r.settings.Controller()
	if p, ok := group.Interface().(printer); ok {
		return p.Print(Place{Object: r.object, Path: r.path, Settings: controller})
	}
	if !r.hasAny(b.Keys) && r.settings == controller {
		return nil
	}
	return changed(group.Elem().Interface(), b.of(defaultsOf(controller)).Elem().Interface())
}

// changed returns a copy of a struct in which the fields that equal those of inherited
// have their zero value; nil if all do.
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
