package controller

import (
	"context"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// sizeMemory decides once how much memory nginx has for endpoints and certificates. An
// empty nginx gets the sizes of the settings; a later change would empty its memory. An
// external nginx that already serves keeps its sizes.
func (c *Controller) sizeMemory(ctx context.Context, snap *snapshot.Snapshot) {
	if c.Translate.Memory != (model.Memory{}) || c.Process.Running() == 0 {
		return // already decided, or nginx is not running yet
	}
	values, _ := settings.Read(snap.ConfigMap(c.Translate.ConfigMap))
	wanted := values.Memory.Sizes()
	status, err := c.Runtime.Status(ctx)
	if err != nil {
		if c.Process.Running() == 0 {
			c.setMemory(wanted) // it will start with these sizes
		}
		return // otherwise the next sync asks again
	}
	has := model.Memory{Backends: status.Memory.Backends.Size, Certificates: status.Memory.Certificates.Size}
	if status.Version > 0 || has == wanted {
		c.setMemory(has)
		return
	}
	environment := c.Environment
	environment.Memory = wanted
	bootstrap, err := c.templatesInForce().Bootstrap(environment)
	if err == nil {
		err = c.Process.Rebase(ctx, bootstrap.Bytes())
	}
	if err != nil {
		c.Log.Error("the sizes of lua-shared-dicts are not in force", "error", err)
		wanted = has
	}
	c.setMemory(wanted)
}

func (c *Controller) setMemory(m model.Memory) {
	c.Translate.Memory, c.Environment.Memory = m, m
}

// watchMemory handles the result of a push: it logs once if little memory is left, and
// stores what did not fit.
func (c *Controller) watchMemory(pushed error) {
	memory := c.Runtime.Memory()
	c.nearlyFull("certificate_data", memory.Certificates)
	c.nearlyFull("configuration_data", memory.Backends)
	c.roomless = dynamic.Roomless{}
	if pushed != nil {
		c.roomless = c.Runtime.Roomless()
	}
}

func (c *Controller) nearlyFull(name string, d dynamic.Dictionary) {
	var err error
	if d.NearlyFull() {
		err = fmt.Errorf("more than 80 %% of its %d bytes are used: raise %s in the setting lua-shared-dicts", d.Size, name)
	}
	c.report.Trouble("nginx's memory fills up: "+name, err)
}

// tellRoomless adds Problems for endpoints and certificates that did not fit into
// nginx's memory. The plan itself fits, but there can be more for a while, for example
// when many certificates are renewed at once.
func (c *Controller) tellRoomless(p *plan) {
	p.problems = p.found
	if len(c.roomless.Backends)+len(c.roomless.Hosts) == 0 {
		return
	}
	p.problems = slices.Clone(p.found)
	for _, key := range c.roomless.Backends {
		b := p.config.Dynamic.Backend(key)
		if b == nil {
			continue // of an earlier configuration
		}
		p.problems = append(p.problems, model.Problem{Object: b.Target.Object(), Reason: model.NoRoom,
			Text: "nginx has no room for its endpoints: requests go to the previous ones, or get a 503 if there are none; raise configuration_data in the setting lua-shared-dicts"})
	}
	for _, host := range c.roomless.Hosts {
		at := slices.IndexFunc(p.accepted, func(ing *networkingv1.Ingress) bool { return hasTLS(ing, host) })
		if at >= 0 {
			ing := p.accepted[at]
			p.problems = append(p.problems, model.Problem{Object: snapshot.RefOf(ing), Field: "spec.tls", Reason: model.NoRoom,
				Text: "nginx has no room for the certificate of " + host + ": the previous or the default certificate is presented; raise certificate_data in the setting lua-shared-dicts"})
		}
	}
	p.problems = model.SortProblems(p.problems)
}

// hasTLS reports whether an Ingress serves a host with a certificate.
func hasTLS(ing *networkingv1.Ingress, host string) bool {
	return len(ing.Spec.TLS) > 0 && slices.ContainsFunc(ing.Spec.Rules, func(rule networkingv1.IngressRule) bool { return rule.Host == host })
}
