package decode

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sluice/internal/model"

	"sluice/internal/snapshot"
)

// maxFaults bounds how much is said of one object.
const maxFaults = 10

// explainer finds out which fields of a JSON object do not fit a Go type: the
// JSON decoder names at most one and leaves the indexes out. It only runs where
// decoding failed.
type explainer struct {
	faults []fault
	// secret is set where no value may be told.
	secret bool
}

// value looks at raw, which is to become a t.
func (e *explainer) value(field string, raw []byte, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(e.faults) >= maxFaults || string(raw) == "null" {
		return
	}
	switch {
	case decodesItself(t) || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		e.leaf(field, raw, t)
	case t.Kind() == reflect.Struct:
		e.object(field, raw, t)
	case t.Kind() == reflect.Map:
		e.entries(field, raw, t)
	case t.Kind() == reflect.Slice:
		e.list(field, raw, t)
	default:
		e.leaf(field, raw, t)
	}
}

func (e *explainer) add(field, text string) { e.faults = append(e.faults, fault{field, text}) }

// object looks at the fields of a struct.
func (e *explainer) object(field string, raw []byte, t reflect.Type) {
	seen := map[string]bool{}
	ok := members(raw, func(key string, value []byte) {
		path := join(field, key)
		member, known := fieldByName(t, key)
		switch {
		case !known:
			e.add(unknownPath(field, key), "want "+model.OneOf(fieldNames(t))+" (got "+snapshot.Quoted(key)+", which is not a field)")
		case seen[key]:
			e.add(path, "want it once (got it again)")
		default:
			e.value(path, value, member)
		}
		seen[key] = true
	})
	if !ok {
		e.add(field, "want an object (got "+e.describe(raw)+")")
	}
}

// unknownPath keeps the path of a key that is no field readable.
func unknownPath(field, key string) string {
	if key == "" || strings.ContainsFunc(key, unprintable) || len(key) > 120 {
		return join(field, "["+snapshot.Quoted(key)+"]")
	}
	return join(field, key)
}

// entries looks at the values of a map.
func (e *explainer) entries(field string, raw []byte, t reflect.Type) {
	seen := map[string]bool{}
	ok := members(raw, func(key string, value []byte) {
		if seen[key] {
			e.add(entry(field, key), "want it once (got it again)")
		}
		seen[key] = true
		e.value(entry(field, key), value, t.Elem())
	})
	if !ok {
		e.add(field, "want an object (got "+e.describe(raw)+")")
	}
}

// list looks at the elements of a slice.
func (e *explainer) list(field string, raw []byte, t reflect.Type) {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		e.add(field, "want a list (got "+e.describe(raw)+")")
		return
	}
	for i, element := range elements {
		e.value(fmt.Sprintf("%s[%d]", field, i), element, t.Elem())
	}
}

// leaf tries a value that has no parts.
func (e *explainer) leaf(field string, raw []byte, t reflect.Type) {
	if err := json.Unmarshal(raw, reflect.New(t).Interface()); err != nil {
		e.add(field, "want "+wanted(t, raw)+" (got "+e.describe(raw)+")")
	}
}

// describe tells a value: itself where it is short and no secret.
func (e *explainer) describe(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		var text string
		if e.secret || json.Unmarshal(raw, &text) != nil {
			return "text"
		}
		return snapshot.Quoted(text)
	}
	if e.secret {
		return "a number or a boolean"
	}
	return string(raw[:min(len(raw), 40)])
}

// members calls visit for each member of a JSON object, in order and with
// repetitions. It reports whether raw is an object.
func members(raw []byte, visit func(key string, value []byte)) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return false
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return false
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return false
		}
		visit(key.(string), value)
	}
	return true
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler)
}

// fieldByName finds the type of a struct's field by its JSON name.
func fieldByName(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			if found, ok := fieldByName(f.Type, name); ok {
				return found, true
			}
			continue
		}
		if tag == name && tag != "-" && tag != "" {
			return f.Type, true
		}
	}
	return nil, false
}

// fieldNames gives the JSON names of a struct's fields, sorted.
func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			names = append(names, fieldNames(f.Type)...)
		case tag != "" && tag != "-":
			names = append(names, tag)
		}
	}
	slices.Sort(names)
	return names
}

// ranges bound the numbers that a field can hold.
var ranges = map[reflect.Kind]string{reflect.Int32: " from -2147483648 to 2147483647"}

// wanted says what a type takes.
func wanted(t reflect.Type, raw []byte) string {
	switch t {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return "a time such as 2006-01-02T15:04:05Z"
	case reflect.TypeFor[intstr.IntOrString]():
		return "a whole number up to 2147483647 or a name"
	}
	switch t.Kind() {
	case reflect.String:
		if raw[0] != '{' && raw[0] != '[' {
			return "text: put it in quotes"
		}
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int32, reflect.Int, reflect.Int64:
		if raw[0] == '"' {
			return "a whole number without quotes"
		}
		return "a whole number" + ranges[t.Kind()]
	case reflect.Slice:
		return "text in base64"
	}
	return "a value of type " + t.Name()
}
