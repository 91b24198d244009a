package annotations

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// layerReader reads the lines of a layer.
type layerReader struct {
	*reader
	values map[string]inherited // by key
}

// readLayer reads a layer, and reports its mistakes. s are the settings of the Ingresses.
func readLayer(s *settings.Settings, prefix string, layer *settings.Layer) *layerReader {
	r := &layerReader{newReader(Source{Object: layer.Object}, s, prefix), map[string]inherited{}}
	r.layer, r.denied = layer, false
	for _, text := range linesOf(layer.Text) {
		if !strings.HasPrefix(text, "#") {
			r.addLine(text)
		}
	}
	r.unread()
	for _, b := range behaviours {
		if r.hasAny(b.Keys) {
			r.judge(b)
		}
	}
	return r
}

// addLine adds a line "annotation: value". The name is without prefix, or whole.
func (r *layerReader) addLine(text string) {
	written, value, whole := cutLine(text)
	field := written
	if !strings.Contains(field, "/") {
		field = r.prefix + field
	}
	name, ours := KeyOf(r.prefix, field)
	given, twice := r.given[name]
	switch before := len(r.given) + len(r.astray); {
	case strings.HasPrefix(field, PathsPrefix):
		r.refuseLine(strings.TrimPrefix(field, PathsPrefix), "want an annotation for whole Ingresses (got "+model.Quoted(text)+")")
	case strings.ContainsFunc(text, isLineEnd):
		r.refuse("want lines without control characters (got "+model.Quoted(text)+")", true)
	case strings.ContainsFunc(written, isOddInName):
		r.refuse(`want lines of "annotation: value", without quotes, brackets or dashes before it (got `+model.Quoted(text)+")", true)
	case !whole:
		r.refuseLine(name, `want lines of "annotation: value" (got `+model.Quoted(text)+")")
	case twice && docOf[name].ByLine:
		r.given[name] = given + "\n" + value
	case ours && r.hasAny([]keys.Doc{docOf[name]}):
		r.refuseLine(name, fmt.Sprintf("want one line for %s (got two)", model.Quoted(written)))
	default:
		if r.place(field, value); before == len(r.given)+len(r.astray) {
			r.refuseLine(name[strings.LastIndexByte(name, '/')+1:], "nothing reads the annotation "+model.Quoted(written)+" here")
		}
	}
}

// cutLine splits a line. whole is false if no ": " follows the name.
func cutLine(text string) (name, value string, whole bool) {
	name, rest, colon := strings.Cut(text, ":")
	if !colon {
		name, _, _ = strings.Cut(text, " ")
	}
	return strings.TrimSpace(name), strings.TrimSpace(rest), colon && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// refuseLine reports a line that cannot be followed. If it should protect, all Ingresses are
// denied.
func (r *layerReader) refuseLine(name, text string) {
	protects := r.protectsAs(name)
	if protects {
		r.general.protects = append(r.general.protects, r.protection(name))
	}
	r.refuse(text, protects)
}

func (r *layerReader) refuse(text string, denies bool) {
	r.denied = r.denied || denies
	r.of.problems = append(r.of.problems, model.Problem{Object: r.layer.Object, Field: r.layer.Field, Reason: model.InvalidValue, Text: text, Denies: denies})
}

// isLineEnd reports whether a character ends a line for other programs than Go, so that what
// follows may be meant as another annotation.
func isLineEnd(c rune) bool {
	return unicode.IsControl(c) && c != '\t' || c == '\u2028' || c == '\u2029'
}

// isOddInName reports whether no name of an annotation has this character, as in JSON, where
// nobody can tell what a line should protect.
func isOddInName(c rune) bool {
	return c != '-' && c != '_' && c != '.' && c != '/' && (c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c))
}

// judge takes the values of a behaviour, and reports those that are not valid. If one of them
// protects, Ingresses get the invalid values too, and are closed by them.
func (r *layerReader) judge(b *behaviour) {
	protects := func(doc keys.Doc) bool {
		name, given := r.name(&doc)
		return given && r.catalog.Closes(name, r.given[name])
	}
	defer func(denied bool) { r.denied = denied }(r.denied) // only those with the values are closed
	closes, told, kept := slices.ContainsFunc(b.Keys, protects), map[string]bool{}, map[string]bool{}
	refuse := func(key string, reason model.Reason, text string, denies bool) {
		told[key], kept[key] = true, denies
		r.report(key, reason, text, denies)
	}
	for _, f := range keys.Decode(reflect.New(b.group).Interface(), r.lookup, nothing) {
		if b.single != "" || r.given[f.Key] == "" {
			continue // it has a Problem of its own, or no value
		}
		reason := model.InvalidValue
		if f.Unsupported != "" {
			reason = model.Unsupported
		}
		refuse(f.Key, reason, f.Text(), closes && !f.Alone)
	}
	for _, doc := range b.Keys {
		name, given := r.name(&doc)
		if !given {
			continue
		}
		void := r.given[name] == ""
		if text := r.unfit(b, doc); text != "" && !void {
			if forbids := r.layer.Fixed && doc.IsOff(r.given[name]); forbids {
				void = true
			} else {
				refuse(name, model.Unsupported, text, closes)
			}
		}
		r.values[doc.Key] = inherited{value: r.given[name], layer: r.layer, void: void || told[name] && !kept[name], told: told[name]}
	}
}

// unfit returns the reason why Ingresses cannot get an annotation from a layer, "" for none.
func (r *layerReader) unfit(b *behaviour, doc keys.Doc) string {
	name, _ := r.name(&doc)
	switch {
	case b.single != "":
		return "it cannot be given to several Ingresses: " + b.single
	case r.withheld(doc, name):
		return notAllowed(doc)
	case doc.Allowed == "" && doc.Risk > r.settings.Annotations.RiskLevel:
		return tooRisky(doc, r.settings.Annotations.RiskLevel)
	}
	return ""
}
