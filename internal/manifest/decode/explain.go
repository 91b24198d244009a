package decode

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sluice/internal/model"
)

// maxFaults limits the errors about one object.
const maxFaults = 10

// explainer finds the fields of a JSON object that do not fit a Go type. The JSON
// decoder names one of them at most, without the index of a list. explainer runs only
// after decoding has failed.
type explainer struct {
	faults []fault
	// secret is set if no fault may contain a value.
	secret bool
}

// value checks raw, a value for a t.
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
		fields := fieldsOf(t)
		e.members(field, raw, func(key string) (path string, of reflect.Type) {
			if of = fields[key]; of == nil {
				e.add(unknownPath(field, key), "want "+model.OneOf(slices.Sorted(maps.Keys(fields)))+" (got "+model.Quoted(key)+", which is not a field)")
			}
			return join(field, key), of
		})
	case t.Kind() == reflect.Map:
		e.members(field, raw, func(key string) (path string, of reflect.Type) { return entry(field, key), t.Elem() })
	case t.Kind() == reflect.Slice:
		e.list(field, raw, t)
	default:
		e.leaf(field, raw, t)
	}
}

func (e *explainer) add(field, text string) { e.faults = append(e.faults, fault{field, text}) }

// members checks the members of an object. of returns the path and the type of one; the
// type is nil for a member that it has reported itself.
func (e *explainer) members(field string, raw []byte, of func(key string) (path string, t reflect.Type)) {
	seen := map[string]bool{}
	ok := eachMember(raw, func(key string, value []byte) {
		path, t := of(key)
		switch {
		case t == nil:
		case seen[key]:
			e.add(path, "want it once (got it again)")
		default:
			e.value(path, value, t)
		}
		seen[key] = true
	})
	if !ok {
		e.add(field, "want an object (got "+e.describe(raw)+")")
	}
}

// unknownPath returns a readable path for a key that is no field.
func unknownPath(field, key string) string {
	if key == "" || strings.ContainsFunc(key, unprintable) || len(key) > 120 {
		return join(field, "["+model.Quoted(key)+"]")
	}
	return join(field, key)
}

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

// leaf checks a value without parts.
func (e *explainer) leaf(field string, raw []byte, t reflect.Type) {
	if err := json.Unmarshal(raw, reflect.New(t).Interface()); err != nil {
		e.add(field, "want "+wanted(t, raw)+" (got "+e.describe(raw)+")")
	}
}

// describe returns a value for a message: the value itself if it is short and no secret.
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
		return model.Quoted(text)
	}
	if e.secret {
		return "a number or a boolean"
	}
	return string(raw[:min(len(raw), 40)])
}

// eachMember calls visit for each member of a JSON object, in order and with
// repetitions. It reports whether raw is an object.
func eachMember(raw []byte, visit func(key string, value []byte)) bool {
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

// fieldsOf returns the types of the fields of a struct by their JSON names.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			maps.Copy(fields, fieldsOf(f.Type))
		case tag != "" && tag != "-":
			fields[tag] = f.Type
		}
	}
	return fields
}

// ranges are the ranges of whole numbers, if they are small enough to exceed.
var ranges = map[reflect.Kind]string{reflect.Int32: " from -2147483648 to 2147483647"}

// wanted describes the values of a type.
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
