package snapshot

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/model"
)

// DecodeError says what is wrong with a field of an object in a file, or with a
// whole document.
type DecodeError struct {
	File string
	// Document is the number of the document in the file, from 1. Documents
	// without content do not count.
	Document int
	// Object is "Ingress shop/web", or as much of it as is known.
	Object string
	// Field is the path of the field; empty for a whole document.
	Field string
	// Text says what would be valid.
	Text string
}

// The most bytes of each part of a line, however long what a user wrote is.
const (
	mostFile = 1000
	mostPart = 400 // a valid name with its namespace and kind has less
	mostText = 1000
)

// Error gives the error as one line.
func (e *DecodeError) Error() string {
	line := inDocument(e.File, e.Document)
	for _, part := range []string{e.Object, e.Field} {
		if part != "" {
			line += model.OneLine(part, mostPart) + ": "
		}
	}
	return line + model.OneLine(e.Text, mostText)
}

// Note says what was passed over.
type Note struct {
	File string
	// Document is the number of the document in the file, from 1.
	Document int
	// Object is "Ingress shop/web", or as much of it as is known.
	Object string
	// Field is "apiVersion" or "kind" where that alone keeps an object from being read:
	// it is of a version that Kubernetes had before, or the kind is written otherwise.
	Field string
	Text  string
	// Arguments are those of the ingress controller that a Deployment or DaemonSet
	// runs, Sluice or ingress-nginx; nothing else of those is read.
	Arguments []string
}

// String gives the note as one line.
func (n Note) String() string {
	return inDocument(n.File, n.Document) + model.OneLine(n.Text, mostText)
}

// inDocument is how a line on a document begins.
func inDocument(file string, number int) string {
	return fmt.Sprintf("%s: document %d: ", model.OneLine(file, mostFile), number)
}

// fault is a field that is wrong, within an object or a part of one.
type fault struct{ field, text string }

// wrong is a fault that tells the value: "want a port (got "x")".
func wrong(field, want, got string) fault {
	return fault{field, "want " + want + " (got " + quoted(got) + ")"}
}

// missing is a fault of a field that is not there.
func missing(field, want string) fault {
	return fault{field, "want " + want + " (got nothing)"}
}

// within puts the faults of a part under the field of the whole. The path is
// only built where there is a fault.
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

// entry is the path of an entry of a map.
func entry(field, key string) string {
	const longest = 120
	if len(key) > longest || strings.ContainsFunc(key, unprintable) {
		key = quoted(key)
	}
	return field + "[" + key + "]"
}

// quoted quotes a value for a message, cut where it is long.
func quoted(value string) string {
	const longest = 80
	if len(value) <= longest {
		return strconv.Quote(value)
	}
	end := longest
	for end > 0 && !utf8.RuneStart(value[end]) {
		end--
	}
	return strconv.Quote(value[:end]) + "..."
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
