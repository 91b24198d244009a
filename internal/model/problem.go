package model

import (
	"cmp"
	"slices"
	"strings"
)

// ObjectRef names a Kubernetes object.
type ObjectRef struct {
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// String gives "Ingress shop/web", or "IngressClass nginx" without a namespace.
func (r ObjectRef) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Compare orders by kind, namespace and name.
func (r ObjectRef) Compare(o ObjectRef) int {
	return cmp.Or(strings.Compare(r.Kind, o.Kind), strings.Compare(r.Namespace, o.Namespace), strings.Compare(r.Name, o.Name))
}

// Reason is a Problem's kind, a word a script can compare.
type Reason string

// The reasons.
const (
	InvalidValue   Reason = "InvalidValue"   // a field's value is not valid
	NotFound       Reason = "NotFound"       // something that is referred to is missing
	Conflict       Reason = "Conflict"       // another object has it already
	Unsupported    Reason = "Unsupported"    // valid, but not done here
	Unread         Reason = "Unread"         // a key with our prefix that nobody reads
	Shadowed       Reason = "Shadowed"       // it can never match a request
	Ambiguous      Reason = "Ambiguous"      // two fields say different things; one was taken
	NotDelegated   Reason = "NotDelegated"   // the host is another namespace's, which does not let this one
	CrossNamespace Reason = "CrossNamespace" // it decides something for what is another namespace's, too
	NoEffect       Reason = "NoEffect"       // it asks for nothing, so that nothing is lost
	NoRoom         Reason = "NoRoom"         // it does not fit into what is there for it
	Refused        Reason = "Refused"        // nginx refused it: the object is quarantined
	Untested       Reason = "Untested"       // it waits for a test of its own: the object is quarantined
)

// Problem is a user's mistake, as a value: which object, which field, what is
// wrong, and what would be valid. Its texts may hold what users wrote; String
// and SortProblems make them fit to be shown.
type Problem struct {
	Object ObjectRef `json:"object"`
	// Field is a field path such as "spec.rules[0].host", or a key.
	Field  string `json:"field,omitempty"`
	Reason Reason `json:"reason"`
	// Text is one line that says what to type.
	Text string `json:"text"`
	// Denies is set where the mistake is in something that protects a path:
	// the path answers 503 until it is mended.
	Denies bool `json:"denies,omitempty"`
}

// The most bytes of what is shown: the longest valid names and keys, and more
// than any message of our own needs.
const (
	mostName  = 253
	mostField = 253 + len("/") + 63
	mostText  = 1500
)

// shown gives the problem with parts that are one short printable line each.
func (p Problem) shown() Problem {
	p.Object.Kind = OneLine(p.Object.Kind, mostName)
	p.Object.Namespace = OneLine(p.Object.Namespace, mostName)
	p.Object.Name = OneLine(p.Object.Name, mostName)
	p.Field = OneLine(p.Field, mostField)
	p.Text = OneLine(p.Text, mostText)
	return p
}

// String gives the problem as one line.
func (p Problem) String() string {
	p = p.shown()
	line := p.Object.String() + ": "
	if p.Field != "" {
		line += p.Field + ": "
	}
	return line + p.Message()
}

// Message gives the text with what the mistake costs.
func (p Problem) Message() string {
	text := OneLine(p.Text, mostText)
	switch {
	case p.Denies && p.Object.Kind == "ConfigMap":
		text = Add(text, "; ", "every path that these settings apply to answers 503 until this is mended")
	case p.Denies:
		text = Add(text, "; ", "its paths answer 503 until this is mended")
	}
	return text
}

// Add adds a clause to a text behind a joint such as "; ". Behind a question it is a
// sentence of its own.
func Add(text, joint, clause string) string {
	if strings.HasSuffix(text, "?") {
		return text + " " + strings.ToUpper(clause[:1]) + clause[1:]
	}
	return text + joint + clause
}

// SortProblems orders problems by object, field and text, drops repetitions and
// makes each fit to be shown. All that is logged or printed has passed it.
func SortProblems(problems []Problem) []Problem {
	sortShown(problems)
	return slices.Compact(problems)
}

// sortShown is SortProblems without dropping repetitions.
func sortShown(problems []Problem) {
	for i, p := range problems {
		problems[i] = p.shown()
	}
	slices.SortFunc(problems, Problem.Compare)
}

// Compare orders as SortProblems does.
func (p Problem) Compare(o Problem) int {
	if p.Object != o.Object {
		return p.Object.Compare(o.Object)
	}
	if order := cmp.Or(strings.Compare(p.Field, o.Field), strings.Compare(string(p.Reason), string(o.Reason)), strings.Compare(p.Text, o.Text)); order != 0 || p.Denies == o.Denies {
		return order
	}
	if p.Denies {
		return 1
	}
	return -1
}
