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

// String returns "Ingress shop/web", or "IngressClass nginx" without a namespace.
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

// Reason is the kind of a Problem, a word that scripts can compare.
type Reason string

// The reasons.
const (
	InvalidValue   Reason = "InvalidValue"   // a field's value is not valid
	NotFound       Reason = "NotFound"       // a referenced object is missing
	Conflict       Reason = "Conflict"       // another object has it already
	Unsupported    Reason = "Unsupported"    // valid, but Sluice does not do it
	Unread         Reason = "Unread"         // a key with our prefix that Sluice does not know
	Shadowed       Reason = "Shadowed"       // it can never match a request
	Ambiguous      Reason = "Ambiguous"      // two fields contradict each other; Sluice uses one
	NotDelegated   Reason = "NotDelegated"   // the host belongs to another namespace, which does not delegate it
	CrossNamespace Reason = "CrossNamespace" // it affects another namespace too
	NoEffect       Reason = "NoEffect"       // it has no effect, so that nothing is lost
	NoRoom         Reason = "NoRoom"         // there is no room for it
	Refused        Reason = "Refused"        // nginx refused it: the object is quarantined
	Unhealthy      Reason = "Unhealthy"      // all endpoints fail their health check
	Fixed          Reason = "Fixed"          // an administrator fixed another value
	Untested       Reason = "Untested"       // it waits for a test of its own: the object is quarantined
)

// Problem is a user's mistake as a value: the object, the field, the mistake, and a
// valid value. Its texts may contain texts of users; String and SortProblems make them
// printable.
type Problem struct {
	Object ObjectRef `json:"object"`
	// Field is a field path such as "spec.rules[0].host", or a key.
	Field  string `json:"field,omitempty"`
	Reason Reason `json:"reason"`
	// Text is one line with a valid value.
	Text string `json:"text"`
	// Denies is set if the mistake is in something that protects a path: the path
	// returns 503 until it is fixed.
	Denies bool `json:"denies,omitempty"`
}

// The maximum sizes of printed parts, in bytes: those of the longest valid names and keys,
// and more than any message of Sluice needs.
const (
	mostName  = 253
	mostField = 253 + len("/") + 63
	mostText  = 1500
)

// shown returns the problem with each part as one short printable line.
func (p Problem) shown() Problem {
	p.Object.Kind = OneLine(p.Object.Kind, mostName)
	p.Object.Namespace = OneLine(p.Object.Namespace, mostName)
	p.Object.Name = OneLine(p.Object.Name, mostName)
	p.Field = OneLine(p.Field, mostField)
	p.Text = OneLine(p.Text, mostText)
	return p
}

// String returns the problem as one line.
func (p Problem) String() string {
	p = p.shown()
	line := p.Object.String() + ": "
	if p.Field != "" {
		line += p.Field + ": "
	}
	return line + p.Message()
}

// Message returns the text with the effect of the mistake.
func (p Problem) Message() string {
	text := OneLine(p.Text, mostText)
	switch {
	case p.Denies && p.Object.Kind == "Namespace":
		text = Add(text, "; ", "every path that it applies to answers 503 until this is mended")
	case p.Denies && p.Object.Kind == "ConfigMap":
		text = Add(text, "; ", "every path that these settings apply to answers 503 until this is mended")
	case p.Denies:
		text = Add(text, "; ", "its paths answer 503 until this is mended")
	}
	return text
}

// Add adds a clause to a text behind a joint such as "; ". After a question, the clause
// becomes a sentence.
func Add(text, joint, clause string) string {
	if strings.HasSuffix(text, "?") {
		return text + " " + strings.ToUpper(clause[:1]) + clause[1:]
	}
	return text + joint + clause
}

// SortProblems orders problems by object, field and text, drops repetitions, and makes
// each printable. Everything logged or printed went through it.
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
