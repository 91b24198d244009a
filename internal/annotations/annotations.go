// Package annotations reads the annotations of an Ingress. In go the object and the
// settings, out comes one struct of typed groups, a group for each behaviour, with the
// blocks that they print and a Problem for each annotation that cannot be followed.
//
// There are two kinds of behaviour. A decorating one prints directives:
// package render executes the templates of its name with its data. A shaping
// one changes hosts, paths or backends: packages translate and assemble read its group.
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
// and, where the struct is new, one field of Annotations in all.go. The template
// gets the struct with every field that says the same as the ConfigMap of the
// controller set to its zero value, as nginx inherits that from the http level; an
// Ingress that changes nothing prints nothing. A field of which 0 or false can be said
// is a keys.Optional, as it would be taken for one that changes nothing. A struct that prints something else has a
// method Print.
//
// A behaviour with a value that is not valid is left out whole, unless the value
// stands alone (the tag alone): that key has its default then. If the behaviour
// protects or closes (a field has the tag protects or closes), Denied tells that no
// path of the Ingress may be served. A near miss of the name of such a field does
// the same.
package annotations

import (
	"iter"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// Read gives what the annotations of an Ingress say. The settings are those of its
// class. The prefix of its annotations is without the slash. The Ingress and the
// settings are not changed.
func Read(ing *networkingv1.Ingress, s *settings.Settings, prefix string) *Annotations {
	return Of(sourceOf(ing), s, prefix)
}

// Source is an object with annotations.
type Source struct {
	Object model.ObjectRef
	// Given are all its annotations, by their keys.
	Given map[string]string
	// Paths are those that it has rules for, as they are written.
	Paths iter.Seq[string]
}

func sourceOf(ing *networkingv1.Ingress) Source {
	return Source{model.ObjectRef{Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name}, ing.Annotations, pathsOf(ing)}
}

// Of is Read for the annotations of any object.
func Of(source Source, s *settings.Settings, prefix string) *Annotations {
	r := newReader(source, s, prefix)
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
	catalog  *keys.Catalog     // what is known of their names
	given    map[string]string // by the name without the prefix
	astray   map[string]astray // by the whole key, where its prefix is a near miss
	settings *settings.Settings
	of       *ofObject
	unsound  []string // names of the behaviours that were left out whole
	// instead are the faults that cost no more than their key.
	instead []keys.Fault
	// denied is set by whatever denies; general is what holds beside all behaviours.
	denied  bool
	general outcome
	// byPath is nil for an Ingress that says nothing of single paths. Path is set in a
	// reader of one: fields are the whole names of what is written for it, by key.
	byPath *byPath
	path   string
	fields map[string]string
}

// isPlain is true if nothing was found that only this Ingress has.
func (r *reader) isPlain(a *Annotations) bool {
	return len(r.given) == 0 && len(r.of.problems)+len(r.of.paths)+len(a.blocks) == 0 && !a.Guards()
}

func (r *reader) lookup(key string) (string, bool) {
	value, ok := r.given[key]
	return value, ok
}

// hasAny is true if one of the keys of a behaviour is written.
func (r *reader) hasAny(docs []keys.Doc) bool {
	for _, doc := range docs {
		if _, ok := r.name(doc); ok {
			return true
		}
	}
	return false
}

// name is the name under which a key is written: itself or an alias.
func (r *reader) name(doc keys.Doc) (string, bool) {
	if _, ok := r.given[doc.Key]; ok {
		return doc.Key, true
	}
	for _, alias := range doc.Aliases {
		if _, ok := r.given[alias]; ok {
			return alias, true
		}
	}
	return "", false
}

// field is the whole name of an annotation.
func (r *reader) field(key string) string {
	if own := r.fields[key]; own != "" {
		return own
	}
	return r.prefix + key
}

func (r *reader) report(key string, reason model.Reason, text string, denies bool) {
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
	r.of.problems = append(r.of.problems, model.Problem{Object: r.object, Field: field, Reason: reason, Text: text, Denies: denies})
}
