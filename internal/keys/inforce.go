package keys

import (
	"reflect"
	"slices"
	"strings"
)

// InForce is a key with the text that holds.
type InForce struct {
	Doc
	// Text is trimmed; it is the default where nothing is written.
	Text string
	// Name is the name under which it is written, maybe an alias; empty for a
	// default.
	Name string
}

// Values lists the keys of a tagged struct with the texts that hold: what is
// written, and else the default. What is written must be valid, as where Decode
// found no Fault.
func Values(t any, lookup, defaults Lookup) []InForce {
	var values []InForce
	for _, f := range fieldsOf(reflect.Indirect(reflect.ValueOf(t)).Type()) {
		v := InForce{Doc: f.Doc}
		v.Name, v.Text = f.inForce(lookup, defaults)
		values = append(values, v)
	}
	return values
}

// Texts gives for every key of a tagged struct the trimmed text in force: what
// is written, or what Decode took instead where nothing is or where faults, which
// it returned for the same lookup, name the key.
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

// inForce is the trimmed text that is written and the name under which it is, or the
// default without a name.
func (f *field) inForce(lookup, defaults Lookup) (name, text string) {
	name, written, ok := f.find(lookup)
	if text = strings.TrimSpace(written); ok && (text != "" || f.empty != emptyUnset) {
		return name, text
	}
	return "", f.defaultText(defaults)
}
