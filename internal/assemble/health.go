package assemble

import (
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/route"
)

// HealthField is the flag that sets HealthPath.
const HealthField = "--health-check-path"

// health adds the location of HealthPath, which returns 200. A load balancer that
// checks the HTTP port sends no host, or an address as the host. So the location is on
// the catch-all server and on those whose names can be addresses.
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

// healthFor reports whether a name can be an address, so that its server needs the
// health path.
func (t *Assembly) healthFor(name string) bool {
	return t.Options.HealthPath != "" && name != "" && route.MayBeAddress(name)
}

// served reports whether an owner has all requests of the catch-all host that no path
// takes, and so those below the health path too. Otherwise the health path is a prefix,
// and patterns win over it, as in ingress-nginx.
func (b *builder) served() bool {
	return b.scope == literal && len(b.catchAllClaims()) > 0 || b.scope != wholeHost && b.root() != nil
}

// hasHealth reports whether a location takes the health path by a rule for it.
func hasHealth(l *model.Location, modifier model.Modifier, path string) bool {
	if modifier == model.Prefix {
		return l.Path == path && (l.Modifier == model.Prefix || l.Modifier == model.PrefixFirst)
	}
	return l.Path == path && l.Modifier != model.Pattern ||
		l.Modifier == model.Pattern && strings.TrimSuffix(l.Rule.Path, "/") == strings.TrimSuffix(path, "/")
}
