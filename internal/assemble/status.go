package assemble

import (
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// StatusPath is the path of nginx's counters, as in ingress-nginx.
const StatusPath = "/nginx_status"

// StatusField is the setting with the addresses that may read them.
const StatusField = "nginx-status-ipv4-whitelist"

// status adds the location of StatusPath to the catch-all server. As in ingress-nginx, a
// rule for the path itself keeps it.
func (b *builder) status() {
	if b.host.name != "" || b.input.aliasesOnly || slices.ContainsFunc(b.locations, func(l *model.Location) bool { return hasHealth(l, model.Equal, StatusPath) }) {
		return
	}
	b.add(&model.Location{
		Rule:   model.Rule{Field: StatusField, Path: StatusPath, PathType: string(claim.Exact), Kind: model.RuleStatus},
		Blocks: []model.Block{{Name: settings.StatusBlock, Data: b.Settings.StatusClients()}},
		Return: &model.Return{Code: 200, Statistics: true},
	}, model.Equal, StatusPath)
}
