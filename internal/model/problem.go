package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
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
	InvalidValue Reason = "InvalidValue" // a field's value is not valid
	NotFound     Reason = "NotFound"     // something that is referred to is missing
	Conflict     Reason = "Conflict"     // another object has it already
	Unsupported  Reason = "Unsupported"  // valid, but not done here
	Unread       Reason = "Unread"       // a key with our prefix that nobody reads
	Shadowed     Reason = "Shadowed"     // it can never match a request
	Ambiguous    Reason = "Ambiguous"    // two fields say different things; one was taken
	Refused      Reason = "Refused"      // nginx refused it: the object is quarantined
)

// Problem is a user's mistake, as a value: which object, which field, what is
// wrong, and what would be valid.
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

// String gives the problem as one line.
func (p Problem) String() string {
	line := p.Object.String() + ": "
	if p.Field != "" {
		line += p.Field + ": "
	}
	line = oneLine(line + p.Text)
	if p.Denies {
		line += "; its paths answer 503 until this is mended"
	}
	return line
}

// oneLine escapes what could end a line or hide in it: names and keys come from
// users.
func oneLine(text string) string {
	if !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) {
			fmt.Fprintf(&out, `\x%02x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// SortProblems orders problems by object, field and text, and drops repetitions.
func SortProblems(problems []Problem) []Problem {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(a.Object.Compare(b.Object), strings.Compare(a.Field, b.Field), strings.Compare(string(a.Reason), string(b.Reason)), strings.Compare(a.Text, b.Text))
	})
	return slices.Compact(problems)
}
