package settings

import (
	"reflect"

	"sluice/internal/keys"
)

// Group is settings that belong together: a field of Settings.
type Group struct {
	// Name is also that of its type.
	Name string
	Keys []keys.Doc
}

// Groups lists the groups in the order of the fields of Settings.
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

// Unsupported lists the keys of ingress-nginx that no field reads, by name.
func Unsupported() []keys.Unsupported {
	list := make([]keys.Unsupported, len(known))
	for i, k := range known {
		list[i] = keys.Unsupported{Key: k.name, Fate: k.fate(), Off: []string{""}}
		if k.off != "" {
			list[i].Off = append(list[i].Off, k.off)
		}
	}
	return list
}

func (k knownKey) fate() keys.Fate {
	switch {
	case k.idle:
		return keys.Idle
	case k.protects:
		return keys.Denied
	}
	return keys.Reported
}
