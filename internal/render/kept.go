package render

import (
	"slices"
	"strings"

	"sluice/internal/model"
)

const (
	// pools is the number of pools of kept connections to backends. nginx looks through a pool one
	// connection after the other, so one for all Services costs the more, the more there are.
	pools = 16
	// poolsOfConnections is the part of the connections of a worker that all pools may keep.
	poolsOfConnections = 4
)

// shareOf returns the name of the pool for the connections to a backend, a digit of the hash of
// its Service: other Services, endpoints and ways to choose among these do not change it. It is
// empty for a pool of its own, and if no connection is kept.
func (r *rendering) shareOf(p *model.Proxy) string {
	if p.Pool.Own || r.global.Keepalive.Connections == 0 {
		return ""
	}
	target, _, _ := strings.Cut(p.Backend, "~")
	if _, host, found := strings.Cut(target, "/_"); found {
		target = host // the same for whoever asks, an Ingress or the settings of its class
	}
	return model.SHA256(target)[:1]
}

// sizePools sets the number of connections of one pool. All pools together keep no more than a
// part of the connections of a worker, unless the setting is higher.
func (r *rendering) sizePools() {
	kept := r.global.Keepalive
	kept.Connections = min(kept.Connections, max((kept.Connections+pools-1)/pools, r.view.Connections/poolsOfConnections/pools))
	r.global.blocks = slices.Clone(r.global.blocks)
	findBlock(r.global.blocks, "keepalive").Data = kept
}
