package explain

import (
	"reflect"

	"sluice/internal/model"
)

// mostShown limits the length of a text; a Problem has the same limit.
const mostShown = 1500

// fit makes v safe to show, whatever users wrote: each text in it becomes one short
// printable line, and no list is null.
func fit(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fit(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fit(v.Field(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fit(v.Index(i))
		}
	case reflect.String:
		v.SetString(model.OneLine(v.String(), mostShown))
	}
}
