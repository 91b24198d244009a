package annotations

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// emptied reports the protecting keys of a behaviour that are written without a value. It
// reports whether paths must be closed because an annotation beside such a key says that a
// protection was meant. Templates print empty values, so one alone asks for nothing.
func (r *reader) emptied(b *behaviour) (closes bool) {
	for i := range b.Keys {
		doc := &b.Keys[i]
		name, given := r.name(doc)
		if !given || !doc.Protects || !r.isEmpty(doc) || !doc.EmptyIsUnset && !doc.EmptyIsOff {
			continue
		}
		refines := doc.Needs != "" && r.catalog.IsOn(doc.Needs, r.lookup) // another key is there, and told if it lacks this one
		if refines || r.resets[doc.Key] || r.hasOfSettings(b, doc) {
			continue
		}
		beside := r.meantBeside(doc)
		switch {
		case beside != "":
			closes = true
			r.report(name, model.InvalidValue, "want a value, as "+r.field(beside)+" is beside it (got \"\")", true)
		case r.fields[doc.Key] == "" && doc.Allowed == "": // without text, a snippet asks for nothing
			r.report(name, model.Unread, "it is empty and protects nothing: write its value, or remove it", false)
		}
	}
	return closes
}

// closesBeside reports whether a key is one of those beside which a key of the same behaviour
// that has no value closes paths.
func (r *reader) closesBeside(group []keys.Doc, key string) bool {
	return slices.ContainsFunc(group, func(empty keys.Doc) bool {
		_, given := r.name(&empty)
		isCompanion := func(doc *keys.Doc) bool { return doc.Key == key }
		return given && r.isEmpty(&empty) && slices.ContainsFunc(companions[empty.Key], isCompanion) && r.meantBeside(&empty) != ""
	})
}

// hasOfSettings reports whether a key has a value of the settings that protects.
func (r *reader) hasOfSettings(b *behaviour, doc *keys.Doc) bool {
	if b.together && !reflect.New(b.group).Interface().(inheritor).inherits(r) {
		return false
	}
	value, _ := r.settings.Value(doc.From)
	return r.settings.Broken(doc.From) || value != "" && !doc.IsOff(value)
}

// isEmpty reports whether no name of a key has a value.
func (r *reader) isEmpty(doc *keys.Doc) bool {
	return !slices.ContainsFunc(doc.Names, func(name string) bool { return strings.TrimSpace(r.given[name]) != "" })
}

// meantBeside returns an annotation that makes sense only beside a key that is empty, "" for
// none. Those of layers, or of the whole Ingress for a single path, say nothing about it: an
// empty value switches them off.
func (r *reader) meantBeside(empty *keys.Doc) string {
	for _, doc := range companions[empty.Key] {
		name, given := r.name(doc)
		_, ofLayer := r.inheritedAt(name)
		if !given || ofLayer || r.fields[empty.Key] != "" && r.fields[name] == "" || !r.says(doc, name) {
			continue
		}
		if !r.hasOtherNeed(doc, empty.Key) {
			return name
		}
	}
	return ""
}

// says reports whether a value is neither off nor the default, which templates print.
func (r *reader) says(doc *keys.Doc, name string) bool {
	text := strings.TrimSpace(r.given[name])
	if text == "" || doc.IsOff(text) {
		return false
	}
	if value, err := strconv.ParseBool(text); err == nil && doc.Type == "bool" {
		text = strconv.FormatBool(value)
	}
	return doc.Protects || text != doc.Default && text != doc.Field.Tag.Get("usual")
}

// hasOtherNeed reports whether a key has an effect without the empty one.
func (r *reader) hasOtherNeed(doc *keys.Doc, empty string) bool {
	return slices.ContainsFunc(strings.Fields(doc.Needs), func(need string) bool {
		return need != empty && r.catalog.IsOn(need, r.lookup)
	})
}

// companions are, by protecting key, the other keys that need it or that need what it needs,
// and the keys that need one of these.
var companions = companionsOf(behaviours)

func companionsOf(behaviours []*behaviour) map[string][]*keys.Doc {
	var docs []*keys.Doc
	for _, b := range behaviours {
		for i := range b.Keys {
			docs = append(docs, &b.Keys[i])
		}
	}
	all := map[string][]*keys.Doc{}
	for _, doc := range docs {
		if doc.Protects {
			all[doc.Key] = needing(docs, append(strings.Fields(doc.Needs), doc.Key), doc)
		}
	}
	return all
}

// needing returns the keys other than one that need one of some keys, or one that does.
func needing(docs []*keys.Doc, of []string, but *keys.Doc) []*keys.Doc {
	var found []*keys.Doc
	for i := 0; i < len(of); i++ {
		for _, doc := range docs {
			if slices.Contains(strings.Fields(doc.Needs), of[i]) && doc != but && !slices.Contains(found, doc) {
				found, of = append(found, doc), append(of, doc.Key)
			}
		}
	}
	return found
}
