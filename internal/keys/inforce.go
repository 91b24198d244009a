package keys

import (
	"reflect"
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
		name, written, ok := f.find(lookup)
		if v.Text = strings.TrimSpace(written); ok && (v.Text != "" || f.empty != emptyUnset) {
			v.Name = name
		} else {
			v.Text = f.defaultText(defaults)
		}
		values = append(values, v)
	}
	return values
}
