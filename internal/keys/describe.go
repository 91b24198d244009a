package keys

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
)

// Doc describes a key for the reference page, lint and messages.
type Doc struct {
	Key     string
	Aliases []string
	// Names are the key and its aliases.
	Names []string
	// Type is a short name such as "bool" or "size".
	Type string
	// Default is the value if the key is missing. From, if not empty, is the
	// ConfigMap key that provides it.
	Default, From string
	Risk          Risk
	// Valid describes the valid values, as the continuation of "want ".
	Valid string
	// Doc is one sentence.
	Doc string
	// ByLine is set if the value is a list with an item in each line.
	ByLine bool
	// Own is set for an annotation that ingress-nginx does not have: it has a prefix of ours.
	Own bool
	// Needs are other keys, separated by spaces. Unless all of them are set, this key
	// has no effect.
	Needs string
	// Allowed is the setting that has to be true for the key to have an effect.
	Allowed string
	// Protects is set if a path is not served while the value is not valid.
	Protects bool
	// Closes is set if a path is not served while the key is set and cannot be
	// honoured. Unlike Protects, it does not restrict access.
	Closes bool
	// Permits is set for a setting that decides how far authors of Ingresses or clients may
	// go: no older value may stand in for a stricter one. Strictly is set if none may stand
	// in for an invalid value either, unless it is as strict.
	Permits, Strictly bool
	// Off are the values that turn the key off.
	Off []string
	// Undone are the values of ingress-nginx that Sluice does not support yet.
	Undone []string
	// Secret is set if the value must not be shown.
	Secret bool
	// Withholds is set if the object is left out while the value is not valid, because it
	// is meant for few requests and would get all.
	Withholds bool
	// EmptyIsOff is set if an empty value also turns the key off; EmptyIsUnset if an empty
	// value counts as missing.
	EmptyIsOff, EmptyIsUnset bool
	// Field is the tagged field.
	Field reflect.StructField
}

// IsOff reports whether a value turns the key off. A number can be written in several
// ways.
func (d Doc) IsOff(text string) bool {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil && d.Type == "int" {
		text = strconv.Itoa(n)
	}
	return text == "" && d.EmptyIsOff || isOneOf(text, d.Off)
}

func isOneOf(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, text) })
}

// Describe lists the keys of a tagged struct (or a pointer to one) in the
// order of its fields.
func Describe(t any) []Doc {
	typ := reflect.TypeOf(t)
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	var docs []Doc
	for _, f := range fieldsOf(typ) {
		docs = append(docs, f.Doc)
	}
	return docs
}

// want describes the valid values of a type under the rules of a validate tag.
func want(t reflect.Type, validate string) string {
	rules, each := SplitRules(validate)
	text := wantType(t, rules)
	if of := wantEach(each); of != "" {
		text += ", each " + of
	}
	return text
}

// SplitRules separates the rules of the value from those of its elements.
func SplitRules(validate string) (whole, each map[string]string) {
	whole, each = map[string]string{}, map[string]string{}
	into := whole
	for rule := range strings.SplitSeq(validate, ",") {
		name, param, _ := strings.Cut(rule, "=")
		if name == "dive" {
			into = each
			continue
		}
		into[name] = param
	}
	return whole, each
}

// wholeNumber is the description that a tag unit extends.
const wholeNumber = "a whole number"

func wantType(t reflect.Type, rules map[string]string) string {
	if text := wantEach(rules); text != "" {
		return text
	}
	text := kindOf(t).valid
	if most, ok := rules["max"]; ok && t.Kind() == reflect.String && !isNumeric(t) {
		return text + " of at most " + most + " characters"
	}
	if t.Kind() == reflect.Slice {
		return text // tooLong reports the maximum length
	}
	return text + bounds(t, rules)
}

// wantEach describes the valid values of a list of words or of a rule of our own.
func wantEach(rules map[string]string) string {
	for _, name := range []string{"oneof", "oneofci"} {
		if param, ok := rules[name]; ok {
			return oneOf(param)
		}
	}
	for _, r := range textRules {
		if _, ok := rules[r.name]; ok {
			return r.valid
		}
	}
	return ""
}

func bounds(t reflect.Type, rules map[string]string) string {
	if rules["ne"] == "0" {
		return ", above 0"
	}
	least, hasLeast := rules["min"]
	most, hasMost := rules["max"]
	least, most = bound(t, least), bound(t, most)
	comma := ""
	if hasUnit(t) {
		comma = "," // after the examples
	}
	switch {
	case hasLeast && hasMost:
		return fmt.Sprintf("%s from %s to %s", comma, least, most)
	case hasLeast:
		return comma + " of at least " + least
	case hasMost:
		return comma + " of at most " + most
	}
	return ""
}

// oneOf turns "on off" into `"on" or "off"`.
func oneOf(param string) string {
	words := strings.Fields(param)
	for i, w := range words {
		words[i] = strconv.Quote(w)
	}
	return model.OneOf(words)
}

// isNumeric reports whether min and max of a string type limit a number, and not a length.
func isNumeric(t reflect.Type) bool {
	return t == reflect.TypeFor[Optional[int]]() || hasUnit(t)
}

// hasUnit reports whether a type is a number with a unit.
func hasUnit(t reflect.Type) bool {
	return t == reflect.TypeFor[Size]() || t == reflect.TypeFor[Duration]()
}

// bound returns a limit of a rule as users write it, with its unit.
func bound(t reflect.Type, param string) string {
	n, err := strconv.ParseInt(param, 10, 64)
	switch {
	case err != nil:
		return param
	case t == reflect.TypeFor[Duration]():
		return param + "s"
	case t != reflect.TypeFor[Size]():
		return param
	case n > 0 && n%(1<<30) == 0:
		return strconv.FormatInt(n>>30, 10) + "g"
	}
	return string(SizeOf(n))
}
