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

// Values returns the keys of a tagged struct with the texts in force: the given text or
// the default. faults are those of Decode for the same lookup; for their keys the text is
// the one that Decode used.
func Values(t any, lookup, defaults Lookup, faults ...Fault) []InForce {
	var values []InForce
	for _, f := range fieldsOf(reflect.Indirect(reflect.ValueOf(t)).Type()) {
		values = append(values, f.inForce(lookup, defaults, faults))
	}
	return values
}

func (f *field) inForce(lookup, defaults Lookup, faults []Fault) InForce {
	name, raw, ok := f.written(lookup)
	bad := slices.IndexFunc(faults, func(fault Fault) bool { return ok && fault.Key == name })
	switch {
	case ok && bad < 0:
		return InForce{f.Doc, strings.TrimSpace(raw), name}
	case ok && faults[bad].Partly:
		return InForce{f.Doc, faults[bad].Rest, name}
	case ok && f.zeroIfInvalid:
		return InForce{Doc: f.Doc}
	}
	return InForce{Doc: f.Doc, Text: f.defaultText(defaults)}
}
