package controller

import (
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// substitute replaces rejected, missing and untested templates, settings and Ingresses
// by the forms in force. A refusal may depend on those before it in this order. Streams
// follow once they are known (see streamGuard.screen).
func (c *Controller) substitute(p *plan) {
	p.options, p.nginx = c.Translate, c.nginx
	p.options.ClassesUnreadable, p.options.Replicas = p.classesUnreadable, p.replicas
	read := c.settings.read(p.snap.ConfigMap(c.Translate.ConfigMap), c.goodSettings())
	p.templates, p.settings = c.Templates.Current(), c.settings.recall(p.good, c.Translate.AnnotationsPrefix)
	c.quarantine.Release(is[*render.Templates], p.look)
	p.templates = c.templatesInForce()
	c.quarantine.Release(is[*corev1.ConfigMap], p.look)
	p.served, p.configMap = p.snap, c.settingsInForce(read, p.settings)
	if p.configMap != p.snap.ConfigMap(c.Translate.ConfigMap) {
		p.served = p.snap.WithConfigMap(p.configMap)
	}
	p.configs = p.configsOf()
	p.basis = quarantine.Look(p.look).Basis(templatesSubject, settingsSubject, nginxSubject)
	p.settingsOf = sync.OnceValue(func() func(*networkingv1.Ingress) *settings.Settings { return translate.Settings(p.served, p.options) })
	c.settingsOf = p.settingsOf
	c.quarantine.Release(is[*networkingv1.Ingress], p.look)
	if c.latest == nil {
		c.recall(p)
	} else {
		c.hold(p)
	}
	p.passed = c.quarantine.Passed()
	c.substituteIngresses(p)
}

// templatesInForce returns the newest templates, or those that nginx accepted last if
// it rejects the newest.
func (c *Controller) templatesInForce() *render.Templates {
	if r := c.quarantine.Of(templatesSubject); r != nil {
		return r.Form().(*render.Templates)
	}
	return c.Templates.Current()
}

// hold delays new forms in namespaces in which nginx recently rejected something.
func (c *Controller) hold(p *plan) {
	struck := c.quarantine.Struck()
	if len(struck) == 0 {
		return
	}
	for _, name := range p.snap.Since(c.latest.snap).Ingresses {
		if _, held := struck[name.Namespace]; !held {
			continue
		}
		text := "nginx refused other Ingresses of the namespace " + name.Namespace + " in the last minute"
		f, ok := p.finding(culprit{object: snapshot.IngressRef(name), text: text, undecided: true}, c.good)
		if was := c.latest.look(f.Subject); ok && (was == nil || !sameForm(was, f.Refused)) {
			c.quarantine.Hold(f)
		}
	}
}

// denial is how much of an Ingress returns 503.
func (c *Controller) denial(r *quarantine.Refusal, ing *networkingv1.Ingress) claim.Denial {
	switch {
	case r.Stand == quarantine.AsBeginnings:
		return claim.DenyBeginnings
	case r.Stand != quarantine.AsClosed:
		return 0
	case c.ranSnippet(r, ing):
		return claim.DenyButSnippet
	case r.Waits:
		return claim.DenyUntested
	}
	return claim.DenyPaths
}

// ranSnippet reports whether nginx ran the server snippet of a form in quarantine, in the last
// good form of the Ingress. That was good also if it is the one that waits.
func (c *Controller) ranSnippet(r *quarantine.Refusal, refused *networkingv1.Ingress) bool {
	form := r.Good
	if r.Waits {
		form = c.good.form(r.Subject.ObjectRef)
	}
	good, _ := form.(*networkingv1.Ingress)
	if good == nil {
		return false
	}
	of, prefix := c.settingsOf(), c.Translate.AnnotationsPrefix
	now, was := annotations.Read(refused, of(refused), prefix), annotations.Read(good, of(good), prefix)
	return now.ServerSnippet.Text == was.ServerSnippet.Text && reflect.DeepEqual(now.NamedSnippets, was.NamedSnippets)
}

// substituteIngresses replaces the Ingresses in quarantine.
func (c *Controller) substituteIngresses(p *plan) {
	if c.quarantine.Empty() {
		return
	}
	replace := map[snapshot.Name]*networkingv1.Ingress{}
	p.options.Denied = map[model.ObjectRef]claim.Denial{}
	for r := range c.quarantine.All() {
		refused, ok := r.Refused.(*networkingv1.Ingress)
		if !ok {
			continue
		}
		served, _ := r.Form().(*networkingv1.Ingress)
		if served != refused {
			replace[nameOf(r.Subject.ObjectRef)] = served
		}
		if denial := c.denial(r, refused); denial != 0 {
			p.options.Denied[r.Subject.ObjectRef] = denial
		}
	}
	p.served = p.served.WithIngresses(replace)
}

// refusals returns the Problems of everything in quarantine.
func (c *Controller) refusals() []model.Problem {
	var problems []model.Problem
	for r := range c.quarantine.All() {
		switch form := r.Refused.(type) {
		case *networkingv1.Ingress:
			problems = append(problems, routeProblem(r))
		case *corev1.ConfigMap:
			problems = append(problems, settingsProblem(r))
		case *model.Stream:
			problems = append(problems, model.Problem{Object: form.Source, Field: form.Field, Reason: model.Refused, Text: "nginx refuses it: the service is not served (" + r.Text + ")"})
		case busyForm:
			problems = append(problems, model.Problem{Object: form.Source, Field: form.Field, Reason: model.Conflict, Text: r.Text})
		}
	}
	slices.SortFunc(problems, model.Problem.Compare)
	return problems
}

// routeProblem tells the owner of an Ingress in which form it is served, and why.
func routeProblem(r *quarantine.Refusal) model.Problem {
	reason, text := model.Refused, "nginx refuses it"
	switch {
	case r.Joins:
		reason, text = model.Untested, "nginx refuses it together with others, which it joins later"
	case r.Waits:
		reason, text = model.Untested, "it waits for a separate test"
	}
	switch {
	case r.Stand == quarantine.AsGood:
		text += ": its last good form is served (" + r.Text + ")"
	case !r.Closes:
		text += ", and it has no earlier form: it is not served (" + r.Text + ")"
	case r.Good != nil:
		text += " (" + r.Text + "), and its earlier form lacks a protection that it adds"
	default:
		text += " (" + r.Text + "), and it protects its paths"
	}
	return model.Problem{Object: r.Subject.ObjectRef, Reason: reason, Text: text, Denies: r.Closes && r.Stand != quarantine.AsGood}
}
