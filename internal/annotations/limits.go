package annotations

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// Limits limits the requests of one address, or of another key, for all paths together.
type Limits struct {
	Connections int        `key:"limit-connections" default:"0" off:"0" risk:"low" validate:"min=0,max=65535" protects:"true" doc:"Requests that one address may have open at the same time. Further ones get the status limit-conn-status-code. 0 means no limit."`
	PerSecond   int        `key:"limit-rps" default:"0" off:"0" risk:"low" validate:"min=0,max=1000000" protects:"true" doc:"Requests that one address may send in a second. Further ones get the status limit-req-status-code. 0 means no limit."`
	PerMinute   int        `key:"limit-rpm" default:"0" off:"0" risk:"low" validate:"min=0,max=1000000" protects:"true" doc:"Requests that one address may send in a minute. Further ones get the status limit-req-status-code. 0 means no limit."`
	Burst       int        `key:"limit-burst-multiplier" default:"5" risk:"low" validate:"min=1,max=1000" needs:"limit-rpm limit-rps" doc:"Size of a burst: one address may send this many times limit-rps or limit-rpm at once."`
	Exempt      keys.CIDRs `key:"limit-allowlist" alias:"limit-whitelist" risk:"low" validate:"max=256" needs:"limit-connections limit-rpm limit-rps" doc:"Addresses and networks without limits: at most 256, and 2048 in all different lists of a namespace."`
	By          string     `key:"limit-by" own:"true" from:"limit-conn-zone-variable" off:"address" risk:"low" validate:"limit_key" needs:"limit-connections limit-rpm limit-rps" doc:"Whose requests the limits count together: those of one client address; those of the host of the rule, from all clients (host); or those with the same value of a header (header:NAME) or cookie (cookie:NAME). A request without the header or cookie counts by its address. The variables of the setting limit-conn-zone-variable mean the same."`
	Headers     bool       `key:"limit-headers" own:"true" default:"false" off:"false f 0" risk:"low" needs:"limit-connections limit-rpm limit-rps" doc:"Whether answers tell clients the limits: all of them in RateLimit-Policy, and refusals by limit-rps or limit-rpm in Retry-After the seconds after which a request passes."`
	DryRun      bool       `key:"limit-dry-run" own:"true" default:"false" off:"false f 0" risk:"low" needs:"limit-connections limit-rpm limit-rps" doc:"Whether nginx only logs which requests the limits would refuse. The log format can have $limit_req_status and $limit_conn_status, which are then REJECTED_DRY_RUN. Answers have no headers of limit-headers."`
}

// limitsBlock is the data of the templates of Limits.
type limitsBlock struct {
	// Key is the variable by which requests are counted. It is empty for addresses in
	// Networks, which the variable Exempt identifies; otherwise its value is that of
	// the variable Counted.
	Key, Exempt, Counted string
	Networks             keys.CIDRs
	// Hashed is the variable of the header or cookie that counts, empty for none.
	Hashed      string
	Connections connectionLimit // its Zone is empty for no limit
	Rates       []rateLimit
	DryRun      bool
	// Policy is the value of RateLimit-Policy, empty for none. Retry is the variable with
	// that of Retry-After, and Wait its value for refused requests.
	Policy, Retry string
	Wait          int
}

// Writes returns the headers that the block adds, with the key that asks for them.
func (b limitsBlock) Writes() (all [][2]string) {
	if b.Policy != "" {
		all = append(all, [2]string{"RateLimit-Policy", "limit-headers"})
	}
	if b.Retry != "" {
		all = append(all, [2]string{"Retry-After", "limit-headers"})
	}
	return all
}

// Computed is the hash that the limits go by, none if they go by something else. Its length
// is fixed: that of a header or cookie is arbitrary.
func (l Limits) Computed() []model.Computed {
	_, hashed := l.counted()
	if hashed == "" || l.zones() == 0 {
		return nil
	}
	return []model.Computed{{Variable: "limits_hash", By: "limit_key", Arguments: []any{model.Word(hashed)}}}
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
	b := limitsBlock{Networks: l.Exempt, DryRun: l.DryRun}
	b.Counted, b.Hashed = l.counted()
	b.Key = b.Counted
	if len(l.Exempt) > 0 {
		// Ingresses with the same list share its variables.
		list := contentHash(l.Exempt)
		b.Key, b.Exempt = "limits_key_"+list, "limits_exempt_"+list
		if b.Counted != byAddress {
			b.Key += "_" + b.Counted
		}
	}
	share := at.Settings.Share
	if l.Connections > 0 {
		b.Connections = connectionLimit{l.zone(at, "conn"), share(l.Connections)}
	}
	if l.PerSecond > 0 {
		b.Rates = append(b.Rates, rateLimit{l.zone(at, "rps"), perSecond(l.PerSecond, share), share(l.PerSecond * l.Burst)})
	}
	if l.PerMinute > 0 {
		b.Rates = append(b.Rates, rateLimit{l.zone(at, "rpm"), strconv.Itoa(share(l.PerMinute)) + "r/m", share(l.PerMinute * l.Burst)})
	}
	if l.Headers && !l.DryRun {
		l.announce(&b, share)
	}
	return b
}

// perSecond returns the share of a rate. nginx takes whole numbers only, so a part of a
// second's requests becomes those of a minute.
func perSecond(limit int, share func(int) int) string {
	if whole := share(limit * 60); whole%60 != 0 {
		return strconv.Itoa(whole) + "r/m"
	}
	return strconv.Itoa(share(limit)) + "r/s"
}

// byAddress is the variable of limits by address.
const byAddress = "binary_remote_addr"

// counted returns the variable whose value the limits go by, and the variable of the
// header or cookie that its value is a hash of, empty for none. A client could choose
// among the names of a wildcard host, so all of them count together.
func (l Limits) counted() (variable, hashed string) {
	kind, name, _ := strings.Cut(l.By, ":")
	switch kind {
	case "", "address", "$binary_remote_addr", "$remote_addr":
		return byAddress, ""
	case "host", "$host", "$server_name":
		return "server_name", ""
	case "header":
		return "limits_by", "http_" + strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	case "cookie":
		return "limits_by", "cookie_" + name
	}
	return "limits_by", strings.TrimPrefix(l.By, "$")
}

// announce sets the headers of answers. nginx knows neither the remaining requests nor
// which limit refused one, so the time to wait is that of the slowest limit. The policies
// are those of all replicas together, the time is that of this one.
// Source: https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
func (l Limits) announce(b *limitsBlock, share func(int) int) {
	var policies []string
	if l.PerSecond > 0 {
		policies, b.Wait = append(policies, fmt.Sprintf(`"second";q=%d;w=1`, l.PerSecond)), wait(share(l.PerSecond*60))
	}
	if l.PerMinute > 0 {
		policies, b.Wait = append(policies, fmt.Sprintf(`"minute";q=%d;w=60`, l.PerMinute)), max(b.Wait, wait(share(l.PerMinute)))
	}
	if l.Connections > 0 {
		policies = append(policies, fmt.Sprintf(`"connections";q=%d;qu="concurrent-requests"`, l.Connections))
	}
	b.Policy = strings.Join(policies, ", ")
	if b.Wait > 0 {
		b.Retry = fmt.Sprintf("limits_retry_%d", b.Wait)
	}
}

// wait returns the seconds in which a rate allows a request.
func wait(perMinute int) int { return (60 + perMinute - 1) / perMinute }

// zone returns the name of a zone, which contains its owner. nginx rejects a reload in
// which a zone has a new key, so the name also contains a hash of what the key depends
// on. A path with its own limits has its own zones. Names of objects contain no "_".
func (l Limits) zone(at Place, kind string) string {
	name := at.Object.Namespace + "_" + at.Object.Name
	switch variable, hashed := l.counted(); {
	case variable != byAddress:
		name += "_" + contentHash(at.Path, l.Exempt, variable, hashed)[:16]
	case at.Path != "" || len(l.Exempt) > 0:
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
