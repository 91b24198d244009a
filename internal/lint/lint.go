// Package lint checks manifests. It takes objects, their positions in files, and
// decoding errors. It returns findings, each with severity, object, place, field and
// text. It needs neither a cluster nor nginx.
//
//	report := lint.Look(lint.Manifests{Objects: objects, Documents: documents, Errors: errs, Notes: notes}, options)
//	for _, finding := range report.Findings { ... }
//
// Findings are the Problems of snapshot, translate and render, decoding errors, the
// surprises of translate.Surprises, patterns that get no requests because of others, and
// annotations that can replace snippets, and files that nginx cannot write.
package lint

import (
	"errors"
	"slices"
	"strings"
	"time"

	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Manifests are the objects to check.
type Manifests struct {
	Objects snapshot.Objects
	// Documents are the positions of the objects; other objects have no place.
	Documents []decode.Document
	// Errors and Notes come from reading the documents.
	Errors []error
	Notes  []snapshot.Note
}

// Options are those of the controller that will serve the manifests.
type Options struct {
	Translate   translate.Options
	Templates   *render.Templates
	Environment render.Environment
	// SecretThere reports whether a Secret that is missing from the manifests counts
	// as existing; nil for none.
	SecretThere func(snapshot.Name) bool
	// Ignored are the reasons of findings to leave out.
	Ignored []string
	// AllowEmpty allows manifests without a served Ingress.
	AllowEmpty bool
	// Now is the time at which revocation lists must not have lapsed; zero for any.
	Now time.Time
	// Watch selects the watched namespaces.
	Watch snapshot.Watch
	// Known are Problems that were found before.
	Known []model.Problem
	// Checker finds what Templates cannot print of servers, and nothing about settings; nil for
	// all of it.
	Checker *render.Checker
}

// Report is the result of Look.
type Report struct {
	// Findings are sorted by place and object; never nil.
	Findings []Finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Notes    int       `json:"notes"`
	// Ignored is the number of findings left out.
	Ignored int `json:"ignored,omitempty"`
	// Ingresses is the number of all Ingresses. Served is the number of those with a
	// served class and namespace.
	Ingresses int `json:"ingresses"`
	Served    int `json:"served"`
	// Settings names the ConfigMap of the settings, or where it was looked for.
	// Controller names the Deployment that gives flags.
	Settings   string `json:"settings,omitempty"`
	Controller string `json:"controller,omitempty"`
	// Flags are the flags that affect what is served, with their values.
	Flags map[string]string `json:"flags,omitempty"`
}

// Look checks manifests. The result does not depend on the order of the objects.
func Look(m Manifests, o Options) Report { return Examine(m, o).Report }

// Examined is a Report with the results of the core that it is made of.
type Examined struct {
	Report
	Snapshot *snapshot.Snapshot
	Config   model.Config
	// Assumed are the Problems that would hold if Secrets that count as existing did not
	// exist. Config is made without these Secrets.
	Assumed []model.Problem
	// PlaceOf returns the position of an object.
	PlaceOf func(model.ObjectRef) Place
}

// Examine is Look for callers that need to know how each path is served.
func Examine(m Manifests, o Options) Examined {
	where := locate(m)
	snap, problems := snapshot.New(m.Objects.Watched(o.Watch))
	memo := translate.NewMemo()
	config, more := Judge(snap, o, memo)
	problems = slices.Concat(o.Known, problems, more, unwatched(m.Objects, o.Watch), unreachable(&config, m.Objects.Services))

	lapsed := translate.Lapsed(config.Static.Servers, o.Translate, o.Now)
	problems, assumed := missingSecrets(append(problems, lapsed...), snap, memo, o)
	problems = unassigned(problems, snap)
	problems = append(problems, diskOf(m.Notes).unwritable(snap, o.Translate, problems)...)

	served := o.served(snap)
	found := o.empty(m, served, problems)
	for _, p := range model.SortProblems(problems) {
		for _, place := range where.of(p) {
			found = append(found, Finding{Severity: SeverityOf(p), Object: p.Object, Place: place, Field: p.Field, Reason: p.Reason, Text: p.Message(), Denies: p.Denies})
		}
	}
	found = append(found, where.replaceable(snap, o.Translate)...)
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
	return Examined{Report: report, Snapshot: snap, Config: config, Assumed: model.SortProblems(assumed), PlaceOf: where.first}
}

// Judge returns what is served of a snapshot, and the Problems of its objects, with surprises.
// The memo saves work if it is used again, for this snapshot or another.
func Judge(snap *snapshot.Snapshot, o Options, memo *translate.Memo) (model.Config, []model.Problem) {
	config, problems := translate.Config(snap, o.Translate, memo)
	problems = slices.Concat(problems, o.unprintable(config.Static), translate.Surprises(snap, o.Translate, memo))
	return config, slices.Concat(problems, refused(config.Static.Servers), overtaken(config.Static.Servers, problems))
}

// unprintable returns what cannot be printed.
func (o Options) unprintable(s model.Static) []model.Problem {
	if o.Checker != nil {
		return o.Checker.Problems(s)
	}
	_, problems := o.Templates.Render(s, o.Environment, nil)
	return problems
}

// served returns the number of Ingresses with a served class.
func (o Options) served(snap *snapshot.Snapshot) int {
	n := 0
	for _, object := range snap.Ingresses() {
		if ours, _ := translate.Accepts(snap, o.Translate, object); ours {
			n++
		}
	}
	return n
}

// empty reports that there is nothing to check, which is probably a mistake.
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

// count makes a report of findings.
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

// Has reports whether there is a finding of at least this severity.
func (r Report) Has(least Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return slices.Index(Severities, f.Severity) <= slices.Index(Severities, least)
	})
}

// unreadable makes a finding of an error from reading or decoding.
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

// passedOver makes a finding of an object of an unsupported version, or with a
// misspelled kind.
func (w places) passedOver(note snapshot.Note) Finding {
	return Finding{
		Severity: Error, Reason: model.Unsupported, Object: ParseRef(note.Object), Place: w.document(note.File, note.Document),
		Field: note.Field, Text: model.OneLine(note.Text, mostText),
	}
}

// mostText limits the length of a text; model limits those of Problems.
const mostText = 1000

// ParseRef splits "Ingress shop/web" into its parts, which may be incomplete.
func ParseRef(text string) model.ObjectRef {
	kind, name, _ := strings.Cut(model.OneLine(text, mostText), " ")
	namespace, base, qualified := strings.Cut(name, "/")
	if !qualified {
		return model.ObjectRef{Kind: kind, Name: name}
	}
	return model.ObjectRef{Kind: kind, Namespace: namespace, Name: base}
}
