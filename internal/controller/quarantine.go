package controller

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
)

// quarantine holds the Ingresses that nginx refused. Each of them is served in
// its last good form, translated anew, or left out if it never had one, until
// its owner changes it; everybody else's changes go on.
type quarantine struct {
	entries map[snapshot.Name]refusal
	// protects says whether the refused form protects its paths in a way that
	// the last good form does not.
	protects func(refused, good *networkingv1.Ingress) bool
}

// refusal is one Ingress in quarantine.
type refusal struct {
	refused *networkingv1.Ingress
	good    *networkingv1.Ingress // nil: it never had a good form
	text    string                // nginx's own words
}

func newQuarantine(protects func(refused, good *networkingv1.Ingress) bool) *quarantine {
	return &quarantine{entries: map[snapshot.Name]refusal{}, protects: protects}
}

// add puts the Ingress that nginx refused in a plan in quarantine; good is its
// last good form. It reports whether that changes anything: an Ingress whose
// last good form is refused too is left out, but a plan that was made before
// the quarantine began says nothing about that form.
func (q *quarantine) add(p *plan, found culprit, good *networkingv1.Ingress) bool {
	name := nameOf(found.object)
	current, tried := ingressOf(p.snap, name), ingressOf(p.served, name)
	if current == nil || tried == nil {
		return false
	}
	if was, ok := q.entries[name]; ok {
		if was.good == nil || !sameContent(tried, was.good) {
			return false
		}
		was.good = nil
		q.entries[name] = was
		return true
	}
	if good != nil && sameContent(good, current) {
		good = nil
	}
	q.entries[name] = refusal{refused: current, good: good, text: oneLine(found.text)}
	return true
}

// release forgets the Ingresses whose owner changed or deleted them.
func (q *quarantine) release(snap *snapshot.Snapshot) {
	for name, entry := range q.entries {
		current := ingressOf(snap, name)
		if current == nil || !sameContent(current, entry.refused) {
			delete(q.entries, name)
			continue
		}
		entry.refused = current
		q.entries[name] = entry
	}
}

// substitute gives the snapshot that is served: the last good forms in the
// place of the refused ones. denied are the Ingresses whose paths answer 503
// because the refused form protects them and the last good one does not.
func (q *quarantine) substitute(snap *snapshot.Snapshot) (served *snapshot.Snapshot, denied map[snapshot.Name]bool) {
	if len(q.entries) == 0 {
		return snap, nil
	}
	replace := make(map[snapshot.Name]*networkingv1.Ingress, len(q.entries))
	denied = map[snapshot.Name]bool{}
	for name, entry := range q.entries {
		replace[name] = entry.good
		if entry.good != nil && q.protects(entry.refused, entry.good) {
			denied[name] = true
		}
	}
	return snap.WithIngresses(replace), denied
}

// problems tells the owners, in a fixed order.
func (q *quarantine) problems() []model.Problem {
	var problems []model.Problem
	for name, entry := range q.entries {
		object := model.ObjectRef{Kind: "Ingress", Namespace: name.Namespace, Name: name.Name}
		problem := model.Problem{Object: object, Reason: model.Refused}
		switch {
		case entry.good == nil:
			problem.Text = "nginx refuses it, and it has no earlier form: it is not served (" + entry.text + ")"
		case q.protects(entry.refused, entry.good):
			problem.Text = "nginx refuses it (" + entry.text + "), and its earlier form lacks a protection that it adds"
			problem.Denies = true
		default:
			problem.Text = "nginx refuses it: its last good form is served (" + entry.text + ")"
		}
		problems = append(problems, problem)
	}
	slices.SortFunc(problems, func(a, b model.Problem) int { return a.Object.Compare(b.Object) })
	return problems
}

// sameContent compares what Sluice reads of an Ingress: annotations and spec.
func sameContent(a, b *networkingv1.Ingress) bool {
	if a == b {
		return true
	}
	return equality.Semantic.DeepEqual(a.Annotations, b.Annotations) && equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

func ingressOf(snap *snapshot.Snapshot, name snapshot.Name) *networkingv1.Ingress {
	for _, ing := range snap.Ingresses() {
		if ing.Namespace == name.Namespace && ing.Name == name.Name {
			return ing
		}
	}
	return nil
}

func nameOf(ref model.ObjectRef) snapshot.Name {
	return snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}
}

// oneLine makes nginx's message fit a log line and an event.
func oneLine(text string) string {
	return render.WithoutLimits(strings.Join(strings.Fields(text), " "))
}
