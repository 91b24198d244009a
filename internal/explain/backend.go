package explain

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// backend returns the backend of a location.
func (x *explainer) backend(l *model.Location) *Backend {
	service := l.Proxy.Service
	b := &Backend{Service: service, Default: x.isDefault(l), Status: unavailable}
	if t := l.Proxy.Transport; t.TLS {
		b.Transport = Transport{TLS: true, Verify: t.Verify, Name: t.Name}
	}
	known := x.Config.Dynamic.Backend(l.Proxy.Backend)
	var cookie *model.Cookie
	if known != nil && known.Split != nil {
		b.Shares, cookie = x.sharesOf(known.Split), known.Split.Cookie
		known = x.Config.Dynamic.Backend(known.Split.Main)
	}
	if known == nil {
		return b
	}
	b.Picked = pickedBy(known.Balancing, cookie)
	b.Status = known.WhenEmpty
	for _, e := range known.Endpoints {
		b.Endpoints = append(b.Endpoints, hostPort(e.Address, strconv.Itoa(e.Port)))
	}
	if known.ExternalName != "" {
		b.ExternalName = known.ExternalName + ":" + strconv.Itoa(known.ExternalPort)
	}
	if len(b.Endpoints) == 0 && b.ExternalName == "" {
		b.Why = x.whyEmpty(l)
	}
	return b
}

// pickedBy describes how an endpoint is picked, "" for in turn.
func pickedBy(how *model.Balancing, cookie *model.Cookie) string {
	switch {
	case how == nil || cookie == nil:
		return ""
	case how.Affinity == model.Persistent:
		return "by the cookie " + cookie.Name + ", for good"
	}
	return "by the cookie " + cookie.Name + ", until endpoints come or go"
}

func (x *explainer) sharesOf(split *model.Split) []Share {
	var shares []Share
	for _, s := range split.Shares {
		gets := fmt.Sprintf("%d of %d requests", min(s.Weight, split.Total), split.Total)
		for _, r := range s.Rules {
			gets += fmt.Sprintf(", %s with %s %q", allOrNone(r.Takes), r.Variable, r.Value)
		}
		if split.Cookie != nil {
			gets += ", and all of clients whose cookie " + split.Cookie.Name + " is its own"
		}
		share := Share{Service: s.Name, Gets: gets}
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

// whyEmpty returns the reason why a backend has no endpoint: the Problem of the
// reference to it, or the lack in its EndpointSlices.
func (x *explainer) whyEmpty(l *model.Location) string {
	s := l.Proxy.Service
	owner, field := l.Rule.Object, backendField(l)
	if x.isDefault(l) {
		owner, field = model.ObjectRef{Kind: "Service", Namespace: s.Namespace, Name: s.Name}, ""
	}
	for _, p := range x.problems[owner] {
		if strings.HasPrefix(p.Field+".", field) {
			return p.Text
		}
	}
	return x.missingEndpoints(snapshot.Name{Namespace: s.Namespace, Name: s.Name}, s.Port)
}

// missingEndpoints describes what the EndpointSlices of a Service lack.
func (x *explainer) missingEndpoints(name snapshot.Name, port string) string {
	parts := x.Snapshot.EndpointSlices(name)
	all, ready := 0, 0
	for _, part := range parts {
		all += len(part.Endpoints)
		for i := range part.Endpoints {
			if condition := part.Endpoints[i].Conditions.Ready; condition == nil || *condition {
				ready++
			}
		}
	}
	switch {
	case len(parts) == 0:
		return fmt.Sprintf("Service %s has no EndpointSlice", name)
	case all == 0:
		return fmt.Sprintf("the EndpointSlices of Service %s hold no endpoint", name)
	case ready == 0:
		return fmt.Sprintf("none of the %d endpoints of Service %s is ready", all, name)
	}
	return fmt.Sprintf("no endpoint of Service %s has an IP address and a port that belongs to its port %s", name, port)
}
