package assemble

import (
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/route"
)

// HealthField is the flag that the location of HealthPath comes from.
const HealthField = "--health-check-path"

// health answers 200 at HealthPath: a load balancer that asks the HTTP port whether
// it may send requests names no host, or an address. So the location is on the
// catch-all server, and on those that have names which can be addresses.
func (b *builder) health() {
	path := b.Options.HealthPath
	catchAll := b.host.name == "" && !b.input.aliasesOnly
	if path == "" || !catchAll && !b.input.addresses {
		return
	}
	modifier, pathType := model.Equal, claim.Exact
	if catchAll && !b.served() {
		modifier, pathType = model.Prefix, claim.Prefix
	}
	if slices.ContainsFunc(b.locations, func(l *model.Location) bool { return hasHealth(l, modifier, path) }) {
		return
	}
	b.add(&model.Location{
		Rule:   model.Rule{Field: HealthField, Path: path, PathType: string(pathType), Kind: model.RuleHealth},
		Return: &model.Return{Code: 200},
	}, modifier, path)
}

// healthFor reports whether the server of a name answers the health path because
// the name can be an address.
func (t *Assembly) healthFor(name string) bool {
	return t.Options.HealthPath != "" && name != "" && route.MayBeAddress(name)
}

// served reports whether all that no path of the catch-all host takes is an
// Ingress's. It has what is below the health path, too. Otherwise the health path
// is a prefix, as with ingress-nginx, and patterns come before it, as they do there.
func (b *builder) served() bool {
	return b.scope == literal && len(b.catchAllClaims()) > 0 || b.scope != wholeHost && b.root() != nil
}

// hasHealth tells a location that has the health path by a rule for it.
func hasHealth(l *model.Location, modifier model.Modifier, path string) bool {
	if modifier == model.Prefix {
		return l.Path == path && (l.Modifier == model.Prefix || l.Modifier == model.PrefixFirst)
	}
	return l.Path == path && l.Modifier != model.Pattern ||
		l.Modifier == model.Pattern && strings.TrimSuffix(l.Rule.Path, "/") == strings.TrimSuffix(path, "/")
}
