package annotations

import (
	"strconv"

	"sluice/internal/keys"
)

// Limits limits the requests of one address for all paths together.
type Limits struct {
	Connections int        `key:"limit-connections" default:"0" off:"0" risk:"low" validate:"min=0,max=65535" protects:"true" doc:"Requests that one address may have open at the same time. Further ones get the status limit-conn-status-code. 0 means no limit."`
	PerSecond   int        `key:"limit-rps" default:"0" off:"0" risk:"low" validate:"min=0,max=1000000" protects:"true" doc:"Requests that one address may send in a second. Further ones get the status limit-req-status-code. 0 means no limit."`
	PerMinute   int        `key:"limit-rpm" default:"0" off:"0" risk:"low" validate:"min=0,max=1000000" protects:"true" doc:"Requests that one address may send in a minute. Further ones get the status limit-req-status-code. 0 means no limit."`
	Burst       int        `key:"limit-burst-multiplier" default:"5" alone:"true" risk:"low" validate:"min=1,max=1000" needs:"limit-rpm limit-rps" doc:"Size of a burst: one address may send this many times limit-rps or limit-rpm at once."`
	Exempt      keys.CIDRs `key:"limit-allowlist" alias:"limit-whitelist" alone:"true" risk:"low" validate:"max=256" needs:"limit-connections limit-rpm limit-rps" doc:"Addresses and networks without limits: at most 256, and 2048 in all different lists of a namespace."`
}

// limitsBlock is the data of the templates of Limits.
type limitsBlock struct {
	// Key is the variable by which requests are counted. It is empty for addresses in
	// Networks, which the variable Exempt identifies.
	Key, Exempt string
	Networks    keys.CIDRs
	Connections connectionLimit // its Zone is empty for no limit
	Rates       []rateLimit
}

// connectionLimit is a limit_conn with its zone.
type connectionLimit struct {
	Zone string
	Most int
}

// rateLimit is a limit_req with its zone.
type rateLimit struct {
	Zone, Rate string
	Burst      int
}

// Print returns the limits in the order of ingress-nginx.
func (l Limits) Print(at Place) any {
	if l.zones() == 0 {
		return nil
	}
	b := limitsBlock{Key: "binary_remote_addr", Networks: l.Exempt}
	if len(l.Exempt) > 0 {
		// Ingresses with the same list share its variables.
		list := contentHash(l.Exempt)
		b.Key, b.Exempt = "limits_key_"+list, "limits_exempt_"+list
	}
	if l.Connections > 0 {
		b.Connections = connectionLimit{l.zone(at, "conn"), l.Connections}
	}
	if l.PerSecond > 0 {
		b.Rates = append(b.Rates, rateLimit{l.zone(at, "rps"), strconv.Itoa(l.PerSecond) + "r/s", l.PerSecond * l.Burst})
	}
	if l.PerMinute > 0 {
		b.Rates = append(b.Rates, rateLimit{l.zone(at, "rpm"), strconv.Itoa(l.PerMinute) + "r/m", l.PerMinute * l.Burst})
	}
	return b
}

// zone returns the name of a zone, which contains its owner. nginx rejects a reload in
// which a zone has a new key, so the name also contains a hash of the exempt networks. A
// path with its own limits has its own zones. Names of objects contain no "_".
func (l Limits) zone(at Place, kind string) string {
	name := at.Object.Namespace + "_" + at.Object.Name
	if at.Path != "" || len(l.Exempt) > 0 {
		name += "_" + contentHash(at.Path, l.Exempt)[:16]
	}
	return name + "_" + kind
}

// Zones returns the number of zones for the limits of all paths. An upstream with
// connections of its own counts as one.
func (a *Annotations) Zones() int {
	count := 0
	for each := range a.Each() {
		if each == a || each.Limits != a.Limits {
			count += each.Limits.zones()
		}
		if each == a || each.ExternalAuth != a.ExternalAuth {
			count += each.ExternalAuth.pools()
		}
	}
	return count
}

// zones returns the number of zones for the limits.
func (l Limits) zones() int {
	count := 0
	for _, most := range []int{l.Connections, l.PerSecond, l.PerMinute} {
		if most > 0 {
			count++
		}
	}
	return count
}

// Rate limits the speed of answers.
type Rate struct {
	Rate  keys.Optional[int] `key:"limit-rate" from:"limit-rate" risk:"low" validate:"min=0,max=1000000000" unit:"kilobytes" doc:"Kilobytes of an answer that nginx sends in a second. 0 means no limit."`
	After keys.Optional[int] `key:"limit-rate-after" from:"limit-rate-after" risk:"low" validate:"min=0,max=1000000000" unit:"kilobytes" doc:"Kilobytes of an answer that nginx sends before limit-rate applies."`
}
