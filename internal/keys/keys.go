// Package keys decodes annotations and entries of ConfigMaps into tagged structs. It takes
// the texts of users, and returns typed values and a Fault for each invalid text. The same
// tags document the keys.
//
//	type Timeouts struct {
//		Read int `key:"proxy-read-timeout" from:"proxy-read-timeout" risk:"low" validate:"min=1" doc:"Seconds between two reads."`
//	}
//	var t Timeouts
//	faults := keys.Decode(&t, lookup, defaults)
//
// The tags of a field:
//
//	key       the name of the key
//	alias     older names, separated by commas; read if the key is missing or empty
//	default   the value if the key is missing
//	from      the ConfigMap key that provides the default
//	risk      low, medium, high or critical
//	validate  rules of go-playground/validator and of rules.go
//	empty     the meaning of an empty value: none (the key counts as missing), zero (the
//	          zero value) or invalid (a Fault)
//	invalid   "zero" if an invalid value counts as the zero value instead of the default,
//	          because the default would be less strict
//	costs     what an invalid value costs: "itself" for this key, which gets its default, and
//	          "all" for all keys of the struct. It is all for keys that protect, close or
//	          withhold, and otherwise itself
//	off       the texts, separated by spaces and in any case, that turn the key off; they
//	          count as the first of them
//	instead   the effect of an invalid value, as part of a sentence, if it is not obvious
//	unit      the unit of a whole number, such as seconds
//	undone    values of ingress-nginx, separated by spaces, that Sluice does not support yet
//	gone      values of ingress-nginx, separated by spaces, that Sluice will not support
//	needs     other keys, separated by spaces; without any of them the key has no effect
//	own       "true" for an annotation of ours, with a prefix of its own
//	allowed   the setting that must be true for the key to have an effect
//	protects  "true" if a path must not be served while the value is invalid
//	closes    "true" if a path must not be served while the value cannot be honoured,
//	          although the key does not restrict access
//	withholds "true" if the object is left out while the value is invalid
//	usual     a value that says no more than no value, if there is no default
//	doc       one sentence for the reference page
//
// A struct field without a key tag is a group of such fields.
package keys

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-playground/validator/v10"

	"sluice/internal/model"
)

// Fault is an invalid value.
type Fault struct {
	// Key is the name under which the value was found, which can be an alias.
	Key string
	// Value is the given value, untrimmed.
	Value string
	// Secret is set if Value must not be shown.
	Secret bool
	// Want describes the valid values, as the continuation of "want ".
	Want string
	// Needs, Protects and Closes are tags of the field.
	Needs            string
	Protects, Closes bool
	// Zero is set if the value counts as the zero value, and not as the default.
	Zero bool
	// Meanwhile is the effect until the value is fixed; empty if it is obvious, or if it is
	// just that of the default, which Default tells then.
	Meanwhile, Default string
	// Unsupported says that ingress-nginx accepts the value; empty if it does not.
	Unsupported string
	// Because is the wrong part of the value; empty if it is obvious.
	Because string
	// Alone is set if the fault does not affect the other keys of the struct. Partly is
	// set if it does not affect the valid items of the list either, which are in Rest.
	Alone, Partly bool
	Rest          string
}

// Lookup finds the value of a key.
type Lookup func(key string) (value string, ok bool)

// Decode fills the struct that dst points to. It finds values with lookup and, for fields
// with a from tag, defaults with defaults (nil for none). A field with an invalid value
// gets its default and a Fault. Faults are in the order of the fields. Decode panics if a
// tag is wrong.
func Decode(dst any, lookup, defaults Lookup) []Fault {
	value := reflect.ValueOf(dst).Elem()
	var faults []Fault
	for _, f := range fieldsOf(value.Type()) {
		target := value.FieldByIndex(f.index)
		if fault := f.decode(target, lookup, defaults); fault != nil {
			faults = append(faults, *fault)
		}
	}
	return faults
}

func (f *field) decode(target reflect.Value, lookup, defaults Lookup) *Fault {
	name, raw, ok := f.written(lookup)
	text := strings.TrimSpace(raw)
	switch {
	case !ok:
		f.setDefault(target, defaults)
		return nil
	case text == "" && f.empty == emptyZero:
		target.SetZero()
		return nil
	}
	fault := &Fault{Key: name, Value: raw, Secret: f.Secret, Want: f.Valid, Needs: f.Needs, Protects: f.Protects, Closes: f.Closes, Zero: f.zeroIfInvalid, Meanwhile: f.instead, Default: f.defaultHolds(defaults), Alone: f.costs == costsItself, Unsupported: f.unsupported(text)}
	var partly *partlyValid
	var because *specific
	switch err := f.setWritten(target, text); {
	case err == nil:
		return nil
	case errors.As(err, &partly):
		fault.Value, fault.Rest, fault.Alone, fault.Partly = partly.bad, partly.rest, true, true
		fault.Meanwhile = "the list is " + cmp.Or(partly.rest, "empty")
	case f.zeroIfInvalid:
		target.SetZero()
	default:
		f.setDefault(target, defaults)
		if errors.As(err, &because) {
			fault.Because = because.text
		}
	}
	return fault
}

// unsupported returns the continuation of "this value of ingress-nginx ", "" for values
// that ingress-nginx rejects too.
func (f *field) unsupported(text string) string {
	switch {
	case isOneOf(text, f.Undone):
		return "is not supported yet"
	case isOneOf(text, f.gone):
		return "is gone for good"
	}
	return ""
}

// specific is the error about a part of a long text.
type specific struct{ text string }

func (s *specific) Error() string { return s.text }

// defaultHolds tells that the default holds instead of an invalid value.
func (f *field) defaultHolds(defaults Lookup) string {
	text := f.defaultText(defaults)
	switch {
	case f.costs == costsAll:
		return ""
	case text == "":
		return "it counts as not written"
	}
	return "the default " + model.Quoted(text) + " holds"
}

// setWritten is set for the text of a user, which must not be empty.
func (f *field) setWritten(target reflect.Value, text string) error {
	switch {
	case text == "":
		return errEmpty
	case f.IsOff(text):
		return f.set(target, f.Off[0])
	case secretVariable.MatchString(text):
		return &specific{"the variable of X-Sluice-Debug has a secret"}
	}
	return f.set(target, text)
}

// secretVariable is the variable of the header X-Sluice-Debug. A value with it could hand the
// token to a backend or to another server.
var secretVariable = regexp.MustCompile(`(?i)\$\{?http_x_sluice_debug(?:[^a-z0-9_]|$)`)

// partlyValid is the error about a list with some valid items, which UnmarshalText has
// stored.
type partlyValid struct{ bad, rest string }

func (p *partlyValid) Error() string { return strconv.Quote(p.bad) + " is not valid" }

// written returns the first of the names of the field with a value. If there is none, it
// returns the first name with an empty value, unless an empty value counts as missing.
func (f *field) written(lookup Lookup) (name, value string, ok bool) {
	for _, n := range f.Names {
		v, found := lookup(n)
		if found && strings.TrimSpace(v) != "" {
			return n, v, true
		}
		if found && !ok && f.empty != emptyUnset {
			name, value, ok = n, v, true
		}
	}
	return name, value, ok
}

// setDefault sets the default. An invalid default becomes the zero value; package
// settings reports it.
func (f *field) setDefault(target reflect.Value, defaults Lookup) {
	text := f.defaultText(defaults)
	switch {
	case text == f.Default && f.parsedDefault.IsValid():
		target.Set(f.parsedDefault)
	case text == "" || f.set(target, text) != nil:
		target.SetZero()
	}
}

// defaultText returns the default as text.
func (f *field) defaultText(defaults Lookup) string {
	if f.From != "" && defaults != nil {
		if v, ok := defaults(f.From); ok {
			return strings.TrimSpace(v)
		}
	}
	return f.Default
}

// set parses a text into target and applies the rules. The text must not be empty. After
// an error, target is undefined.
func (f *field) set(target reflect.Value, text string) error {
	target.SetZero()
	var partly *partlyValid
	err := parse(target, text)
	if err != nil && !errors.As(err, &partly) {
		return err
	}
	if (f.Protects || f.Closes) && target.Kind() == reflect.Slice && target.Len() == 0 {
		return errNoItem
	}
	if f.validate != "" {
		if wrong := validate.Var(target.Interface(), f.validate); wrong != nil {
			return explained(target, wrong)
		}
	}
	return err
}

// explained adds to the error of a rule the number of items of a list with too many, or the
// variable that a text may not have; it returns other errors unchanged.
func explained(target reflect.Value, err error) error {
	var faults validator.ValidationErrors
	if !errors.As(err, &faults) {
		return err
	}
	if faults[0].Tag() == "max" && faults[0].Kind() == reflect.Slice {
		return &specific{fmt.Sprintf("it has %d items, more than %s", target.Len(), faults[0].Param())}
	}
	if why := unknownVariable(faults[0].Tag(), fmt.Sprint(faults[0].Value())); why != "" {
		return &specific{why}
	}
	return err
}

var (
	errControl = errors.New("a control character")
	errEmpty   = errors.New("an empty text")
)

func parse(target reflect.Value, text string) error {
	if u, ok := target.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch target.Kind() {
	case reflect.String:
		if !printable(text) {
			return errControl
		}
		target.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		target.SetBool(b)
		return err
	case reflect.Int:
		n, err := strconv.Atoi(text)
		target.SetInt(int64(n))
		return err
	default: // []string; fieldsOf rejects every other kind
		items, err := printableItems(text)
		target.Set(reflect.ValueOf(items))
		return err
	}
	return nil
}

// printable reports whether a text has no control character and no invalid UTF-8.
func printable(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}
