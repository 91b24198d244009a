package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/snippets"
	"sluice/internal/translate"
)

// Snippet is the reason for a snippet, or a part of one, that an annotation can replace.
const Snippet model.Reason = "Snippet"

// snippetsOf are the annotations that package snippets reads, and whether their text
// stands in a server.
var snippetsOf = map[string]bool{"configuration-snippet": false, "server-snippet": true}

// replaceable finds out what can replace the snippets of the served Ingresses.
func (w places) replaceable(snap *snapshot.Snapshot, o translate.Options) []Finding {
	var found []Finding
	advisor := newAdvisor(o.AnnotationsPrefix)
	for _, object := range snap.Ingresses() {
		if ours, _ := translate.Accepts(snap, o, object); !ours {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(snippetsOf)) {
			field := o.AnnotationsPrefix + "/" + name
			for _, text := range advisor.advice(object, name) {
				// The text is printable. It is not shortened, because it is for pasting.
				ref := snapshot.RefOf(object)
				found = append(found, Finding{Severity: severities[Snippet], Object: ref, Place: w.of(model.Problem{Object: ref})[0], Field: field, Reason: Snippet, Text: text})
			}
		}
	}
	return found
}

// advisor says which annotations can replace snippets. Teams copy snippets, so it judges
// each annotation once.
type advisor struct {
	prefix   string // with the slash
	defaults *settings.Settings
	refusals map[advised]string
}

// advised is an annotation, and the paths of the Ingress for one that names paths.
type advised struct{ name, value, paths string }

func newAdvisor(prefix string) *advisor {
	defaults, _ := settings.Read(nil)
	return &advisor{prefix: prefix + "/", defaults: defaults, refusals: map[advised]string{}}
}

// advice returns a line for each part of the advice about a snippet.
func (w *advisor) advice(object *networkingv1.Ingress, name string) []string {
	text := object.Annotations[w.prefix+name]
	if strings.TrimSpace(text) == "" {
		return nil
	}
	paths := pathsOf(object)
	refuses := func(a snippets.Annotation) string { return w.refusal(a, paths) }
	read, err := snippets.Read(snippets.Snippet{Text: text, Server: snippetsOf[name], Given: given(object, w.prefix), Paths: paths, Refuses: refuses})
	if err != nil {
		return []string{model.OneLine("no annotation is known instead of it: "+err.Error(), mostText)}
	}
	var lines []string
	for _, a := range read.Write {
		line := fmt.Sprintf("%s: instead write %s", shown(a.Origin), a.String(w.prefix))
		if a.Where != "" {
			line += ", in " + a.Where
		}
		if a.Also != "" {
			line += ", " + a.Also
		}
		lines = append(lines, printable(line))
	}
	for _, r := range read.Needless {
		lines = append(lines, model.OneLine(fmt.Sprintf("%s: not needed: %s", shown(r.Origin), r.Text), mostText))
	}
	for _, r := range read.Left {
		lines = append(lines, model.OneLine(fmt.Sprintf("%s: not replaced: %s", shown(r.Origin), r.Text), mostText))
	}
	return lines
}

// refusal returns why Sluice does not take an annotation, "" if it does. What has no effect
// alone is taken.
func (w *advisor) refusal(a snippets.Annotation, paths []string) string {
	name := a.Name
	if !strings.HasPrefix(name, snippets.OwnPrefix) {
		name = w.prefix + name
	}
	key := advised{name: name, value: a.Value}
	if strings.HasPrefix(name, annotations.PathsPrefix) { // of others, the paths do not matter
		key.paths = strings.Join(paths, "\n")
	}
	text, known := w.refusals[key]
	if !known {
		text = w.judge(name, a.Value, paths)
		w.refusals[key] = text
	}
	return text
}

// judge reads an annotation as the only one of an Ingress.
func (w *advisor) judge(name, value string, paths []string) string {
	if strings.HasPrefix(name, annotations.PathsPrefix) {
		for line := range strings.SplitSeq(value, "\n") {
			path, _, _ := strings.Cut(line, ": ")
			paths = append(slices.Clip(paths), path) // the advice says that it needs a rule
		}
	}
	of := annotations.Source{Given: map[string]string{name: value}, Paths: slices.Values(paths)}
	for _, p := range annotations.Of(of, w.defaults, strings.TrimSuffix(w.prefix, "/")).Problems() {
		if p.Reason != model.NoEffect {
			return p.Text
		}
	}
	return ""
}

// shown shortens the names and lines of directives.
func shown(o snippets.Origin) string { return model.OneLine(o.String(), 200) }

// printable returns a line without characters that a terminal would interpret.
func printable(line string) string { return model.OneLine(line, 10*len(line)) }

// given returns the other annotations of an Ingress by the names that package snippets
// uses.
func given(object *networkingv1.Ingress, prefix string) map[string]string {
	others := map[string]string{}
	for key, value := range object.Annotations {
		name, ours := strings.CutPrefix(key, prefix)
		if _, snippet := snippetsOf[name]; (ours || strings.HasPrefix(key, snippets.OwnPrefix)) && !snippet {
			others[name] = value
		}
	}
	return others
}

func pathsOf(object *networkingv1.Ingress) []string {
	var paths []string
	for _, rule := range object.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			paths = append(paths, cmp.Or(path.Path, "/"))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
