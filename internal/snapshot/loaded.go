package snapshot

import (
	"fmt"

	"sluice/internal/model"
)

// Loaded is what a source of objects says now.
type Loaded struct {
	// Objects are in an order that changes little from one time to the next. An
	// object that did not change is the same pointer as before.
	Objects Objects
	// Notes say what was passed over.
	Notes []Note
	// Errors say, one line each, what is wrong now: *DecodeError for what does
	// not decode, others for what does not read. What they are about goes on as
	// it was before.
	Errors []error
	// Files is the number of files that were looked at.
	Files int
	// ClassesUnreadable is set if IngressClasses must not be read, so that nothing
	// is known of them.
	ClassesUnreadable bool
}

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
