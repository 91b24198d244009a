package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// canary is a path of a canary Ingress: it gets some requests of the path of another
// Ingress of the host that is written in the same way.
type canary struct {
	*claim
	// main is the claim that it has a share of, winner the canary that has it instead.
	main   *claim
	winner *claim
	// lacks is what protects the canary and not the path of the main Ingress.
	lacks string
}

// collectCanaries adds the rules of canaries to hosts that other Ingresses have, the
// oldest first. A canary has no host of its own.
func (t *translation) collectCanaries(canaries []*owner) {
	for _, ing := range canaries {
		for _, rules := range ing.hosts {
			h := t.memo.hosts[rules.host]
			switch {
			case h == nil || h.pass != t.memo.pass || len(h.next) == 0:
				t.report(ing.canaryProblem(model.NotFound, fmt.Sprintf("no other Ingress has the host %q: the canary gets no requests of it", rules.host)))
			case t.byNamespace() && !t.mayShare(h, h.oldestOf(h.next).ref.Namespace, rules):
				t.report(ing.canaryProblem(model.NotDelegated, fmt.Sprintf("host %q is owned by namespace %s, which does not delegate it: the canary gets no requests of it", rules.host, h.oldestOf(h.next).ref.Namespace)))
			default:
				h.nextCanaries = append(h.nextCanaries, rules)
			}
		}
	}
}

func (i *owner) canaryProblem(reason model.Reason, text string) model.Problem {
	return model.Problem{Object: i.ref, Field: i.prefixKey + "canary", Reason: reason, Text: text}
}

// remarkIdle reports the annotations of a canary that have no effect: the Ingress whose
// paths it shares decides.
func (i *owner) remarkIdle() {
	for _, key := range slices.Sorted(maps.Keys(i.object.Annotations)) {
		name, ours := strings.CutPrefix(key, i.prefixKey)
		said := slices.ContainsFunc(i.problems, func(p model.Problem) bool { return p.Field == key })
		if ours && !said && annotations.IsRead(name) && name != "canary" && !strings.HasPrefix(name, "canary-") {
			i.report(key, model.NoEffect, "it has no effect on a canary: the Ingress whose paths it shares decides")
		}
	}
}

// listCanaries makes the canaries of the host.
func (b *builder) listCanaries() {
	for _, rules := range b.host.canaries {
		for i := range rules.claims {
			b.canaries = append(b.canaries, &canary{claim: &rules.claims[i]})
		}
	}
}

// withCanary gives some requests of a claim to its canary. As with ingress-nginx a path has
// one: that of the oldest Ingress.
func (b *builder) withCanary(c *claim, id backendID, main *model.Proxy) *model.Proxy {
	var chosen *canary
	for _, can := range b.canaries {
		if can.path != c.path || can.pathType != c.pathType {
			continue
		}
		can.main = c
		switch can.lacks = can.unprotected(c); {
		case can.lacks != "" || can.broken || can.closed || can.isDenied():
		case chosen != nil:
			can.winner = chosen.claim
		default:
			chosen = can
		}
	}
	if chosen == nil || chosen.action == nil {
		return main
	}
	if fault := chosen.action.fault; fault != nil {
		b.problem(chosen.claim, chosen.backendField()+fault.field, fault.reason, chosen.consequence(fault.text))
		return main
	}
	return b.split(c, id, main, chosen)
}

// consequence gives the text of a Problem with the backend of a claim. A canary without
// a backend costs its main Ingress nothing.
func (c *claim) consequence(text string) string {
	if c.annotations.Canary.Enabled {
		return strings.ReplaceAll(text, "503 is answered", "the canary gets no requests")
	}
	return text
}

// unprotected names something that keeps requests out of a canary, or should, and not
// out of the path that it shares.
func (c *canary) unprotected(main *claim) string {
	if c.annotations.Denied() {
		return "a valid form of what protects the canary"
	}
	for _, name := range c.annotations.Protects() {
		if !slices.Contains(main.annotations.Protects(), name) {
			return name
		}
	}
	return ""
}

// split passes to the main backend and to that of a canary. Its key tells nothing of
// weights and headers, so that nginx is told of them while it runs.
func (b *builder) split(c *claim, id backendID, main *model.Proxy, can *canary) *model.Proxy {
	asked := can.annotations.Canary
	share := b.passBalanced(serviceID(can.claim), can.claim, c.balancing())
	split := &model.Split{Main: main.Backend, Total: asked.Parts(), Shares: []model.Share{{Backend: share.Backend, Name: labelOf(share), Weight: asked.Weight}}}
	split.Shares[0].Always, split.Shares[0].Never = conditionsOf(asked)
	if balancing := c.balancing(); balancing != nil {
		split.Cookie, split.Tags = balancing.Cookie.Name, []string{labelOf(main), labelOf(share)}
	}
	id.variant = "split-" + hashOf([]string{b.host.name, c.path, string(c.pathType), main.Backend, share.Backend})
	entry := b.backendOf(id)
	if entry.split == nil || hashOf(entry.split) != hashOf(split) {
		entry.split = split
	}
	p := b.pass(id, nil)
	p.Service, p.Transport = main.Service, main.Transport
	return p
}

// labelOf is what logs call a backend.
func labelOf(p *model.Proxy) string { return model.Target{ServicePort: p.Service}.Label() }

// conditionsOf are the values of the header by which a request is always or never the
// canary's.
func conditionsOf(asked *annotations.Canary) (always, never []model.ValueIs) {
	if asked.Header == "" {
		return nil, nil
	}
	variable := "http_" + strings.ReplaceAll(strings.ToLower(asked.Header), "-", "_")
	if asked.Value != "" {
		return []model.ValueIs{{Variable: variable, Value: asked.Value}}, nil
	}
	return []model.ValueIs{{Variable: variable, Value: "always"}}, []model.ValueIs{{Variable: variable, Value: "never"}}
}

// remarkCanaries reports the canaries of the host that get no requests.
func (b *builder) remarkCanaries() {
	for _, can := range b.canaries {
		switch {
		case can.main == nil:
			b.problem(can.claim, ".path", model.NotFound, fmt.Sprintf("no other Ingress has the path %s of the pathType %s on host %q: the canary gets no requests of it",
				shown(can.path), can.pathTypeName(), b.host.name))
		case can.lacks != "":
			b.problem(can.claim, "", model.Unsupported, fmt.Sprintf("%s, whose path it shares, has no %s: the canary gets no requests", can.main.owner.ref, can.lacks))
		case can.winner != nil:
			b.problem(can.claim, "", model.Conflict, fmt.Sprintf("%s is the canary of this path, and %s", can.winner.owner.ref, why(can.winner, can.claim)))
		}
	}
}

func (c *canary) pathTypeName() pathType {
	if c.pathType == "" {
		return "of spec.defaultBackend"
	}
	return c.pathType
}

// serviceID is the backend that a claim names.
func serviceID(c *claim) backendID {
	return backendID{service: c.action.service, port: c.action.port}
}
