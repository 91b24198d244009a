package annotations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// sound reports the mistakes in the annotations of a behaviour. It returns false if the
// behaviour must be left out.
func (r *reader) sound(b Behaviour, faults []keys.Fault, denies bool) bool {
	sound := true
	for _, f := range faults {
		if f.Needs != "" && !f.Protects && !r.catalog.IsOn(f.Needs, r.lookup) {
			r.instead = append(r.instead, f)
			continue // remark reports that it has no effect
		}
		sound = sound && f.Alone
		switch {
		case f.Unsupported != "":
			r.report(f.Key, model.Unsupported, f.Text(), true)
		case f.Alone:
			r.instead = append(r.instead, f)
			r.report(f.Key, model.InvalidValue, f.Text(), false)
		default:
			r.report(f.Key, model.InvalidValue, f.Text(), denies)
		}
	}
	level := r.settings.Annotations.RiskLevel
	for _, doc := range b.Keys {
		name, ok := r.name(&doc)
		if !ok {
			continue
		}
		switch {
		case r.withheld(doc, name):
			sound = false
			r.report(name, model.Unsupported, notAllowed(doc), denies)
		case doc.Allowed == "" && doc.Risk > level:
			sound = false
			r.report(name, model.Unsupported, tooRisky(doc, level), denies)
		}
		r.remark(b.Keys, doc, name)
	}
	return sound
}

func notAllowed(doc keys.Doc) string {
	return fmt.Sprintf("this annotation is followed only where the settings of the controller say %s: \"true\" and annotations-risk-level: %q", doc.Allowed, doc.Risk)
}

func tooRisky(doc keys.Doc, level keys.Risk) string {
	return fmt.Sprintf("the risk of this annotation is %s and the setting annotations-risk-level allows no more than %s", doc.Risk, level)
}

// withheld reports whether a key needs a setting and a risk level that the administrator
// has not set.
func (r *reader) withheld(doc keys.Doc, name string) bool {
	if doc.Allowed == "" || doc.IsOff(r.given[name]) || r.isUnset(&doc) {
		return false
	}
	text, _ := r.settings.Value(doc.Allowed)
	allowed, _ := strconv.ParseBool(text)
	return !allowed || doc.Risk > r.settings.Annotations.RiskLevel
}

// remark reports valid keys that probably do not have the intended effect.
func (r *reader) remark(group []keys.Doc, doc keys.Doc, name string) {
	off := doc.IsOff(r.given[name])
	elsewhere := !doc.Protects && r.isSaidByPath(doc.Needs) // it has an effect at some paths
	needed := r.needed(doc)
	switch alone := doc.Needs != "" && !elsewhere && !r.catalog.IsOn(doc.Needs, r.lookup); {
	case alone && doc.Protects && r.isEmpty(&doc) && r.fields[doc.Key] == "": // emptied reports it
	case alone && off:
		r.report(name, model.NoEffect, "it asks for nothing: remove it", false)
	case alone && doc.Protects && strings.TrimSpace(r.given[name]) != "":
		r.report(name, model.InvalidValue, "want "+needed+" beside it, without which it cannot be done", true)
	case alone && r.closesBeside(group, doc.Key): // emptied reports it: without this key nothing would close
	case alone && r.isSwitchedOff(doc.Needs):
		r.report(name, model.NoEffect, "it has no effect, as "+needed+" asks for nothing", false)
	case alone:
		r.report(name, model.Unread, "it has no effect without "+needed, false)
	}
	for _, alias := range doc.Aliases {
		older, ok := r.given[alias]
		if ok && name == doc.Key && r.given[name] != "" && older != r.given[name] {
			r.report(alias, model.Ambiguous, "it has no effect beside "+r.prefix+name+", which says something else", false)
		}
	}
}

// needed returns the names of the annotations that a key needs.
func (r *reader) needed(doc keys.Doc) string {
	names := strings.Fields(doc.Needs)
	for i := range names {
		names[i] = FieldOf(r.prefix, names[i])
	}
	return model.OneOf(names)
}

// isSwitchedOff reports whether one of several keys has a value. The caller knows that
// none of them is on.
func (r *reader) isSwitchedOff(keys string) bool {
	return slices.ContainsFunc(strings.Fields(keys), func(key string) bool { return strings.TrimSpace(r.given[key]) != "" })
}
