package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// backend returns the backend of a location.
func (x *explainer) backend(l *model.Location) *Backend {
	service := l.Proxy.Service
	b := &Backend{Service: service, Default: x.isDefault(l), Status: unavailable}
	if t := l.Proxy.Transport; t != (model.Transport{}) {
		b.Transport = Transport{Protocol: string(t.Protocol), TLS: t.TLS, Verify: t.Verify, Name: t.Name}
	}
	known := x.Config.Dynamic.Backend(l.Proxy.Backend)
	var cookie *model.Cookie
	if known != nil && known.Split != nil {
		cookie = known.Split.Cookie
		known = x.drawnOf(b, known.Split)
	}
	if instead := x.insteadOf(l); instead != nil && x.isEmpty(known) {
		answering := x.backend(instead)
		answering.Shares = b.Shares
		return answering
	}
	if known == nil {
		return b
	}
	b.Picked = pickedBy(known.Balancing, cookie)
	b.Status = known.WhenEmpty
	for _, e := range known.Endpoints {
		b.Endpoints = append(b.Endpoints, hostPort(e.Address, strconv.Itoa(e.Port)))
	}
	for _, f := range known.Failing {
		b.Failing = append(b.Failing, hostPort(f.Address, strconv.Itoa(f.Port))+": "+f.Reason)
	}
	if known.ExternalName != "" {
		b.ExternalName = known.ExternalName + ":" + strconv.Itoa(known.ExternalPort)
	}
	if len(b.Endpoints) == 0 && b.ExternalName == "" {
		b.Why = known.NoEndpoints
	}
	return b
}

// insteadOf returns the location that answers if the backend of a location has no
// endpoints and its own has, nil for none.
func (x *explainer) insteadOf(l *model.Location) *model.Location {
	for _, block := range l.Blocks {
		to, ok := block.Data.(interface{ Instead() string })
		if !ok {
			continue
		}
		if instead := x.choice.Server.Named(to.Instead()); instead != nil && !x.isEmpty(x.Config.Dynamic.Backend(instead.Proxy.Backend)) {
			return instead
		}
	}
	return nil
}

// isEmpty reports whether a backend, or each of a split, has no endpoints.
func (x *explainer) isEmpty(b *model.Backend) bool {
	switch {
	case b == nil:
		return true
	case b.Split == nil:
		return len(b.Endpoints) == 0 && b.ExternalName == ""
	}
	hasSome := func(share model.Share) bool { return !x.isEmpty(x.Config.Dynamic.Backend(share.Backend)) }
	return !slices.ContainsFunc(b.Split.Shares, hasSome) && x.isEmpty(x.Config.Dynamic.Backend(b.Split.Main))
}

// pickedBy describes how an endpoint is picked, "" for in turn.
func pickedBy(how *model.Balancing, cookie *model.Cookie) string {
	if how == nil {
		return ""
	}
	var parts []string
	if way := wayOf(how, cookie); way != "" {
		parts = append(parts, way)
	}
	if how.ServiceAddress {
		parts = append(parts, "by the Service, at its cluster address if it has one")
	}
	if c := how.Check; c != nil {
		parts = append(parts, fmt.Sprintf("not after %d failed checks of %s", c.Unhealthy, c.Path))
	}
	if e := how.Ejection; e != nil {
		parts = append(parts, fmt.Sprintf("not for %d s after %d failures", e.Timeout, e.MaxFails))
	}
	if how.SlowStart > 0 {
		parts = append(parts, fmt.Sprintf("seldom in its first %d s", how.SlowStart))
	}
	return strings.Join(parts, "; ")
}

// wayOf describes how an endpoint is picked besides what leaves endpoints out.
func wayOf(how *model.Balancing, cookie *model.Cookie) string {
	switch {
	case how.Affinity != "" && cookie == nil:
	case how.Affinity == model.Persistent:
		return "by the cookie " + cookie.Name + ", for good"
	case how.Affinity != "":
		return "by the cookie " + cookie.Name + ", until endpoints come or go"
	case how.Hash != nil && how.Hash.Subset > 0:
		return fmt.Sprintf("by chance from %d for the hash of %s", how.Hash.Subset, how.Hash.Written())
	case how.Hash != nil:
		return "by the hash of " + how.Hash.Written()
	case how.Algorithm == model.EWMA:
		return "as the faster of two by chance"
	case how.Algorithm == model.LeastConn:
		return "as the one with the fewest requests"
	}
	return ""
}

// drawnOf fills in the shares of a split, and returns the backend that gets the request: the
// main one, or the first share if the main one gets none.
func (x *explainer) drawnOf(b *Backend, split *model.Split) *model.Backend {
	d := x.draw(split)
	b.Shares, b.Drawn = x.sharesOf(split, d), d.why
	for i, possible := range d.shares {
		if share := x.Config.Dynamic.Backend(split.Shares[i].Backend); possible && !d.main && share != nil {
			b.Service, b.Default = share.Target.ServicePort, false
			return share
		}
	}
	return x.Config.Dynamic.Backend(split.Main)
}

func (x *explainer) sharesOf(split *model.Split, d drawn) []Share {
	var shares []Share
	for i, s := range split.Shares {
		gets := fmt.Sprintf("%d of %d requests", min(s.Weight, split.Total), split.Total)
		for _, r := range s.Rules {
			gets += ", " + allOrNone(r.Takes) + " with " + r.Variable
			if r.Pattern != "" {
				gets += fmt.Sprintf(" that matches %q", r.Pattern)
			} else {
				gets += fmt.Sprintf(" %q", r.Value)
			}
		}
		if split.Cookie != nil {
			gets += ", and all of clients whose cookie " + split.Cookie.Name + " is its own"
		}
		share := Share{Service: s.Name, Gets: gets, Possible: d.shares[i]}
		if b := x.Config.Dynamic.Backend(s.Backend); b != nil {
			share.Service = b.Target.Namespace + "/" + b.Target.Name + ":" + b.Target.Port
		}
		shares = append(shares, share)
	}
	return shares
}

func allOrNone(takes bool) string {
	if takes {
		return "all"
	}
	return "none"
}

// isDefault reports whether a location passes to the default backend of the controller.
func (x *explainer) isDefault(l *model.Location) bool {
	return l.Rule.Field == "" && x.Options.DefaultBackend == snapshot.Name{Namespace: l.Proxy.Service.Namespace, Name: l.Proxy.Service.Name}
}

// hostPort returns "host:port", with brackets for IPv6.
func hostPort(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}
