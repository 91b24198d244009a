// Package policy reads the annotations of an Ingress. In go the object and the
// settings, out come the typed behaviours it switches on, the blocks they
// print, and a Problem for each annotation that cannot be followed.
//
// There are two kinds of behaviour. A decorating one prints directives:
// package render executes the templates of its name with its data. A shaping
// one changes hosts, paths or backends: package translate reads it with Of.
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
// and, where the struct is new, one line of the table in all.go. The template
// gets the struct with every field that says the same as the ConfigMap of the
// controller set to its zero value, as nginx inherits that from the http level; an
// Ingress that changes nothing prints nothing. A struct that prints something else has a
// method Print.
//
// A behaviour with a value that is not valid is left out whole, unless the value
// stands alone (the tag alone): that key has its default then. If the behaviour
// protects or closes (a field has the tag protects or closes), Denied tells that no
// path of the Ingress may be served. A near miss of the name of such a field does
// the same.
package policy

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// Policies is what the annotations of one Ingress say.
type Policies struct {
	values   []any
	leftOut  []any // the values of behaviours that were left out for a bad value
	blocks   []model.Block
	problems []model.Problem
	protects []string
	denied   bool
	withheld bool
}

// Blocks are what the decorating behaviours print, in the order of All.
func (p *Policies) Blocks() []model.Block { return p.blocks }

// Problems are what is wrong with the annotations, sorted. Field is the whole
// name of the annotation.
func (p *Policies) Problems() []model.Problem { return p.problems }

// Denied is true if something that protects the paths of the Ingress is not
// valid or not supported: every path must answer 503.
func (p *Policies) Denied() bool { return p.denied }

// Withheld is true if the Ingress is meant for few requests by an annotation
// that is not supported, and would get all of them: nothing of it is served.
func (p *Policies) Withheld() bool { return p.withheld }

// Protects are the names of what protects, whether it is in force or only
// asked for: behaviours, and annotations that are not supported.
func (p *Policies) Protects() []string { return p.protects }

// Of gives one behaviour by its type. One that was left out has the values
// that it has without annotations.
func Of[T any](p *Policies) T {
	for _, v := range p.values {
		if t, ok := v.(T); ok {
			return t
		}
	}
	var none T
	return none
}

// LeftOut is true for a behaviour that was asked for with a bad value.
func LeftOut[T any](p *Policies) bool {
	return slices.ContainsFunc(p.leftOut, func(v any) bool { _, ok := v.(T); return ok })
}

// Read gives the policies of an Ingress. The settings are those of its class. The
// prefix of its annotations is without the slash. The Ingress and the settings are not changed.
func Read(ing *networkingv1.Ingress, s *settings.Settings, prefix string) *Policies {
	r := newReader(ing, s, prefix)
	for _, b := range all {
		b.read(r, b.Behaviour)
	}
	r.unread()
	r.policies.problems = model.SortProblems(r.policies.problems)
	return r.policies
}

func newReader(ing *networkingv1.Ingress, s *settings.Settings, prefix string) *reader {
	r := &reader{
		object:   model.ObjectRef{Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name},
		prefix:   prefix + "/",
		given:    map[string]string{},
		instead:  map[string]keys.Fault{},
		astray:   map[string]string{},
		settings: s,
		policies: &Policies{values: make([]any, 0, len(all)), denied: s.Denies()},
	}
	for key, value := range ing.Annotations {
		if name, ok := strings.CutPrefix(key, r.prefix); ok {
			r.given[name] = value
		} else if isAstray(key, r.prefix) {
			r.astray[key] = value
		}
	}
	return r
}

// reader is the state of one Read.
type reader struct {
	object   model.ObjectRef
	prefix   string
	given    map[string]string // by the name without the prefix
	astray   map[string]string // by the whole key, where its prefix is a near miss
	settings *settings.Settings
	policies *Policies
	unsound  []string // names of the behaviours that were left out whole
	// instead are the faults that cost no more than their key, by its name.
	instead map[string]keys.Fault
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

func (r *reader) report(key string, reason model.Reason, text string, denies bool) {
	r.reportField(r.prefix+key, reason, text, denies)
}

func (r *reader) reportField(field string, reason model.Reason, text string, denies bool) {
	r.policies.denied = r.policies.denied || denies
	r.policies.problems = append(r.policies.problems, model.Problem{Object: r.object, Field: field, Reason: reason, Text: text, Denies: denies})
}
