package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// canary is a path of a canary Ingress: it gets a share of the requests of the same
// path of another Ingress of the host.
type canary struct {
	*claim.Claim
	// main is the claim that it shares, winner the canary that gets the share instead.
	main   *claim.Claim
	winner *claim.Claim
	// unlike says how main protects otherwise than the canary; empty if it does not.
	unlike string
	// shares is set if it gets requests.
	shares bool
}

// isForeign reports whether main is of another namespace.
func (c *canary) isForeign() bool { return c.Owner.Ref.Namespace != c.main.Owner.Ref.Namespace }

// collectCanaries adds the rules of canaries to the hosts of other owners, the oldest
// first.
func (t *Assembly) collectCanaries(canaries []*claim.Owner) {
	for _, owner := range canaries {
		for _, rules := range owner.Hosts {
			h := t.memo.hosts[rules.Host]
			switch {
			case h == nil || h.pass != t.memo.pass || len(h.next) == 0:
				t.report(canaryProblem(owner, model.NotFound, fmt.Sprintf("no other Ingress has the host %q: the canary gets no requests of it", rules.Host)))
			case t.byNamespace() && !t.mayShare(h, h.oldestOf(h.next).Ref.Namespace, rules):
				t.report(canaryProblem(owner, model.NotDelegated, fmt.Sprintf("host %q is owned by namespace %s, which does not delegate it: the canary gets no requests of it", rules.Host, h.oldestOf(h.next).Ref.Namespace)))
			default:
				h.nextCanaries = append(h.nextCanaries, rules)
			}
		}
	}
}

func canaryProblem(owner *claim.Owner, reason model.Reason, text string) model.Problem {
	return model.Problem{Object: owner.Ref, Field: owner.PrefixKey + "canary", Reason: reason, Text: text}
}

func (b *builder) listCanaries() {
	for c := range claimsOf(b.host.canaries) {
		b.canaries = append(b.canaries, &canary{Claim: c})
	}
}

// withCanary gives a share of the requests of a claim to its canary. As in
// ingress-nginx, a path has one canary, that of the oldest owner.
func (b *builder) withCanary(c *claim.Claim, id BackendID, main *model.Proxy) *model.Proxy {
	var chosen *canary
	for _, can := range b.canaries {
		if can.Path != c.Path || can.PathType != c.PathType {
			continue
		}
		can.main = c
		switch can.unlike = can.unprotected(c); {
		case b.byNamespace() && can.isForeign():
		case can.unlike != "" || can.Broken || can.Closed || can.IsDenied():
		case chosen != nil:
			can.winner = chosen.Claim
		default:
			chosen = can
		}
	}
	if chosen == nil || chosen.Action == nil {
		return main
	}
	if fault := chosen.Action.Fault; fault != nil {
		b.problem(chosen.Claim, chosen.BackendField()+fault.Field, fault.Reason, chosen.Owner.Consequence(fault.Text))
		return main
	}
	chosen.shares = true
	return b.split(c, id, main, chosen)
}

// unprotected says which protection the canary has, or should have, and the path that it
// shares lacks or has with other values; empty for none.
func (c *canary) unprotected(main *claim.Claim) string {
	if c.Annotations.Denied() {
		return "an annotation that should protect the canary cannot be honoured"
	}
	for _, name := range c.Annotations.Protects() {
		if !slices.Contains(main.Annotations.Protects(), name) {
			return fmt.Sprintf("%s, whose path it shares, has no %s", main.Owner.Ref, name)
		}
	}
	if !c.IsDenied() && !main.ProtectsLike(c.Claim) {
		return fmt.Sprintf("%s, whose path it shares, has another %s", main.Owner.Ref, model.OneOf(c.Annotations.Protects()))
	}
	return ""
}

// split passes to the main backend and to that of a canary. Its key does not depend on
// weights and headers, so that these are pushed without a reload.
func (b *builder) split(c *claim.Claim, id BackendID, main *model.Proxy, can *canary) *model.Proxy {
	asked := can.Annotations.Canary
	share := b.passBalanced(serviceID(can.Claim), can.Claim, balancingOf(c))
	split := &model.Split{Main: main.Backend, Total: asked.Parts(), Shares: []model.Share{{Backend: share.Backend, Name: labelOf(share), Weight: asked.Weight, Rules: rulesOf(asked)}}}
	if split.Cookie = cookieOf(c); split.Cookie != nil {
		split.Tags = []string{labelOf(main), labelOf(share)}
	}
	id.variant = "split-" + hashOf([]string{b.host.name, c.Path, string(c.PathType), main.Backend, share.Backend})
	return b.passSplit(id, main, split, c, can.Claim)
}

// labelOf is the name of a backend in logs.
func labelOf(p *model.Proxy) string { return model.Target{ServicePort: p.Service}.Label() }

// rulesOf returns the rules of a canary: its header comes before its cookie.
func rulesOf(asked *annotations.Canary) []model.ShareRule {
	var rules []model.ShareRule
	switch variable := "http_" + strings.ReplaceAll(strings.ToLower(asked.Header), "-", "_"); {
	case asked.Header == "":
	case asked.Value != "":
		rules = append(rules, model.ShareRule{Variable: variable, Value: asked.Value, Takes: true})
	default:
		rules = alwaysOrNever(rules, variable)
	}
	if asked.Cookie != "" {
		rules = alwaysOrNever(rules, "cookie_"+asked.Cookie)
	}
	return rules
}

// alwaysOrNever adds the rules for a variable with the value "always" or "never".
func alwaysOrNever(rules []model.ShareRule, variable string) []model.ShareRule {
	return append(rules, model.ShareRule{Variable: variable, Value: "always", Takes: true}, model.ShareRule{Variable: variable, Value: "never"})
}

// remarkCanaries records the canaries that share a path, and reports those that get no
// requests, or requests of another namespace.
func (b *builder) remarkCanaries() {
	for _, can := range b.canaries {
		switch {
		case can.main == nil:
			b.problem(can.Claim, ".path", model.NotFound, fmt.Sprintf("no other Ingress has the path %s of the pathType %s on host %q: the canary gets no requests of it",
				claim.Shown(can.Path), can.pathTypeName(), b.host.name))
		case b.byNamespace() && can.isForeign():
			b.problem(can.Claim, "", model.NotDelegated, fmt.Sprintf("%s of another namespace has this path of %s, and only Ingresses of namespace %s can be a canary of it: the canary gets no requests",
				can.main.Owner.Ref, hostWords(b.host.name), can.main.Owner.Ref.Namespace))
		case can.unlike != "":
			b.problem(can.Claim, "", model.Unsupported, can.unlike+": the canary gets no requests")
		case can.winner != nil:
			b.problem(can.Claim, "", model.Conflict, fmt.Sprintf("%s is the canary of this path, and %s", can.winner.Owner.Ref, why(can.winner, can.Claim)))
		case can.shares:
			b.unplaced(can.Owner, can.Field, model.SharesPath, fmt.Sprintf("it is a canary: it has no location, and gets some requests of %s, which has the same path", can.main.Owner.Ref))
			if can.isForeign() {
				b.crossedPath(can)
			}
		}
	}
}

func (c *canary) pathTypeName() claim.PathType {
	if c.PathType == "" {
		return "of spec.defaultBackend"
	}
	return c.PathType
}

// serviceID is the backend that a claim names.
func serviceID(c *claim.Claim) BackendID {
	return BackendID{Service: c.Action.Service, Port: c.Action.Port}
}
