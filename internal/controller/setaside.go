package controller

import (
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// suspects are the Ingresses that a plan serves, each the oldest first.
type suspects struct {
	// untested are those that nginx never ran in this form. Of them, untyped have
	// annotations that only nginx can judge.
	untested, untyped []model.ObjectRef
	// passed are those that passed a separate test, and did not run together with the
	// others yet.
	passed []model.ObjectRef
	// known ran, in this process or before. Of them, knownUntyped have such annotations.
	known, knownUntyped []model.ObjectRef
	// closed have their paths closed.
	closed []model.ObjectRef
}

// suspectsOf divides the Ingresses of a plan.
func (c *Controller) suspectsOf(p *plan) (s suspects) {
	runs := p.runsIn(c.lastConfirmed)
	for _, ing := range p.accepted {
		o := snapshot.RefOf(ing)
		good, _ := c.good.form(o).(*networkingv1.Ingress)
		switch {
		case p.options.Denied[o] != 0:
			s.closed = append(s.closed, o)
		case runs(o), good != nil && sameContent(good, ing):
			s.known = append(s.known, o)
			if isUntyped(ing, p.options.AnnotationsPrefix) {
				s.knownUntyped = append(s.knownUntyped, o)
			}
		case p.passedAlone(o):
			s.passed = append(s.passed, o)
		default:
			s.untested = append(s.untested, o)
			if isUntyped(ing, p.options.AnnotationsPrefix) {
				s.untyped = append(s.untyped, o)
			}
		}
	}
	return s
}

// setAside leaves out whoever may be the cause of a refusal for which nginx names nobody who
// fails alone, and reports whether something else is served now. Those that are left out
// are tested in small files, and join the others again. Each call leaves out more:
//
//   - those that nginx never ran: first those with text that only nginx can judge, then all;
//   - of those that passed a separate test, the newer half, and in the end the one that fails
//     only together with others;
//   - the settings, if they differ from those that nginx ran;
//   - those that nginx ran, as it may be another nginx, or something that they name is gone:
//     first of all if nginx refuses even the file that it runs;
//   - what is still served of those that are closed.
func (c *Controller) setAside(o outcome) bool {
	text := messageOf(o.reason())
	if o.baseless {
		return c.refuseSettings(o.plan, []refusedGroup{{text: text}})
	}
	s := c.suspectsOf(o.plan)
	waitKnown := func() bool { return c.wait(o.plan, s.knownUntyped, text) || c.wait(o.plan, s.known, text) }
	switch {
	case o.stale && waitKnown():
		return true
	case c.wait(o.plan, s.untyped, text), c.wait(o.plan, s.untested, text):
		return true
	case len(s.passed) > 0:
		return c.joinLater(o.plan, s.passed, text)
	}
	return c.refuseSettings(o.plan, []refusedGroup{{text: text}}) ||
		waitKnown() || c.closeMore(o.plan, s.closed, text)
}

// wait makes Ingresses wait for separate tests.
func (c *Controller) wait(p *plan, objects []model.ObjectRef, text string) (changed bool) {
	for _, found := range waiting(objects, text) {
		f, ok := p.finding(found, c.good)
		if !ok {
			continue
		}
		if f.Good != nil && sameForm(f.Good, f.Refused) {
			f.Good = nil
		}
		changed = c.quarantine.Refuse(p.turn, f) || changed
	}
	return changed
}

// joinLater leaves out the newer half of those that passed a separate test until nginx runs
// the others. The last one of them is refused.
func (c *Controller) joinLater(p *plan, passed []model.ObjectRef, text string) (changed bool) {
	if len(passed) == 1 {
		f, ok := p.finding(culprit{object: passed[0], text: "together with others: " + text}, c.good)
		return ok && c.quarantine.Refuse(p.turn, f)
	}
	for _, found := range waiting(passed[len(passed)/2:], text) {
		if f, ok := p.finding(found, c.good); ok {
			c.quarantine.PutBack(f)
			changed = true
		}
	}
	return changed
}

// closeMore closes everything that begins as the paths of closed Ingresses do.
func (c *Controller) closeMore(p *plan, closed []model.ObjectRef, text string) (changed bool) {
	for _, object := range closed {
		if f, ok := p.finding(culprit{object: object, text: text}, c.good); ok {
			changed = c.quarantine.Refuse(p.turn, f) || changed
		}
	}
	return changed
}
