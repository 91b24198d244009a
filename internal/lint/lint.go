// Package lint finds what a team should know about manifests before or after
// they are applied. Objects go in, with where they are written and what did not
// decode; out come findings, each with its severity, object, place, field and
// what to do. It needs no cluster and no nginx.
//
//	report := lint.Look(lint.Manifests{Objects: objects, Documents: documents, Errors: errs, Notes: notes}, options)
//	for _, finding := range report.Findings { ... }
//
// Findings are the Problems of snapshot, translate and render, the errors of
// decoding, the surprises that translate knows (translate.Surprises), and the
// patterns that others take every request from.
package lint

import (
	"errors"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Manifests are the objects that are looked at.
type Manifests struct {
	Objects snapshot.Objects
	// Documents say where the objects are written; what is not in them has no
	// place.
	Documents []snapshot.Document
	// Errors and Notes came up when the documents were read.
	Errors []error
	Notes  []snapshot.Note
}

// Options are those of the controller that is to serve the manifests.
type Options struct {
	Translate   translate.Options
	Templates   *render.Templates
	Environment render.Environment
	// SecretThere says of a Secret that is not among the manifests whether it is
	// taken as there; nil for none.
	SecretThere func(snapshot.Name) bool
	// Ignored are the reasons of findings that are left out.
	Ignored []string
	// AllowEmpty: no Ingress is nothing wrong.
	AllowEmpty bool
}

// Report is what was found.
type Report struct {
	// Findings are sorted by place and object; never nil.
	Findings []Finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Notes    int       `json:"notes"`
	// Ignored counts the findings that were left out.
	Ignored int `json:"ignored,omitempty"`
	// Settings says which ConfigMap the settings are from, where it was looked for.
	Settings string `json:"settings,omitempty"`
}

// Look looks at manifests. The result is the same in whatever order the objects
// are given.
func Look(m Manifests, o Options) Report {
	where := locate(m.Documents)
	snap, problems := snapshot.New(m.Objects)
	config, more := translate.Config(snap, o.Translate, nil)
	_, unprintable := o.Templates.Render(config.Static, o.Environment, nil)
	problems = slices.Concat(problems, more, unprintable, translate.Surprises(snap, o.Translate))
	problems = slices.Concat(problems, refused(config.Static.Servers), overtaken(config.Static.Servers, problems))

	problems = missingSecrets(problems, snap, o)

	found := o.empty(m)
	for _, p := range model.SortProblems(problems) {
		for _, place := range where.of(p) {
			found = append(found, Finding{Severity: severityOf(p), Object: p.Object, Place: place, Field: p.Field, Reason: p.Reason, Text: p.Message()})
		}
	}
	for _, err := range m.Errors {
		found = append(found, where.unreadable(err))
	}
	for _, note := range m.Notes {
		if note.Outdated {
			found = append(found, where.outdated(note))
		}
	}
	slices.SortFunc(found, compare)
	found = slices.Compact(found)
	all := len(found)
	found = slices.DeleteFunc(found, func(f Finding) bool {
		return slices.ContainsFunc(o.Ignored, func(reason string) bool { return strings.EqualFold(reason, string(f.Reason)) })
	})
	report := count(found)
	report.Ignored = all - len(found)
	return report
}

// empty finds that there is nothing to look at, which is hardly meant.
func (o Options) empty(m Manifests) []Finding {
	if o.AllowEmpty || len(m.Objects.Ingresses) > 0 || len(m.Errors) > 0 {
		return []Finding{}
	}
	return []Finding{{Severity: Error, Reason: Empty, Text: "no Ingress is among the manifests: name others with -f, or allow it with --allow-empty"}}
}

// count makes the report of findings.
func count(found []Finding) Report {
	report := Report{Findings: found}
	for _, f := range found {
		switch f.Severity {
		case Error:
			report.Errors++
		case Warning:
			report.Warnings++
		case Note:
			report.Notes++
		}
	}
	return report
}

// Has says whether there is a finding that weighs at least so much.
func (r Report) Has(least Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return slices.Index(Severities, f.Severity) <= slices.Index(Severities, least)
	})
}

// unreadable makes a finding of an error of reading or decoding.
func (w places) unreadable(err error) Finding {
	f := Finding{Severity: Error, Reason: Unreadable, Text: model.OneLine(err.Error(), mostText)}
	var decode *snapshot.DecodeError
	if !errors.As(err, &decode) {
		return f
	}
	f.Object, f.Place = parseRef(decode.Object), w.document(decode.File, decode.Document)
	f.Field, f.Text = model.OneLine(decode.Field, mostText), model.OneLine(decode.Text, mostText)
	return f
}

// outdated makes a finding of an object of a version that is not read.
func (w places) outdated(note snapshot.Note) Finding {
	return Finding{
		Severity: Error, Reason: model.Unsupported, Object: parseRef(note.Object), Place: w.document(note.File, note.Document),
		Field: "apiVersion", Text: model.OneLine(note.Text, mostText),
	}
}

// mostText bounds what is shown of a text; model bounds those of Problems.
const mostText = 1000

// parseRef takes "Ingress shop/web" apart, or as much of it as there is.
func parseRef(text string) model.ObjectRef {
	kind, name, _ := strings.Cut(model.OneLine(text, mostText), " ")
	namespace, base, qualified := strings.Cut(name, "/")
	if !qualified {
		return model.ObjectRef{Kind: kind, Name: name}
	}
	return model.ObjectRef{Kind: kind, Namespace: namespace, Name: base}
}
