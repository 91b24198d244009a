package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
)

// canary is a path of a canary Ingress: it gets a share of the requests of the same
// path of another Ingress of the host.
type canary struct {
	*claim.Claim
	// main is the claim that it shares, winner an earlier path of the same canary. matching is
	// a claim of the path for some requests only, which it does not share.
	main, winner, matching *claim.Claim
	// late is set if the path has too many canaries.
	late bool
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

// mostCanaries is the maximum number of canaries of a path, because each request goes
// through their rules.
const mostCanaries = 16

// withCanaries gives shares of the requests of a claim to its canaries, the oldest first. A
// claim with a match has none: it may be for a tenant, whom nobody chose the canary for.
func (b *builder) withCanaries(c *claim.Claim, id BackendID, main *model.Proxy) *model.Proxy {
	var chosen []*canary
	for _, can := range b.canaries {
		if can.Path != c.Path || can.PathType != c.PathType {
			continue
		}
		if c.Match != nil {
			can.matching = c
			continue
		}
		can.main = c
		first := slices.IndexFunc(chosen, func(other *canary) bool { return other.Owner == can.Owner })
		switch can.unlike = can.unprotected(c); {
		case b.byNamespace() && can.isForeign():
		case can.unlike != "" || can.Broken || can.Closed || can.IsDenied():
		case first >= 0:
			can.winner = chosen[first].Claim
		case len(chosen) == mostCanaries:
			can.late = true
		case b.takesShare(can):
			chosen = append(chosen, can)
		}
	}
	if len(chosen) == 0 {
		return main
	}
	return b.split(c, id, main, chosen)
}

// takesShare reports whether a canary has a Service, and reports its fault.
func (b *builder) takesShare(can *canary) bool {
	if can.Action.Service == nil {
		return false
	}
	if fault := can.Action.Service.Fault; fault != nil {
		b.problem(can.Claim, can.BackendField()+fault.Field, fault.Reason, can.Owner.Consequence(fault.Text))
		return false
	}
	can.shares = true
	return true
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

// split passes to the main backend and to those of canaries. Its key does not depend on
// weights and headers, so that these are pushed without a reload.
func (b *builder) split(c *claim.Claim, id BackendID, main *model.Proxy, canaries []*canary) *model.Proxy {
	split := &model.Split{Main: main.Backend, Total: totalOf(canaries), Cookie: cookieOf(c)}
	if split.Cookie != nil {
		split.Tags = []string{labelOf(main)}
	}
	b.out.uses[len(b.out.uses)-1].Instead = "requests that no canary takes fail" // that of the main backend
	claims, named := []*claim.Claim{c}, []string{b.host.name, c.Path, string(c.PathType), main.Backend}
	watched := false
	for _, can := range canaries {
		asked := can.Annotations.Canary
		b.remarkUnchecked(can.Claim, c)
		share := b.passBalanced(serviceID(can.Claim), can.Claim, balancingOfShare(can.Claim, c))
		split.Shares = append(split.Shares, model.Share{Backend: share.Backend, Name: labelOf(share), Weight: asked.PartOf(split.Total), Rules: b.shareRules(can)})
		watched = watched || share.Watched
		switch {
		case split.Cookie == nil:
		case asked.IsLegacy():
			split.Tags = append(split.Tags, "")
		default:
			split.Tags = append(split.Tags, labelOf(share))
		}
		claims, named = append(claims, can.Claim), append(named, share.Backend)
	}
	b.remarkWeights(canaries, split)
	id.variant = "split-" + hashOf(named)
	p := b.passSplit(id, main, split, claims...)
	p.Watched = p.Watched || watched
	return p
}

// finestTotal is the total of canaries with several totals.
const finestTotal = 1_000_000_000

// totalOf returns the total of the weights of canaries.
func totalOf(canaries []*canary) int {
	total := canaries[0].Annotations.Canary.Parts()
	for _, can := range canaries[1:] {
		if can.Annotations.Canary.Parts() != total {
			return finestTotal
		}
	}
	return total
}

// remarkWeights reports canaries whose weights older ones leave no requests for.
func (b *builder) remarkWeights(canaries []*canary, split *model.Split) {
	left := split.Total
	for i, share := range split.Shares {
		if i > 0 && share.Weight > left {
			can := canaries[i].Claim
			b.tell(model.Problem{Object: can.Owner.Ref, Field: can.Owner.PrefixKey + "canary-weight", Reason: model.Conflict,
				Text: fmt.Sprintf("the weights of the canaries of %s add up to more than all requests, and the oldest count: by weight, it gets %d %% of them", claim.Shown(can.Path), 100*left/split.Total)})
		}
		left = max(left-share.Weight, 0)
	}
}

// labelOf is the name of a backend in logs.
func labelOf(p *model.Proxy) string { return model.Target{ServicePort: p.Service}.Label() }

// shareRules returns the rules of a canary: its header comes before its cookie.
func (b *builder) shareRules(can *canary) []model.ShareRule {
	asked := can.Annotations.Canary
	var rules []model.ShareRule
	switch variable := "http_" + strings.ReplaceAll(strings.ToLower(asked.Header), "-", "_"); {
	case asked.Header == "":
	case asked.Value != "":
		rules = append(rules, model.ShareRule{Variable: variable, Value: asked.Value, Takes: true})
	case asked.Pattern == "":
		rules = alwaysOrNever(rules, variable)
	case pcre.Taken(asked.Pattern):
		rules = append(rules, model.ShareRule{Variable: variable, Pattern: asked.Pattern, Limit: b.Settings.Patterns.MatchLimit, Takes: true})
	default:
		b.tell(model.Problem{Object: can.Owner.Ref, Field: can.Owner.PrefixKey + "canary-by-header-pattern", Reason: model.InvalidValue,
			Text: fmt.Sprintf("want a regular expression (got %s): no request goes to the canary by its header", model.Quoted(asked.Pattern))})
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
			b.problem(can.Claim, ".path", model.NotFound, b.unshared(can)+": the canary gets no requests of it")
		case b.byNamespace() && can.isForeign():
			b.problem(can.Claim, "", model.NotDelegated, fmt.Sprintf("%s of another namespace has this path of %s, and only Ingresses of namespace %s can be a canary of it: the canary gets no requests",
				can.main.Owner.Ref, hostWords(b.host.name), can.main.Owner.Ref.Namespace))
		case can.unlike != "":
			b.problem(can.Claim, "", model.Unsupported, can.unlike+": the canary gets no requests")
		case can.winner != nil:
			b.problem(can.Claim, "", model.Conflict, fmt.Sprintf("its Ingress has this path before, with %s, and %s", can.winner.Field, why(can.winner, can.Claim)))
		case can.late:
			b.problem(can.Claim, "", model.NoRoom, fmt.Sprintf("%s has %d older canaries at this path: want at most %d; the canary gets no requests", can.main.Owner.Ref, mostCanaries, mostCanaries))
		case can.shares && can.main.Annotations.DenyPaths.Lines.All():
			b.problem(can.Claim, "", model.Shadowed, b.deniedMain(can)+": the canary gets no requests")
		case can.shares:
			b.unplaced(can.Owner, can.Field, model.SharesPath, fmt.Sprintf("it is a canary: it has no location, and gets some requests of %s, which has the same path", can.main.Owner.Ref))
			if can.isForeign() {
				b.crossedPath(can)
			}
		}
	}
}

// unshared says why a canary has no path to share.
func (b *builder) unshared(can *canary) string {
	for c := range claimsOf(b.host.rules) {
		switch {
		case c.Path != can.Path || c.PathType != can.PathType || c.Match != nil:
		case b.closes(c):
			return fmt.Sprintf("%s, which has the same path, returns 503 for it because of a mistake", c.Owner.Ref)
		default:
			return fmt.Sprintf("%s, which has the same path, passes no requests to a Service", c.Owner.Ref)
		}
	}
	if can.matching != nil {
		return fmt.Sprintf("%s takes only some requests of the path, and a canary shares those of a rule without %smatch-headers and %smatch-query", can.matching.Owner.Ref, annotations.OwnPrefix, annotations.OwnPrefix)
	}
	return fmt.Sprintf("no other Ingress has the path %s of the pathType %s on host %q", claim.Shown(can.Path), can.pathTypeName(), b.host.name)
}

// deniedMain says why a canary of a path that refuses all requests has none.
func (b *builder) deniedMain(can *canary) string {
	text := fmt.Sprintf("%s, whose path it shares, refuses all requests by %sdeny-paths", can.main.Owner.Ref, annotations.OwnPrefix)
	if can.matching != nil {
		text += fmt.Sprintf(", and a canary shares no requests that %s takes by %smatch-headers or %smatch-query", can.matching.Owner.Ref, annotations.OwnPrefix, annotations.OwnPrefix)
	}
	return text
}

func (c *canary) pathTypeName() claim.PathType {
	if c.PathType == "" {
		return "of spec.defaultBackend"
	}
	return c.PathType
}

// serviceID is the backend that a claim names.
func serviceID(c *claim.Claim) BackendID {
	return BackendID{Service: c.Action.Service.Name, Port: c.Action.Service.Port}
}
