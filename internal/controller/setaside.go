package controller

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// suspects are the Ingresses that a plan serves, each list the oldest first.
type suspects struct {
	// untested are those that nginx never ran in this form.
	untested []model.ObjectRef
	// passed are those that passed a separate test, and did not run together with the
	// others yet.
	passed []model.ObjectRef
	// known ran, in this process or before.
	known []model.ObjectRef
	// closed have their paths closed.
	closed []model.ObjectRef
}

// suspectsOf divides the Ingresses of a plan.
func (c *Controller) suspectsOf(p *plan) (s suspects) {
	runs := p.runsIn(c.lastConfirmed)
	for _, ing := range p.accepted {
		o := snapshot.RefOf(ing)
		good, _ := c.good.form(o).(*networkingv1.Ingress)
		list := &s.untested
		switch {
		case p.options.Denied[o] != 0:
			list = &s.closed
		case runs(o), good != nil && sameContent(good, ing):
			list = &s.known
		case p.passedAlone(o):
			list = &s.passed
		}
		*list = append(*list, o)
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
//   - what is still served of those that are closed: everything that begins as their paths do
//     is closed then.
func (c *Controller) setAside(o outcome) bool {
	text, p, s := messageOf(o.reason()), o.plan, c.suspectsOf(o.plan)
	settings := func() bool { return c.refuseSettings(p, []refusedGroup{{text: text}}) }
	switch {
	case o.baseless:
		return settings()
	case o.stale && c.wait(p, s.known, text), c.wait(p, s.untested, text):
		return true
	case len(s.passed) == 1:
		return c.leaveOut(p, []culprit{{object: s.passed[0], text: "together with others: " + text}})
	case len(s.passed) > 1:
		return c.joinLater(p, s.passed[len(s.passed)/2:], text)
	}
	return settings() || c.wait(p, s.known, text) || c.leaveOut(p, culpritsOf(s.closed, text, false))
}

// leaveOut puts culprits of a plan in quarantine, and reports whether something else is served
// now.
func (c *Controller) leaveOut(p *plan, culprits []culprit) (changed bool) {
	for _, culprit := range culprits {
		f, ok := p.finding(culprit, c.good)
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

// wait makes Ingresses wait for separate tests: first those with text that only nginx can
// judge, and all if there are none of them.
func (c *Controller) wait(p *plan, objects []model.ObjectRef, text string) bool {
	typed := func(o model.ObjectRef) bool {
		return !isUntyped(p.served.IngressOf(o), p.options.AnnotationsPrefix)
	}
	return c.leaveOut(p, culpritsOf(slices.DeleteFunc(slices.Clone(objects), typed), text, true)) ||
		c.leaveOut(p, culpritsOf(objects, text, true))
}

// joinLater leaves out some of those that passed a separate test until nginx runs the others.
func (c *Controller) joinLater(p *plan, passed []model.ObjectRef, text string) (changed bool) {
	for _, found := range culpritsOf(passed, text, true) {
		if f, ok := p.finding(found, c.good); ok {
			c.quarantine.PutBack(f)
			changed = true
		}
	}
	return changed
}
