package decode

import (
	"strconv"
	"strings"
	"unicode"

	"sluice/internal/model"
)

// fault is an error about a field, within an object or a part of one.
type fault struct{ field, text string }

// wrong returns a fault that contains the value: `want a port (got "x")`.
func wrong(field, want, got string) fault {
	return fault{field, "want " + want + " (got " + model.Quoted(got) + ")"}
}

// missing returns a fault of a missing field.
func missing(field, want string) fault {
	return fault{field, "want " + want + " (got nothing)"}
}

// within adds the field of the whole to the faults of a part.
func within(field string, faults []fault) []fault {
	for i := range faults {
		faults[i].field = join(field, faults[i].field)
	}
	return faults
}

// item is within for an element of a list.
func item(field string, i int, faults []fault) []fault {
	if len(faults) == 0 {
		return nil
	}
	return within(field+"["+strconv.Itoa(i)+"]", faults)
}

func join(field, sub string) string {
	switch {
	case field == "":
		return sub
	case sub == "" || sub[0] == '[':
		return field + sub
	}
	return field + "." + sub
}

// entry returns the path of an entry of a map.
func entry(field, key string) string {
	const longest = 120
	if len(key) > longest || strings.ContainsFunc(key, unprintable) {
		key = model.Quoted(key)
	}
	return field + "[" + key + "]"
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
