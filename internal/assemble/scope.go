package assemble

import "sluice/internal/claim"

// decideScope decides which paths of the host are patterns.
func (b *builder) decideScope() {
	b.asking, b.turning = map[*claim.Rules]bool{}, map[*claim.Rules]bool{}
	rooted := false
	ask := func(rules *claim.Rules, wholly bool) {
		b.asking[rules] = true
		if wholly && b.host.decides(rules) {
			b.turning[rules] = true
		}
	}
	older := map[typedPath]bool{}
	for _, rules := range b.host.rules {
		rooted = rooted || hasRoot(rules)
		if some, wholly := asks(rules, older); some {
			ask(rules, wholly)
		}
		for i := range rules.Claims {
			older[typed(&rules.Claims[i])] = true
		}
	}
	wide := b.Settings.Paths.RegexScope != "path"
	if first := b.first(); wide && first != nil && !rooted && rewrites(first.Owner.Annotations.Rewrite.Target, "/") {
		ask(first, true) // its fallback has a rewrite, which asks for patterns
	}
	switch {
	case len(b.asking) == 0:
		b.scope = literal
	case wide && len(b.turning) > 0:
		b.scope = wholeHost
	default:
		b.scope = onlyAsking
	}
}

// typedPath is a path as it is written; of two claims with the same one, the older has it.
type typedPath struct {
	path        string
	kind        claim.PathType
	conditional bool
}

func typed(c *claim.Claim) typedPath { return typedPath{c.Path, c.PathType, c.Match != nil} }

// asks reports whether an owner asks for patterns on this host: by use-regex, or by a
// rewrite that changes a path. wholly is set if that turns the host, as in ingress-nginx:
// an invalid rewrite makes patterns of the owner's paths only. Paths of older owners ask
// for nothing.
func asks(r *claim.Rules, older map[typedPath]bool) (some, wholly bool) {
	paths := 0
	for i := range r.Claims {
		c := &r.Claims[i]
		if c.Action.Redirect != nil {
			continue
		}
		paths++
		if at := typed(c); older[at] && !at.conditional {
			continue
		}
		wholly = wholly || asksItself(c)
		some = some || wholly || c.Annotations.Rewrite.LeftOut
	}
	if paths == 0 {
		wholly = r.Owner.Annotations.Regex.Enabled
		some = wholly || r.Owner.Annotations.Rewrite.LeftOut
	}
	return some, wholly
}

// hasRoot reports whether a path of the rules takes all requests that no other path
// takes.
func hasRoot(r *claim.Rules) bool {
	for i := range r.Claims {
		if c := &r.Claims[i]; c.Path == "/" && c.PathType != claim.Exact && c.Match == nil {
			return true
		}
	}
	return false
}
