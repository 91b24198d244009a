package settings

import (
	"reflect"

	"sluice/internal/keys"
)

// Group describes a field of Settings.
type Group struct {
	// Name is the name of its type.
	Name string
	Keys []keys.Doc
}

// Groups returns the groups in the order of the fields of Settings.
func Groups() []Group {
	var groups []Group
	all := reflect.TypeFor[Settings]()
	for i := range all.NumField() {
		if field := all.Field(i); field.IsExported() {
			groups = append(groups, Group{Name: field.Type.Name(), Keys: keys.Describe(reflect.Zero(field.Type).Interface())})
		}
	}
	return groups
}
