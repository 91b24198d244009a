package keys

import (
	"reflect"
	"strings"
)

// Withdraw sets the field of a key as an invalid value would, and describes the value
// in force instead; "" if that is the default, or if no field has the key.
func Withdraw(dst any, key string) (instead string) {
	value := reflect.ValueOf(dst).Elem()
	for _, f := range fieldsOf(value.Type()) {
		if f.Key == key && f.empties {
			value.FieldByIndex(f.index).SetZero()
			return f.instead
		}
	}
	return ""
}

// Override sets those fields of the struct that dst points to for which lookup finds
// a valid value, and leaves the others alone. It returns the trimmed new values by
// key. Faults are as for Decode.
func Override(dst any, lookup Lookup) (changed map[string]string, faults []Fault) {
	value := reflect.ValueOf(dst).Elem()
	changed = map[string]string{}
	for _, f := range fieldsOf(value.Type()) {
		_, raw, ok := f.find(lookup)
		text := strings.TrimSpace(raw)
		if !ok || text == "" && f.empty == emptyUnset {
			continue
		}
		said := reflect.New(value.FieldByIndex(f.index).Type()).Elem()
		if fault := f.decode(said, lookup, nil); fault != nil {
			faults = append(faults, *fault)
			if !fault.Empties {
				continue
			}
			text = ""
		}
		value.FieldByIndex(f.index).Set(said)
		changed[f.Key] = text
	}
	return changed, faults
}
