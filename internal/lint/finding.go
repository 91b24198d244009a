package lint

import (
	"cmp"
	"fmt"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/translate"
)

// Severity is the weight of a finding.
type Severity string

// The severities, most severe first.
const (
	Error   Severity = "error"   // something is not served as it is written
	Warning Severity = "warning" // it is served, but not as its author may expect
	Note    Severity = "note"    // worth knowing, and nothing is wrong with it
)

// Severities are all severities, most severe first.
var Severities = []Severity{Error, Warning, Note}

// Unreadable is the reason for files that cannot be read or decoded.
const Unreadable model.Reason = "Unreadable"

// Empty is the reason for manifests without a served Ingress.
const Empty model.Reason = "Empty"

// Unwatched is the reason for an Ingress in a namespace that is not watched.
const Unwatched model.Reason = "Unwatched"

// Uncompared is the reason for patterns that take too long to compare.
const Uncompared model.Reason = "Uncompared"

// lighter are the reasons that are not errors.
var lighter = map[model.Reason]Severity{
	model.Unread:         Warning,
	model.Shadowed:       Warning,
	model.Ambiguous:      Warning,
	model.CrossNamespace: Warning,
	translate.Turned:     Warning,
	translate.Rewritten:  Warning,
	translate.Star:       Warning,
	translate.Groupless:  Warning,
	translate.Unslashed:  Warning,
	translate.NearClass:  Warning,
	Unlabelled:           Warning,
	annotations.Foreign:  Note,
	model.NoEffect:       Note,
	translate.OtherClass: Note,
	translate.SharedHost: Note,
	translate.Repeated:   Note,
	ToBeIssued:           Note,
	Uncompared:           Note,
	Unwatched:            Note,
}

// severityOf returns the severity of a Problem. A Problem that closes paths is always
// an error.
func severityOf(p model.Problem) Severity {
	if p.Denies {
		return Error
	}
	return cmp.Or(lighter[p.Reason], Error)
}

// Place is the position of an object in the files.
type Place struct {
	// File is empty if it is not known.
	File string `json:"file,omitempty"`
	// Document is the number of the non-empty document in the file, from 1. Line is
	// its first line.
	Document int `json:"document,omitempty"`
	Line     int `json:"line,omitempty"`
}

// Finding is something about the manifests that a team should know. Each of its texts
// is one printable line.
type Finding struct {
	Severity Severity        `json:"severity"`
	Object   model.ObjectRef `json:"object"`
	Place
	// Field is a field path such as "spec.rules[0].host", or a key.
	Field  string       `json:"field,omitempty"`
	Reason model.Reason `json:"reason"`
	// Text describes the finding and what to do.
	Text string `json:"text"`
}

// String returns the finding in the form of compiler messages: FILE:LINE: SEVERITY:
// OBJECT: FIELD: TEXT [REASON], without unknown parts.
func (f Finding) String() string {
	var line strings.Builder
	if f.File != "" {
		fmt.Fprintf(&line, "%s:%d: ", f.File, max(f.Line, 1))
	}
	fmt.Fprintf(&line, "%s: ", f.Severity)
	for _, part := range []string{strings.TrimSpace(f.Object.String()), f.Field} {
		if part != "" {
			line.WriteString(part + ": ")
		}
	}
	fmt.Fprintf(&line, "%s [%s]", f.Text, f.Reason)
	return line.String()
}

// compare orders findings by file, document, object, field, reason and text.
func compare(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.File, b.File),
		cmp.Compare(a.Document, b.Document),
		a.Object.Compare(b.Object),
		strings.Compare(a.Field, b.Field),
		strings.Compare(string(a.Reason), string(b.Reason)),
		strings.Compare(a.Text, b.Text),
	)
}
