package snapshot

import (
	"fmt"

	"sluice/internal/model"
)

// Loaded is the current content of a source of objects.
type Loaded struct {
	// Objects are in an order that changes little between calls. An unchanged object
	// keeps its pointer.
	Objects Objects
	// Notes are about skipped objects.
	Notes []Note
	// Errors are the current errors, one line each: a *DecodeError for an object that
	// cannot be decoded, others for reads that failed. The affected objects stay as they
	// were.
	Errors []error
	// Files is the number of files in the source.
	Files int
	// ClassesUnreadable is set if there is no permission to read IngressClasses.
	ClassesUnreadable bool
	// Replicas is the number of ready replicas of the controller, 0 if it is not known.
	Replicas int
}

// DecodeError is a mistake in a field of an object in a file, or in a whole document.
type DecodeError struct {
	File string
	// Document is the number of the document in the file, from 1. Documents
	// without content do not count.
	Document int
	// Object is "Ingress shop/web", or as much of it as is known.
	Object string
	// Field is the path of the field; empty for a whole document.
	Field string
	// Text describes the valid values.
	Text string
}

// The maximum length of each part of a line, in bytes.
const (
	mostFile = 1000
	mostPart = 400 // a valid name with its namespace and kind has less
	mostText = 1000
)

// Error returns the error as one line.
func (e *DecodeError) Error() string {
	line := inDocument(e.File, e.Document)
	for _, part := range []string{e.Object, e.Field} {
		if part != "" {
			line += model.OneLine(part, mostPart) + ": "
		}
	}
	return line + model.OneLine(e.Text, mostText)
}

// Note is about a skipped object.
type Note struct {
	File string
	// Document is the number of the document in the file, from 1.
	Document int
	// Object is "Ingress shop/web", or as much of it as is known.
	Object string
	// Field is "apiVersion" or "kind" if only that field is wrong: an earlier version of
	// Kubernetes, or a misspelled kind.
	Field string
	Text  string
	// Arguments are those of the ingress controller in a Deployment or DaemonSet, Sluice
	// or ingress-nginx.
	Arguments []string
	// Folders are those that this controller can write to. IsSluice is set if it is Sluice by
	// its own name, so that it has no others.
	Folders  []Folder
	IsSluice bool
}

// Folder is a folder that a container can write to.
type Folder struct {
	// Path is absolute, and clean as of package path.
	Path string
	// Limit is the number of bytes above which the kubelet ends the pod, 0 for none.
	Limit int64
	// Empty is set if nothing is in it when the container starts.
	Empty bool
}

// String returns the note as one line.
func (n Note) String() string {
	return inDocument(n.File, n.Document) + model.OneLine(n.Text, mostText)
}

// inDocument returns the beginning of a line about a document.
func inDocument(file string, number int) string {
	return fmt.Sprintf("%s: document %d: ", model.OneLine(file, mostFile), number)
}
