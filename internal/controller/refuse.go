package controller

import (
	"errors"
	"slices"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
	"sluice/internal/tokens"
)

// refuse puts in quarantine what nginx refused, and reports whether something else is
// served now: it refuses new templates first, then settings, then the culprits, and if there
// are none, whoever may be the cause. nginx keeps running the previous file meanwhile.
func (c *Controller) refuse(o outcome) bool {
	switch {
	case c.templates != nil && o.plan.templates != c.templates && c.quarantine.Of(templatesSubject) == nil:
		return c.refuseTemplates(o)
	case len(o.settings) > 0:
		return c.refuseSettings(o.plan, o.settings)
	}
	broken := c.settingsBroke(o)
	if len(broken) > 0 && c.refuseSettings(o.plan, []refusedGroup{{text: messageOf(o.reason())}}, o.plan.causes(broken)...) {
		return true
	}
	if c.leaveOut(o.plan, o.culprits) {
		c.rounds = o.plan.rounds + 1
		return true
	}
	return c.setAside(o)
}

// refuseTemplates returns to the templates that nginx accepted last. A culprit may be
// wrong with these too: the new templates are tried again when a culprit or the
// settings change.
func (c *Controller) refuseTemplates(o outcome) bool {
	subjects := []quarantine.Subject{nginxSubject, c.settingsOwner()}
	var objects []model.ObjectRef
	for _, culprit := range o.culprits {
		objects = append(objects, culprit.object)
	}
	subjects = append(subjects, o.plan.causes(objects)...)
	refused := c.quarantine.Refuse(o.plan.turn, quarantine.Finding{
		Subject: templatesSubject, Refused: o.plan.templates, Good: c.templates,
		Basis: quarantine.Look(o.plan.look).Basis(subjects...),
	})
	if refused {
		c.Log.Error("templates rejected; the previous ones stay in use", "error", "nginx refuses their output: "+o.reason())
	}
	return refused
}

// settingsOwner returns the ConfigMap of the settings.
func (c *Controller) settingsOwner() quarantine.Subject {
	name := c.Translate.ConfigMap
	return quarantine.Of(model.ObjectRef{Kind: "ConfigMap", Namespace: name.Namespace, Name: name.Name})
}

// settingsBroke returns the Ingresses that nginx rejects now and accepted with other
// settings: then the settings are wrong. An Ingress tells nothing if an object that it
// names changed with the settings, for example the ConfigMap with the named snippets.
func (c *Controller) settingsBroke(o outcome) []model.ObjectRef {
	current := o.plan.configMap
	if current == nil || c.good.settings == nil || sameSettings(c.good.settings, current) {
		return nil
	}
	var broken []model.ObjectRef
	for _, found := range o.culprits {
		good, now := c.good.form(found.object), o.plan.servedForm(found.object)
		if found.stream == "" && good != nil && now != nil && sameForm(good, now) && o.plan.namesTheSame(found.object, c.shown.serving) {
			broken = append(broken, found.object)
		}
	}
	return broken
}

// servedForm returns the form of an object that a plan serves, nil for none.
func (p *plan) servedForm(o model.ObjectRef) quarantine.Form {
	return orNone(p.served.IngressOf(o))
}

// finding returns what is known about a culprit of a plan, and false if the plan does
// not have it.
func (p *plan) finding(found culprit, good *lastGood) (f quarantine.Finding, ok bool) {
	f = quarantine.Finding{Subject: found.subject(), Verdict: found.verdict()}
	if found.stream != "" {
		at := slices.IndexFunc(p.config.Static.Streams, func(s model.Stream) bool { return s.Key() == found.stream })
		if at < 0 {
			return f, false
		}
		f.Refused, f.Basis = &p.config.Static.Streams[at], p.basis
		return f, true
	}
	f.Refused, f.Good, f.Basis, f.Apart = p.look(f.Subject), good.form(found.object), p.basisOf(found.object), true
	return f, f.Refused != nil && p.servedForm(found.object) != nil
}

// subject returns the part of the culprit's object that nginx rejects.
func (c culprit) subject() quarantine.Subject {
	return quarantine.Subject{ObjectRef: c.object, Part: c.stream}
}

// verdict returns nginx's verdict.
func (c culprit) verdict() quarantine.Verdict {
	return quarantine.Verdict{Text: messageOf(c.text), Undecided: c.undecided}
}

// refused reports whether nginx's test failed, with or without a culprit.
func (o outcome) refused() bool {
	var test *nginx.TestError
	return len(o.culprits) > 0 || len(o.settings) > 0 || errors.As(o.err, &test)
}

// reason returns nginx's message.
func (o outcome) reason() string {
	switch {
	case len(o.settings) > 0:
		return o.settings[0].text
	case len(o.culprits) > 0:
		return o.culprits[0].text
	}
	return o.err.Error()
}

// messageOf shortens nginx's message for a log line or an event: it has one line,
// without the limits that users did not write.
func messageOf(text string) string { return tokens.WithoutLimits(nginx.OneLine(text)) }
