package keys

import (
	"reflect"
	"slices"
	"strings"
)

// InForce is a key with the value in force.
type InForce struct {
	Doc
	// Text is the trimmed value, or the default if the key is missing.
	Text string
	// Name is the name under which the value was found, which can be an alias; empty
	// for a default.
	Name string
}

// Values returns the keys of a tagged struct with the values in force: the given one,
// or else the default. Given values must be valid, that is Decode found no Fault.
func Values(t any, lookup, defaults Lookup) []InForce {
	var values []InForce
	for _, f := range fieldsOf(reflect.Indirect(reflect.ValueOf(t)).Type()) {
		v := InForce{Doc: f.Doc}
		v.Name, v.Text = f.inForce(lookup, defaults)
		values = append(values, v)
	}
	return values
}

// Texts returns the trimmed value in force for every key of a tagged struct: the
// given one, or else the one that Decode used instead because the key is missing or
// in faults. faults are those that Decode returned for the same lookup.
func Texts(t any, lookup Lookup, faults []Fault) map[string]string {
	texts := map[string]string{}
	for _, f := range fieldsOf(reflect.Indirect(reflect.ValueOf(t)).Type()) {
		name, text := f.inForce(lookup, nil)
		switch bad := slices.ContainsFunc(faults, func(fault Fault) bool { return fault.Key == name }); {
		case bad && f.empties:
			text = ""
		case bad:
			text = f.Default
		}
		texts[f.Key] = text
	}
	return texts
}

// inForce returns the trimmed given value and its name, or the default without a
// name.
func (f *field) inForce(lookup, defaults Lookup) (name, text string) {
	name, written, ok := f.find(lookup)
	if text = strings.TrimSpace(written); ok && (text != "" || f.empty != emptyUnset) {
		return name, text
	}
	return "", f.defaultText(defaults)
}
