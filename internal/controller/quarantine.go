package controller

import (
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// quarantine holds the Ingresses that nginx refused, and those that wait for a
// test of their own. Each of them is served in another form (see stand) until its
// owner changes it, something changes that the refusal depended on, or the test
// clears it; everybody else's changes go on.
type quarantine struct {
	entries map[snapshot.Name]*refusal
	// protects says whether the refused form protects its paths in a way that
	// the last good form does not; at all if good is nil.
	protects func(refused, good *networkingv1.Ingress) bool
	// struck are the namespaces of refused Ingresses, and when the last was: what
	// changes there is tested by itself first (see hold).
	struck map[string]time.Time
	// cleared are forms that passed a test of their own and wait to be served.
	cleared map[snapshot.Name]*networkingv1.Ingress
	// retries counts how often a form was refused that may pass another time.
	retries map[snapshot.Name]int
}

// refusal is one Ingress in quarantine.
type refusal struct {
	refused *networkingv1.Ingress
	good    *networkingv1.Ingress // nil: it never had a good form
	text    string                // nginx's own words
	// waits is set while nobody knows whether nginx takes this form.
	waits bool
	// closes is set if its paths answer 503: it protects, or good protects less.
	closes bool
	stand  stand
	basis  basis
	hash   string // of refused, once it was asked for
	// retry is when it is tested again though nothing changed that is known to
	// matter; zero for never.
	retry time.Time
}

// stand is the form in which an Ingress in quarantine is served.
type stand int

const (
	asGood       stand = iota // its last good form
	asClosed                  // the refused form, whose paths answer 503
	asBeginnings              // the same, and all that begins as its paths do
	asNone                    // not at all, as it keeps nobody out
)

func newQuarantine(protects func(refused, good *networkingv1.Ingress) bool) *quarantine {
	return &quarantine{
		entries: map[snapshot.Name]*refusal{}, protects: protects,
		struck: map[string]time.Time{}, cleared: map[snapshot.Name]*networkingv1.Ingress{}, retries: map[snapshot.Name]int{},
	}
}

// add puts the Ingress that nginx refused in a plan in quarantine; good is its
// last good form. It reports whether that changes anything: a form that is refused
// in the place of another gives way to the next one, but a plan that was made
// before the quarantine began says nothing about that form.
func (q *quarantine) add(p *plan, found culprit, good *networkingv1.Ingress) bool {
	name := nameOf(found.object)
	current, tried := p.snap.Ingress(name), p.served.Ingress(name)
	if current == nil || tried == nil {
		return false
	}
	if !found.undecided && q.retries[name] == 0 { // a retry is nobody's change
		q.struck[name.Namespace] = time.Now()
	}
	if was, ok := q.entries[name]; ok {
		form, denied := was.form()
		if form == nil || !sameContent(tried, form) || denied != p.options.Denied[name] || found.undecided && denied != 0 {
			return false // nobody refused the form that is served now
		}
		return was.next(q.protects)
	}
	if good != nil && !found.undecided && sameContent(good, current) {
		good = nil // refused by itself, though it was good before
	}
	entry := &refusal{refused: current, good: good, text: messageOf(found.text), waits: found.undecided, basis: p.basisOf(current)}
	entry.begin(q.protects)
	if !entry.waits {
		q.retryLater(name, entry)
	}
	q.entries[name] = entry
	return true
}

// The first retry of a refused form comes after firstRetry, each later one after
// twice the time, and longestRetry at most.
const (
	firstRetry   = 30 * time.Second
	longestRetry = 30 * time.Minute
)

// retryLater has a form tested again after a while, unless nginx refuses it for a
// line that is wrong by itself. It may be refused only together with what others
// say, and no basis tells when that changes.
func (q *quarantine) retryLater(name snapshot.Name, entry *refusal) {
	if ofTheLine.MatchString(entry.text) {
		entry.retry = time.Time{}
		return
	}
	wait := firstRetry
	for range q.retries[name] {
		wait = min(2*wait, longestRetry)
	}
	q.retries[name]++
	entry.retry = time.Now().Add(wait)
}

// begin chooses the first form.
func (r *refusal) begin(protects func(refused, good *networkingv1.Ingress) bool) {
	r.closes = protects(r.refused, r.good)
	switch {
	case r.closes:
		r.stand = asClosed
	case r.good != nil:
		r.stand = asGood
	default:
		r.stand = asNone
	}
}

// next goes on to the form that comes after one that nginx refuses; false if there
// is none. One that keeps somebody out is never left out.
func (r *refusal) next(protects func(refused, good *networkingv1.Ingress) bool) bool {
	switch r.stand {
	case asGood:
		r.good = nil
		r.begin(protects)
		return true
	case asClosed:
		r.stand = asBeginnings
		return true
	}
	return false
}

// form gives what is served, nil for nothing, and how much of it answers 503.
func (r *refusal) form() (served *networkingv1.Ingress, denied translate.Denial) {
	switch r.stand {
	case asGood:
		return r.good, 0
	case asClosed:
		return r.refused, translate.DenyPaths
	case asBeginnings:
		return r.refused, translate.DenyBeginnings
	}
	return nil, 0
}

// release forgets the Ingresses whose owner changed or deleted them. What a
// refusal depended on may change too: then the Ingress is tested again.
func (q *quarantine) release(snap *snapshot.Snapshot, basisOf func(*networkingv1.Ingress) basis) {
	for name, entry := range q.entries {
		current := snap.Ingress(name)
		if current == nil || !sameContent(current, entry.refused) {
			delete(q.entries, name)
			delete(q.retries, name)
			continue
		}
		entry.refused = current
		if now := basisOf(current); !now.same(entry.basis) {
			entry.basis, entry.waits = now, true
			if closes := q.protects(current, entry.good); closes && !entry.closes {
				entry.begin(q.protects)
			}
		}
	}
	for name, form := range q.cleared {
		if snap.Ingress(name) != form {
			delete(q.cleared, name)
			delete(q.retries, name)
		}
	}
}

// probation is how long changes of a namespace are tested by themselves after one
// of its Ingresses was refused.
const probation = time.Minute

// hold keeps what is new since an earlier snapshot out of the file, if it is of a
// namespace of which nginx refused something lately: it waits for a test of its
// own, so that nobody else waits for it.
func (q *quarantine) hold(p *plan, before *snapshot.Snapshot, good map[snapshot.Name]*networkingv1.Ingress) {
	for namespace, at := range q.struck {
		if time.Since(at) > probation {
			delete(q.struck, namespace)
		}
	}
	if len(q.struck) == 0 {
		return
	}
	for _, ing := range p.snap.Ingresses() {
		if _, struck := q.struck[ing.Namespace]; !struck {
			continue
		}
		name := snapshot.Name{Namespace: ing.Namespace, Name: ing.Name}
		was := before.Ingress(name)
		if q.entries[name] != nil || q.cleared[name] == ing || was != nil && sameContent(was, ing) || good[name] != nil && sameContent(good[name], ing) {
			continue
		}
		entry := &refusal{refused: ing, good: good[name], waits: true, basis: p.basisOf(ing),
			text: "nginx refused other Ingresses of the namespace " + ing.Namespace + " in the last minute"}
		entry.begin(q.protects)
		q.entries[name] = entry
	}
}

// substitute gives the snapshot that is served: other forms in the place of those
// in quarantine. denied are the Ingresses whose paths answer 503.
func (q *quarantine) substitute(snap *snapshot.Snapshot) (served *snapshot.Snapshot, denied map[snapshot.Name]translate.Denial) {
	if len(q.entries) == 0 {
		return snap, nil
	}
	replace := make(map[snapshot.Name]*networkingv1.Ingress, len(q.entries))
	denied = map[snapshot.Name]translate.Denial{}
	for name, entry := range q.entries {
		form, denies := entry.form()
		if form != entry.refused {
			replace[name] = form
		}
		if denies != 0 {
			denied[name] = denies
		}
	}
	return snap.WithIngresses(replace), denied
}

// problems tells the owners, in a fixed order.
func (q *quarantine) problems() []model.Problem {
	var problems []model.Problem
	for name, entry := range q.entries {
		problem := entry.problem()
		problem.Object = model.ObjectRef{Kind: "Ingress", Namespace: name.Namespace, Name: name.Name}
		problems = append(problems, problem)
	}
	slices.SortFunc(problems, func(a, b model.Problem) int { return a.Object.Compare(b.Object) })
	return problems
}

func (r *refusal) problem() model.Problem {
	reason, text := model.Refused, "nginx refuses it"
	if r.waits {
		reason, text = model.Untested, "it waits for a test of its own"
	}
	switch {
	case r.stand == asGood:
		text += ": its last good form is served (" + r.text + ")"
	case !r.closes:
		text += ", and it has no earlier form: it is not served (" + r.text + ")"
	case r.good != nil:
		text += " (" + r.text + "), and its earlier form lacks a protection that it adds"
	default:
		text += " (" + r.text + "), and it protects its paths"
	}
	return model.Problem{Reason: reason, Text: text, Denies: r.closes && r.stand != asGood}
}

// sameContent compares what Sluice reads of an Ingress: annotations and spec.
func sameContent(a, b *networkingv1.Ingress) bool {
	if a == b {
		return true
	}
	return equality.Semantic.DeepEqual(a.Annotations, b.Annotations) && equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

func nameOf(ref model.ObjectRef) snapshot.Name {
	return snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}
}

// messageOf makes nginx's message fit a log line and an event: one line, and without
// the limits that users did not write.
func messageOf(text string) string { return render.WithoutLimits(nginx.OneLine(text)) }
