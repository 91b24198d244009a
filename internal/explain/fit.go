package explain

import (
	"reflect"

	"sluice/internal/model"
)

// mostShown limits the length of a text; a Problem has the same limit.
const mostShown = 1500

// Lines is a text of several lines, which Fit keeps.
type Lines string

// Fit makes v safe to show, whatever users wrote: each text in it becomes one short
// printable line, and no list is null.
func Fit(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			Fit(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			Fit(v.Field(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			Fit(v.Index(i))
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[Lines]() {
			v.SetString(model.Lines(v.String()))
			return
		}
		v.SetString(model.OneLine(v.String(), mostShown))
	}
}
