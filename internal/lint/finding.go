package lint

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/assemble"
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

// severities weigh the reasons that a finding may have.
var severities = map[model.Reason]Severity{
	model.InvalidValue: Error, model.NotFound: Error, model.Conflict: Error, model.Unsupported: Error, model.NotDelegated: Error,
	model.NoRoom: Error, model.Refused: Error, model.Untested: Error, translate.Unserved: Error,
	Several: Error, Unreadable: Error, Empty: Error, Disk: Error,

	model.Unread: Warning, model.Unhealthy: Warning, model.Shadowed: Warning, model.Ambiguous: Warning, model.CrossNamespace: Warning, model.Fixed: Warning,
	assemble.Turned: Warning, assemble.Rewritten: Warning, assemble.Star: Warning, assemble.Groupless: Warning, assemble.Lifted: Warning,
	translate.Unslashed: Warning, translate.Keyless: Warning, translate.Constant: Warning, translate.NearClass: Warning, Unlabelled: Warning, Unreachable: Warning,

	model.NoEffect: Note, annotations.Foreign: Note, translate.OtherClass: Note, translate.Classless: Note, assemble.SharedHost: Note,
	assemble.Inherited: Note, assemble.Repeated: Note,
	ToBeIssued: Note, Uncompared: Note, Unwatched: Note, Snippet: Note, translate.Strict: Note,
}

// Reasons are those that a finding may have, sorted.
var Reasons = slices.Sorted(maps.Keys(severities))

// SeverityOf weighs a Problem. What closes paths is never light.
func SeverityOf(p model.Problem) Severity {
	if p.Denies {
		return Error
	}
	return cmp.Or(severities[p.Reason], Error)
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
	// Denies is set if paths return 503 because of it.
	Denies bool `json:"denies,omitempty"`
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

// ofLines finds the first line that a text about a snippet is for.
var ofLines = regexp.MustCompile(`^lines? ([0-9]+)`)

// snippetLine returns the line of a snippet that a finding is about, 0 for other findings.
func (f Finding) snippetLine() int {
	line := ofLines.FindStringSubmatch(f.Text)
	if f.Reason != Snippet || line == nil {
		return 0
	}
	n, _ := strconv.Atoi(line[1]) // A snippet has fewer lines than an int can count.
	return n
}

// compare orders findings by file, document, object, field, reason, line of a snippet and
// text.
func compare(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.File, b.File),
		cmp.Compare(a.Document, b.Document),
		a.Object.Compare(b.Object),
		strings.Compare(a.Field, b.Field),
		strings.Compare(string(a.Reason), string(b.Reason)),
		cmp.Compare(a.snippetLine(), b.snippetLine()),
		strings.Compare(a.Text, b.Text),
	)
}
