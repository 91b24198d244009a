// Package keys reads string keys, annotations and ConfigMap entries alike, into
// tagged structs. In go the texts that users wrote; out come typed values and a
// Fault for each text that is not valid. The same tags give the documentation.
//
//	type Timeouts struct {
//		Read int `key:"proxy-read-timeout" from:"proxy-read-timeout" risk:"low" validate:"min=1" doc:"Seconds between two reads."`
//	}
//	var t Timeouts
//	faults := keys.Decode(&t, lookup, defaults)
//
// The tags of a field:
//
//	key       the name users write
//	alias     older names, separated by commas; read where key is absent or empty
//	default   the value where nobody wrote one
//	from      the ConfigMap key that gives the default
//	risk      low, medium, high or critical
//	validate  rules of go-playground/validator and the ones of rules.go
//	empty     what a value that is present but empty means: unset (as if absent;
//	          the default), zero (the zero value) or invalid (a Fault)
//	invalid   what a value that is not valid leaves: default (nothing said) or
//	          zero, where the default would open what the value was to close
//	alone     "true" where a value that is not valid costs nothing but this key,
//	          which has its default then
//	off       the texts, separated by spaces, by which nothing is asked for; in any
//	          case they count as the first of them
//	instead   a sentence, without its end, on what holds instead of a value that is
//	          not valid, where users would not guess it
//	unit      what a whole number counts, such as seconds
//	undone    words, separated by spaces, that ingress-nginx takes and Sluice does
//	          not yet
//	needs     other keys, separated by spaces, without all of which this one has no
//	          effect
//	allowed   the setting that has to be true for it to be followed
//	protects  "true" where a path must not be served if the value is not valid
//	closes    "true" where a path must not be served if this is asked for and
//	          cannot be done, though it keeps nobody out
//	withholds "true" where the object is left out if the value is not valid
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
	"strconv"
	"strings"

	"github.com/go-playground/validator/v10"
)

// Fault is a value that is not valid.
type Fault struct {
	// Key is the name under which the value was found (maybe an alias).
	Key string
	// Value is what was written, untrimmed.
	Value string
	// Want says what would be valid, to follow "want ".
	Want string
	// Needs and Protects are what the field's tags say.
	Needs    string
	Protects bool
	// Empties is set where the value counts as empty now, and not as its default.
	Empties bool
	// Meanwhile says what holds until the value is mended; empty where nobody asks.
	Meanwhile string
	// Undone is set where ingress-nginx takes the value.
	Undone bool
	// Gone is set where ingress-nginx takes the value, and Sluice never will.
	Gone bool
	// Because says what of the value is wrong; empty where that is plain to see.
	Because string
	// Alone is set where the other keys of the struct are followed all the same,
	// Partly where the valid items of the list are, too: Rest.
	Alone, Partly bool
	Rest          string
}

// Lookup finds what is written for a key.
type Lookup func(key string) (value string, ok bool)

// Decode fills the struct that dst points to. It finds values with lookup and,
// for fields with a from tag, defaults with defaults (nil for none). A field
// whose value is not valid gets its default and a Fault. Faults are in the
// order of the fields. The tags themselves are the programmer's: Decode panics
// if one cannot be read.
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
	fault := &Fault{Key: name, Value: raw, Want: f.want, Needs: f.Needs, Protects: f.Protects, Meanwhile: f.meanwhile(defaults), Empties: f.empties, Alone: f.alone, Undone: isOneOf(text, f.Undone), Gone: isOneOf(text, f.gone)}
	var partly *partlyValid
	var because *specific
	switch err := f.setWritten(target, text); {
	case err == nil:
		return nil
	case errors.As(err, &partly):
		fault.Value, fault.Rest, fault.Alone, fault.Partly = partly.bad, partly.rest, true, true
		fault.Meanwhile = "the list is " + cmp.Or(partly.rest, "empty")
	case f.empties:
		target.SetZero()
	default:
		f.setDefault(target, defaults)
		if errors.As(err, &because) {
			fault.Because = because.text
		}
	}
	return fault
}

// specific is the error of a long text of which a part is wrong.
type specific struct{ text string }

func (s *specific) Error() string { return s.text }

// meanwhile says what holds instead of a value that is not valid.
func (f *field) meanwhile(defaults Lookup) string {
	text := f.defaultText(defaults)
	switch {
	case f.instead != "" || !f.alone:
		return f.instead
	case text == "":
		return "it counts as not written"
	}
	return "the default " + Quote(text) + " holds"
}

// setWritten is set for a text of a user. An empty one is not valid here.
func (f *field) setWritten(target reflect.Value, text string) error {
	switch {
	case text == "":
		return errEmpty
	case f.IsOff(text):
		return f.set(target, f.Off[0])
	}
	return f.set(target, text)
}

// partlyValid is the error of a list of which some items are valid: UnmarshalText
// has taken them.
type partlyValid struct{ bad, rest string }

func (p *partlyValid) Error() string { return strconv.Quote(p.bad) + " is not valid" }

// written gives the first of the field's names with a value, else the first that is
// present though empty, if that says anything.
func (f *field) written(lookup Lookup) (name, value string, ok bool) {
	for _, n := range f.names {
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

// setDefault sets what holds where nothing is written. A default that cannot
// be read leaves the zero value; settings has checked and reported its own.
func (f *field) setDefault(target reflect.Value, defaults Lookup) {
	if text := f.defaultText(defaults); text == "" || f.set(target, text) != nil {
		target.SetZero()
	}
}

// defaultText is what holds where nothing is written.
func (f *field) defaultText(defaults Lookup) string {
	if f.From != "" && defaults != nil {
		if v, ok := defaults(f.From); ok {
			return strings.TrimSpace(v)
		}
	}
	return f.Default
}

// set parses a text that is not empty into target and applies the rules. On an
// error target may hold anything.
func (f *field) set(target reflect.Value, text string) error {
	target.SetZero()
	if err := parse(target, text); err != nil {
		return err
	}
	if f.validate == "" {
		return nil
	}
	return tooLong(target, validate.Var(target.Interface(), f.validate))
}

// tooLong says of a list with too many items how many it has; other errors stay.
func tooLong(target reflect.Value, err error) error {
	var faults validator.ValidationErrors
	if errors.As(err, &faults) && faults[0].Tag() == "max" && faults[0].Kind() == reflect.Slice {
		return &specific{fmt.Sprintf("it has %d items, more than %s", target.Len(), faults[0].Param())}
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
	default: // []string; fieldsOf refused every other kind
		items, err := commaList(text)
		target.Set(reflect.ValueOf(items))
		return err
	}
	return nil
}

// printable is false for a text with a control character or broken UTF-8.
func printable(text string) bool {
	for _, r := range text {
		if r < 0x20 || r == 0x7f || r == '\uFFFD' {
			return false
		}
	}
	return true
}
