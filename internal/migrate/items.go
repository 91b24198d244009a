package migrate

import (
	"slices"
	"strings"
	"sync"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/assemble"
	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// notes are the reasons of findings after which requests are answered as ingress-nginx
// answers them, unless a row says otherwise.
var notes = map[model.Reason]bool{
	model.NotFound: true, model.Conflict: true, model.Ambiguous: true, model.Unread: true, model.Shadowed: true, model.CrossNamespace: true, model.NoEffect: true,
	model.Unhealthy: true, assemble.Turned: true, assemble.Rewritten: true, assemble.Star: true, assemble.Groupless: true,
	assemble.SharedHost: true, assemble.Inherited: true, assemble.Lifted: true, assemble.Repeated: true, annotations.Foreign: true, translate.Unslashed: true, translate.Keyless: true,
	translate.Constant: true, translate.NearClass: true, translate.OtherClass: true, translate.Classless: true, translate.Unserved: true, lint.Unlabelled: true,
	lint.Unreachable: true, lint.ToBeIssued: true, lint.Uncompared: true, lint.Unwatched: true, lint.Snippet: true,
}

// served are those of notes after which a row can say that answers differ.
var served = map[model.Reason]bool{model.NotFound: true, model.Conflict: true, model.Shadowed: true, model.Ambiguous: true}

// found makes items of the findings of an Ingress. The advice about a snippet belongs to
// the item of the snippet.
func (l *look) found(object *networkingv1.Ingress) []Item {
	items := []Item{}
	advice := map[string][]string{}
	for _, f := range l.findings[snapshot.RefOf(object)] {
		if f.Reason == lint.Snippet {
			advice[f.Field] = append(advice[f.Field], f.Text)
			continue
		}
		items = append(items, l.item(f))
	}
	alsoNeeded(items)
	for at, item := range items {
		if item.Status != Note && len(advice[item.Field]) > 0 {
			items[at].Instead, items[at].Remedy = advice[item.Field], replaceabilityOf(advice[item.Field]).remedy(item)
			delete(advice, item.Field)
		}
	}
	for _, f := range l.findings[snapshot.RefOf(object)] {
		if lines := advice[f.Field]; f.Reason == lint.Snippet && len(lines) > 0 {
			items = append(items, Item{Status: Note, Object: f.Object, Place: f.Place, Field: f.Field, Reason: f.Reason, Text: replaceabilityOf(lines).text(), Instead: lines})
			delete(advice, f.Field)
		}
	}
	return items
}

// item makes an item of a finding, with the row that describes it most closely.
func (l *look) item(f lint.Finding) Item {
	best := l.rowOf(f)
	item := Item{Status: Different, Object: f.Object, Place: f.Place, Field: f.Field, Reason: f.Reason, Text: f.Text, Remedy: remedyOf(f, keyOf(f, l.translate.AnnotationsPrefix))}
	if best >= 0 {
		item.Difference = differences()[best]
		item.Remedy = firstOf(rows[best].remedy, item.Remedy)
	}
	named := best >= 0 && (len(rows[best].fields) > 0 || len(rows[best].says) > 0)
	switch {
	case f.Denies, best >= 0 && rows[best].closes:
		item.Status = Unavailable
	case best >= 0 && rows[best].lost:
	case best >= 0 && rows[best].alike, notes[f.Reason] && !(named && served[f.Reason]), f.Severity == lint.Note, replaced(f):
		item.Status = Note
	}
	if item.Status == Note && item.Remedy == remedies[model.Unsupported] {
		item.Remedy = "You can remove it: answers are the same without it."
	}
	return item
}

// rowOf returns the index of the row that describes a finding most closely, -1 for none.
func (l *look) rowOf(f lint.Finding) int {
	field := strings.TrimPrefix(f.Field, l.translate.AnnotationsPrefix+"/")
	if path, is := strings.CutPrefix(f.Field, annotations.PathsPrefix); is {
		field = path
	}
	best, precision := -1, 0
	for at, r := range rows {
		if p := r.precision(f, field); p > precision {
			best, precision = at, p
		}
	}
	if best < 0 && f.Denies {
		return badValue()
	}
	return best
}

// badValue is the row about any mistake in something that protects a path.
var badValue = sync.OnceValue(func() int {
	return slices.IndexFunc(rows, func(r row) bool { return r.id == "bad-value" })
})

// replaced reports whether nothing is lost by an annotation or setting that Sluice does not
// read.
func replaced(f lint.Finding) bool {
	return f.Reason == model.Unsupported && strings.Contains(f.Text, " of ingress-nginx has no effect: ")
}

func firstOf(texts ...string) string {
	at := slices.IndexFunc(texts, func(text string) bool { return text != "" })
	if at < 0 {
		return ""
	}
	return texts[at]
}

// rest adds the items of other objects, and of what could not be read.
func (l *look) rest(r *Report) {
	if name := l.translate.ConfigMap; name != (snapshot.Name{}) && l.Snapshot.ConfigMap(name) == nil {
		r.Input = append(r.Input, Item{
			Status: Different, Object: model.ObjectRef{Kind: "ConfigMap", Namespace: name.Namespace, Name: name.Name}, Reason: model.NotFound,
			Text: "the settings are not known: this ConfigMap is named, and is not there", Remedy: "Give its manifest with -f, or name another one with --configmap.",
		})
	}
	for _, f := range l.Findings {
		switch {
		case f.Reason == lint.Unreadable || f.Reason == lint.Empty || f.Reason == lint.Several || f.Object == (model.ObjectRef{}):
			r.Input = append(r.Input, l.item(f))
		case f.Object.Kind != "Ingress":
			r.Objects = append(r.Objects, l.item(f))
		case f.Reason == model.Unsupported && (f.Field == "apiVersion" || f.Field == "kind"):
			r.Input = append(r.Input, l.item(f))
		}
	}
}

// settings makes the list of all settings that are given.
func (l *look) settings() []Argument {
	ref := model.ObjectRef{Kind: "ConfigMap", Namespace: l.translate.ConfigMap.Namespace, Name: l.translate.ConfigMap.Name}
	all := []Argument{}
	for key := range l.controller.data {
		a := Argument{Name: model.OneLine(key, mostName), Fate: Kept}
		for _, f := range l.findings[ref] {
			fate := l.fateOf(f)
			if f.Field == key && (a.Text == "" || slices.Index(Fates, fate) < slices.Index(Fates, a.Fate)) {
				a.Fate, a.Text = fate, f.Text
			}
		}
		all = append(all, a)
	}
	return sorted(all)
}

// mostName limits the shown length of a name.
const mostName = 253

// fateOf is the fate of a setting with a finding.
func (l *look) fateOf(f lint.Finding) Fate {
	item := l.item(f)
	switch {
	case item.Status == Unavailable:
		return Closes
	case f.Reason == model.Unread && !settings.Catalog().Has(f.Field):
		return Unknown
	case f.Reason == model.NoEffect, f.Reason == model.Unread, f.Reason == model.Unsupported:
		return WithoutEffect
	case item.Status == Note:
		return Kept
	}
	return Changed
}
