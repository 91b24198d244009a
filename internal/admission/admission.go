// Package admission decides whether an Ingress, or the ConfigMap with the settings, may be stored. In
// go the newest snapshot and the object that somebody wants to store; out come the Problems that it
// may not be stored with, and warnings. It is pure: nothing is run, and nothing written.
//
// The Ingress is judged by the core that serves it, beside the Ingresses that share a name with it.
// So a review costs what those cost, however many others there are.
package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/annotations"
	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// HandOver is the annotation with which an Ingress lets another one, as NAMESPACE/NAME, have its
// hosts and paths too, until one of the two goes.
const HandOver = annotations.OwnPrefix + "hand-over"

// Basis is what Ingresses are judged by. Nothing of it may change.
type Basis struct {
	Snapshot *snapshot.Snapshot
	// Options are those of the controller. Of these, Watch, Translate, Templates and Environment
	// are used.
	Options lint.Options
	// Alone judges an Ingress without those that share a name with it.
	Alone bool
}

// Verdict is the result of a review.
type Verdict struct {
	// Ours is set if the Ingress would be served, or the settings read. Others are not judged.
	Ours bool
	// Rejections are the Problems with which it may not be stored, Warnings what its author should
	// know. Both are sorted.
	Rejections, Warnings []model.Problem
	// Beside is the number of Ingresses that it was judged beside.
	Beside int
}

// Reviewer reviews Ingresses. Its methods may be called at any time. Use New.
type Reviewer struct {
	mutex sync.Mutex
	names names
	// remembered are the memories of former reviews.
	remembered sync.Pool
}

// memory has what most reviews have in common: the settings, their text, and the servers for
// requests that no Ingress takes.
type memory struct {
	memo    *translate.Memo
	checker *render.Checker
}

// New returns a Reviewer.
func New() *Reviewer {
	return &Reviewer{remembered: sync.Pool{New: func() any { return &memory{memo: translate.NewMemo()} }}}
}

// MostParts is the most that is judged at a time, in rules, paths and hosts of TLS: those of the
// Ingress, and of the others on its hosts.
const MostParts = 20000

// Case is an Ingress that is to be judged. Use Open.
type Case struct {
	// Ours is set if the Ingress would be served. Others are not judged.
	Ours bool
	// Parts is the number of rules, paths and hosts of TLS to judge.
	Parts int

	by             *Reviewer
	basis          Basis
	object, former *networkingv1.Ingress
	beside         []*networkingv1.Ingress
	isRead         bool
}

// Open finds what an Ingress is judged beside. former is its stored form, nil for a new one: what is
// wrong with that already is no reason to reject another change.
func (r *Reviewer) Open(b Basis, object, former *networkingv1.Ingress) *Case {
	if !b.Serves(object) {
		return &Case{}
	}
	b.Options.Translate.Denied = nil
	if former == nil {
		object = asYoungest(object)
	}
	beside, isRead := r.beside(b, object)
	return &Case{Ours: true, Parts: parts(object) + parts(beside...), by: r, basis: b, object: object, former: former, beside: beside, isRead: isRead}
}

// Judge judges the Ingress. It gives up between two steps if ctx ends.
func (c *Case) Judge(ctx context.Context) Verdict {
	switch {
	case !c.Ours:
		return Verdict{}
	case c.Parts > MostParts && c.isUnchanged():
		return Verdict{Ours: true, Beside: len(c.beside)}
	case c.Parts > MostParts:
		return TooLarge(c.object, fmt.Sprintf("want at most %d rules, paths and hosts of TLS, with those of the other Ingresses on its hosts (got %d)", MostParts, c.Parts))
	}
	after := append(slices.Clone(c.beside), c.object)
	found := c.by.judge(c.basis, after)
	suspects := slices.DeleteFunc(slices.Clone(found), func(p model.Problem) bool { return !rejectable(p, c.object) })
	if ctx.Err() != nil {
		return TooLarge(c.object, "it could not be judged in time")
	}
	if len(suspects) > 0 {
		before := c.beside
		if c.former != nil {
			before = append(slices.Clone(before), c.former)
		}
		suspects = newSince(suspects, after, c.by.judge(c.basis, before), before)
	}
	return c.verdict(found, suspects)
}

// verdict sorts Problems into reasons to reject the Ingress, and warnings. suspects are those that
// are new.
func (c *Case) verdict(found, suspects []model.Problem) Verdict {
	v := Verdict{Ours: true, Beside: len(c.beside)}
	var holders holders
	if len(suspects) > 0 {
		holders = holdersOf(c.object, c.beside)
	}
	rejected := map[model.Problem]bool{}
	for _, p := range suspects {
		if p.Reason == model.Conflict && holders.handedOver(p, c.object) {
			continue
		}
		if c.takesSpareName(p) {
			v.Warnings = append(v.Warnings, p)
			continue
		}
		v.Rejections = append(v.Rejections, p)
		rejected[p] = true
	}
	for _, p := range found {
		if p.Object == snapshot.RefOf(c.object) && warned(p, c.isRead) && !rejected[p] {
			v.Warnings = append(v.Warnings, p)
		}
	}
	v.Warnings = model.SortProblems(v.Warnings)
	return v
}

// TooLarge is the verdict on an Ingress that cannot be judged, for a reason.
func TooLarge(object *networkingv1.Ingress, text string) Verdict {
	return Verdict{Ours: true, Rejections: []model.Problem{{Object: snapshot.RefOf(object), Field: "spec", Reason: model.Unsupported, Text: text}}}
}

// isUnchanged reports whether nothing has changed that is judged.
func (c *Case) isUnchanged() bool {
	return c.former != nil && equality.Semantic.DeepEqual(c.object.Spec, c.former.Spec) && maps.Equal(c.object.Annotations, c.former.Annotations)
}

// Serves reports whether an Ingress would be served, by its namespace, class and annotations.
func (b Basis) Serves(object *networkingv1.Ingress) bool {
	ours, _ := translate.Accepts(b.Snapshot, b.Options.Translate, object)
	return ours && !b.skips(object.Namespace)
}

// skips reports whether the Ingresses of a namespace are not served.
func (b Basis) skips(namespace string) bool {
	var known snapshot.Objects
	if labelled := b.Snapshot.Namespace(namespace); labelled != nil {
		known.Namespaces = append(known.Namespaces, labelled)
	}
	return b.Options.Watch.Skips(known, namespace)
}

// asYoungest returns a new Ingress with a date: it takes nothing from others, also not from one that
// was stored in the same second.
func asYoungest(object *networkingv1.Ingress) *networkingv1.Ingress {
	dated := *object
	dated.CreationTimestamp = metav1.NewTime(youngest)
	return &dated
}

// youngest is later than any Ingress.
var youngest = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// judge returns the Problems of some Ingresses, as if there were no others.
func (r *Reviewer) judge(b Basis, some []*networkingv1.Ingress) []model.Problem {
	m := r.remembered.Get().(*memory)
	if m.checker == nil || !m.checker.Is(b.Options.Templates, b.Options.Environment) {
		m.checker = render.NewChecker(b.Options.Templates, b.Options.Environment)
	}
	b.Options.Checker = m.checker
	_, problems := lint.Judge(b.Snapshot.OnlyIngresses(some), b.Options, m.memo)
	r.remembered.Put(m) // not after a panic
	return model.SortProblems(problems)
}

// rejectable reports whether an Ingress may be rejected for a Problem: one of its own that keeps it
// from being served as written, or a conflict that it makes for another. What it refers to may come
// later, so that what is missing is no reason.
func rejectable(p model.Problem, object *networkingv1.Ingress) bool {
	if p.Object != snapshot.RefOf(object) {
		return p.Reason == model.Conflict && snapshot.IsIngress(p.Object)
	}
	return isReason(p)
}

// isReason reports whether an object may be rejected for a Problem of its own.
func isReason(p model.Problem) bool {
	switch p.Reason {
	case model.NotFound, model.NoRoom, model.Unhealthy, model.Untested:
		return false
	}
	return lint.SeverityOf(p) == lint.Error
}

// warned reports whether the author is told of a Problem that is no reason to reject the Ingress.
// Secrets and ConfigMaps are known only once an Ingress refers to them, and Services of a namespace
// once it is read.
func warned(p model.Problem, isRead bool) bool {
	if p.Reason != model.NotFound {
		return lint.SeverityOf(p) != lint.Note
	}
	return isRead && strings.Contains(p.Field, ".service")
}
