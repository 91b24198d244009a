// Package annotations reads the annotations of an Ingress. It takes the object and the
// settings. It returns a struct with a typed group for each behaviour, the blocks that
// they print, and a Problem for each annotation that cannot be honoured.
//
// There are two kinds of behaviour. A decorating one prints directives: package render
// executes the templates of its name with its data. A shaping one changes hosts, paths or
// backends: packages translate and assemble read its group.
//
// A decorating annotation is one field with its tags, one template block and
// one golden case. In proxy.go:
//
//	type Timeouts struct {
//		Read int `key:"proxy-read-timeout" from:"proxy-read-timeout" risk:"low" validate:"min=1" doc:"Seconds between two reads."`
//	}
//
// in templates/behaviour/timeouts.tmpl:
//
//	{{ define "timeouts/location" }}{{ with .Read }}
//	proxy_read_timeout {{ . }}s;
//	{{- end }}{{ end }}
//
// and, if the struct is new, one field of Annotations in all.go. Fields that equal the
// ConfigMap of the controller have their zero value in the template, because nginx inherits
// them from the http level. An Ingress that changes nothing prints nothing. A field that
// can be set to 0 or false is a keys.Optional, because the zero value means unchanged. A
// struct that prints something else has a method Print.
//
// A key with an invalid value gets its default. Keys without which the rest would open
// something or mean something else have the tag costs:"all", and those that protect or close
// have it without being told: their behaviour is left out as a whole. If a key of the behaviour has the tag protects or closes, Denied
// reports that the paths must not be served. A misspelled name of such a key has the same
// effect.
package annotations

import (
	"iter"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// Read returns the annotations of an Ingress. s are the settings of its class. prefix is
// the prefix of the annotations, without the slash. Read modifies neither.
func Read(ing *networkingv1.Ingress, s *settings.Settings, prefix string) *Annotations {
	return Of(sourceOf(ing), s, prefix)
}

// Source is an object with annotations.
type Source struct {
	Object model.ObjectRef
	// Given are all its annotations by key.
	Given map[string]string
	// Paths are the paths of its rules, as written.
	Paths iter.Seq[string]
}

func sourceOf(ing *networkingv1.Ingress) Source {
	return Source{model.ObjectRef{Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name}, ing.Annotations, pathsOf(ing)}
}

// Of is Read for the annotations of any object.
func Of(source Source, s *settings.Settings, prefix string) *Annotations {
	r := newReader(source, s, prefix)
	r.inherit()
	r.readLines()
	r.unread()
	r.general.denied = r.general.denied || r.denied
	outcomes := make([]outcome, len(behaviours))
	for i, b := range behaviours {
		outcomes[i] = r.read(b)
	}
	a := r.assemble(defaultsOf(s), outcomes)
	r.readPaths(a, outcomes)
	if r.isPlain(a) {
		return defaultsOf(s)
	}
	r.of.problems = model.SortProblems(r.of.problems)
	return a
}

func newReader(source Source, s *settings.Settings, prefix string) *reader {
	r := &reader{
		object:   source.Object,
		prefix:   prefix + "/",
		catalog:  catalog,
		given:    map[string]string{},
		astray:   map[string]astray{},
		settings: s,
		of:       &ofObject{},
		denied:   s.Denies(),
		byPath:   newByPath(source),
		paths:    source.Paths,
	}
	for key, value := range source.Given {
		r.place(key, value)
	}
	return r
}

// reader is the state of one Read.
type reader struct {
	object   model.ObjectRef
	prefix   string
	catalog  *keys.Catalog
	given    map[string]string // by name without the prefix
	astray   map[string]astray // by whole key, if its prefix is a near miss
	settings *settings.Settings
	// inherited are the values of given that come from layers, by key. layer is set in the
	// reader of a layer.
	inherited map[string]inherited
	layer     *settings.Layer
	// resets are the keys that an Ingress empties although a layer gives them a value.
	resets  map[string]bool
	of      *ofObject
	unsound []string // the names of behaviours that were left out
	// instead are the faults that affect only their key.
	instead []keys.Fault
	// denied is set if a Problem denies the paths. general are the results that belong to
	// no behaviour.
	denied  bool
	general struct {
		protects []string
		denied   bool
	}
	// byPath is nil if the Ingress has no annotations for single paths. In the reader of
	// one path, path is set, and fields are the annotations for that path by key.
	byPath *byPath
	path   string
	fields map[string]string
	// paths are the paths of the rules.
	paths iter.Seq[string]
}

// isPlain reports whether the result is that of an Ingress without annotations.
func (r *reader) isPlain(a *Annotations) bool {
	return len(r.given) == 0 && len(r.of.problems)+len(r.of.paths)+len(a.blocks) == 0 && !a.Guards()
}

func (r *reader) lookup(key string) (string, bool) {
	value, ok := r.given[key]
	return value, ok
}

// hasAny reports whether any of the keys is given.
func (r *reader) hasAny(docs []keys.Doc) bool {
	for i := range docs {
		if _, ok := r.name(&docs[i]); ok {
			return true
		}
	}
	return false
}

// name returns the name under which a key is given, which can be an alias. It takes a
// pointer because a Doc is large, and each Ingress asks for all of them.
func (r *reader) name(doc *keys.Doc) (string, bool) {
	for _, name := range doc.Names {
		if _, ok := r.given[name]; ok {
			return name, true
		}
	}
	return "", false
}

// field returns the whole name of an annotation.
func (r *reader) field(key string) string {
	if own := r.fields[key]; own != "" {
		return own
	}
	return FieldOf(r.prefix, key)
}

func (r *reader) report(key string, reason model.Reason, text string, denies bool) {
	if v, ok := r.inheritedAt(key); ok {
		r.reportInherited(key, v, model.Problem{Reason: reason, Text: text, Denies: denies})
		return
	}
	if r.fields[key] != "" {
		text = forPath(r.path, text)
	}
	r.reportField(r.field(key), reason, text, denies)
}

func (r *reader) reportField(field string, reason model.Reason, text string, denies bool) {
	r.denied = r.denied || denies
	r.problem(field, reason, text, denies)
}

func (r *reader) problem(field string, reason model.Reason, text string, denies bool) {
	p := model.Problem{Object: r.object, Field: field, Reason: reason, Text: text, Denies: denies}
	if r.layer != nil {
		p = inLayer(r.layer, strings.TrimPrefix(field, r.prefix), p)
	}
	r.of.problems = append(r.of.problems, p)
}
