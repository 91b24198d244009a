package keys

import "reflect"

// Withdraw sets the field of a key as an invalid value would, and describes the value
// in force instead; "" if that is the default, or if no field has the key.
func Withdraw(dst any, key string) (instead string) {
	value := reflect.ValueOf(dst).Elem()
	for _, f := range fieldsOf(value.Type()) {
		if f.Key == key && f.zeroIfInvalid {
			value.FieldByIndex(f.index).SetZero()
			return f.instead
		}
	}
	return ""
}

// Override sets the fields of the struct that dst points to for which lookup finds a valid
// value, and returns their values in force. It keeps the other fields. Faults are as with
// Decode.
func Override(dst any, lookup Lookup) (changed []InForce, faults []Fault) {
	value := reflect.ValueOf(dst).Elem()
	for _, f := range fieldsOf(value.Type()) {
		if _, _, ok := f.written(lookup); !ok {
			continue
		}
		said := reflect.New(value.FieldByIndex(f.index).Type()).Elem()
		if fault := f.decode(said, lookup, nil); fault != nil {
			faults = append(faults, *fault)
			if !fault.Zero {
				continue
			}
		}
		value.FieldByIndex(f.index).Set(said)
		changed = append(changed, f.inForce(lookup, nil, faults))
	}
	return changed, faults
}
