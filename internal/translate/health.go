package translate

import (
	"slices"

	"sluice/internal/model"
)

// HealthField is the flag that the location of HealthPath comes from.
const HealthField = "--health-check-path"

// health has the catch-all server answer 200 at HealthPath and below it: a load
// balancer that asks the HTTP port whether it may send requests names no host. As
// with ingress-nginx it comes before a rule without a host for a shorter path, and
// after one for the same, or one whose pattern matches.
func (b *builder) health() {
	path := b.options.HealthPath
	taken := func(l *model.Location) bool {
		return l.Path == path && (l.Modifier == model.Prefix || l.Modifier == model.PrefixFirst)
	}
	if path == "" || b.host.name != "" || b.input.aliasesOnly || slices.ContainsFunc(b.locations, taken) {
		return
	}
	b.add(&model.Location{
		Rule:   model.Rule{Field: HealthField, Path: path, Kind: model.RuleHealth},
		Return: &model.Return{Code: 200},
	}, model.Prefix, path)
}
