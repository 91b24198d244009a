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

	"sluice/internal/manifest/decode"
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
	Documents []decode.Document
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
	// AllowEmpty: no Ingress that is served is nothing wrong.
	AllowEmpty bool
	// Watch says which namespaces are watched.
	Watch snapshot.Watch
	// Known are Problems that came up before.
	Known []model.Problem
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
	// Ingresses counts all that there are, Served those of them that are of a class and
	// a namespace that are served.
	Ingresses int `json:"ingresses"`
	Served    int `json:"served"`
	// Settings says which ConfigMap the settings are from, where it was looked for, and
	// Controller which flags a Deployment gives.
	Settings   string `json:"settings,omitempty"`
	Controller string `json:"controller,omitempty"`
	// Flags are those that decide what is served, with their values.
	Flags map[string]string `json:"flags,omitempty"`
}

// Look looks at manifests. The result is the same in whatever order the objects
// are given.
func Look(m Manifests, o Options) Report {
	where := locate(m)
	snap, problems := snapshot.New(m.Objects.Watched(o.Watch))
	config, more := translate.Config(snap, o.Translate, nil)
	_, unprintable := o.Templates.Render(config.Static, o.Environment, nil)
	problems = slices.Concat(o.Known, problems, more, unprintable, translate.Surprises(snap, o.Translate), unwatched(m.Objects, o.Watch))
	problems = slices.Concat(problems, refused(config.Static.Servers), overtaken(config.Static.Servers, problems))

	problems = missingSecrets(problems, snap, o)

	served := o.served(snap)
	found := o.empty(m, served, problems)
	for _, p := range model.SortProblems(problems) {
		for _, place := range where.of(p) {
			found = append(found, Finding{Severity: severityOf(p), Object: p.Object, Place: place, Field: p.Field, Reason: p.Reason, Text: p.Message()})
		}
	}
	for _, err := range m.Errors {
		found = append(found, where.unreadable(err))
	}
	for _, note := range m.Notes {
		if note.Field != "" {
			found = append(found, where.passedOver(note))
		}
	}
	slices.SortFunc(found, compare)
	found = slices.Compact(found)
	all := len(found)
	found = slices.DeleteFunc(found, func(f Finding) bool {
		return slices.ContainsFunc(o.Ignored, func(reason string) bool { return strings.EqualFold(reason, string(f.Reason)) })
	})
	report := count(found)
	report.Ignored, report.Ingresses, report.Served = all-len(found), len(m.Objects.Ingresses), served
	return report
}

// served counts the Ingresses that are served, as far as their class goes.
func (o Options) served(snap *snapshot.Snapshot) int {
	n := 0
	for _, object := range snap.Ingresses() {
		if ours, _ := translate.Accepts(snap, o.Translate, object); ours {
			n++
		}
	}
	return n
}

// empty finds that there is nothing to look at, which is hardly meant.
func (o Options) empty(m Manifests, served int, told []model.Problem) []Finding {
	unserved := func(p model.Problem) bool { return p.Reason == translate.Unserved }
	meant := func(n snapshot.Note) bool { return n.Field != "" }
	if o.AllowEmpty || served > 0 || len(m.Errors) > 0 || slices.ContainsFunc(m.Notes, meant) || slices.ContainsFunc(told, unserved) {
		return []Finding{}
	}
	text := "no Ingress is among the manifests: name others with -f, or allow it with --allow-empty"
	if len(m.Objects.Ingresses) > 0 {
		text = "no Ingress among the manifests is of a class and namespace that are served: want --ingress-class, --controller-class and --watch-namespace of their controller, or --allow-empty"
	}
	return []Finding{{Severity: Error, Reason: Empty, Text: text}}
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
	f.Object, f.Place = ParseRef(decode.Object), w.document(decode.File, decode.Document)
	f.Field, f.Text = model.OneLine(decode.Field, mostText), model.OneLine(decode.Text, mostText)
	return f
}

// passedOver makes a finding of an object of a version that is not read, or whose kind
// is written otherwise.
func (w places) passedOver(note snapshot.Note) Finding {
	return Finding{
		Severity: Error, Reason: model.Unsupported, Object: ParseRef(note.Object), Place: w.document(note.File, note.Document),
		Field: note.Field, Text: model.OneLine(note.Text, mostText),
	}
}

// mostText bounds what is shown of a text; model bounds those of Problems.
const mostText = 1000

// ParseRef takes "Ingress shop/web" apart, or as much of it as there is.
func ParseRef(text string) model.ObjectRef {
	kind, name, _ := strings.Cut(model.OneLine(text, mostText), " ")
	namespace, base, qualified := strings.Cut(name, "/")
	if !qualified {
		return model.ObjectRef{Kind: kind, Name: name}
	}
	return model.ObjectRef{Kind: kind, Namespace: namespace, Name: base}
}
