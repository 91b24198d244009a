package golden

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sluice/internal/guard"
	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/settings"
	"sluice/test/guarded"
)

// expectGuarded wants every request that a path of a protecting Ingress would take
// if all were well to be protected, fairly won by another, or closed.
func (o *outcome) expectGuarded(t *testing.T) {
	t.Helper()
	for _, line := range guarded.NewMemo().Open(o.snap, o.options, o.config.Static.Servers, o.problems, o.owners...) {
		t.Error(line)
	}
}

// probe is a request that a path of a protecting Ingress would take.
type probe struct {
	guard.Sample
	host    *guarded.Host
	request request
}

// mostProbes is how many requests are asked of nginx for one case.
const mostProbes = 24

// probes are requests for the paths that are protected; none where nginx cannot be
// asked, or would start hundreds of workers for that.
func (o *outcome) probes() []probe {
	if slices.ContainsFunc(o.config.Static.Blocks, unaskable) {
		return nil
	}
	var all []probe
	for _, h := range guarded.NewMemo().Hosts(o.snap, o.options, o.problems, o.owners...) {
		for _, s := range guard.Samples(h.Asked, h.Servers(o.config.Static.Servers)[0].Locations) {
			if !s.Claim.Match.Any() {
				continue // it is for other requests
			}
			uri := (&url.URL{Path: s.Path}).EscapedPath()
			r := request{method: http.MethodGet, scheme: "http", host: nameOf(h.Name), uri: uri, header: http.Header{}, left: "probe: GET " + nameOf(h.Name) + uri + " "}
			if len(uri) < 1000 && route.Match(o.config.Static.Servers, r.host, uri).Path == s.Path { // nginx logs no more of a location
				all = append(all, probe{s, h, r})
			}
		}
	}
	every := len(all)/mostProbes + 1
	var some []probe
	for i := 0; i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}

// unaskable tells the settings by which nginx wants a PROXY header or starts many
// workers.
func unaskable(b model.Block) bool {
	switch data := b.Data.(type) {
	case settings.Forwarded:
		return data.ProxyProtocol
	case settings.Workers:
		return data.Processes > 64
	}
	return false
}

// nameOf is a name that a host stands for.
func nameOf(host string) string {
	if host == "" {
		return "unknown.invalid"
	}
	return strings.Replace(host, "*", "any", 1)
}

// askProbes asks nginx for probes: the location that it takes must be one that may
// have the request, and what it answers must be no other Ingress's.
func (o *outcome) askProbes(t *testing.T, nginx *running, probes []probe) {
	t.Helper()
	for _, s := range probes {
		seen, err := nginx.fetch(t, s.request)
		if err != nil {
			t.Errorf("%s: %v", s.request.left, err)
			continue
		}
		if taker := o.locationOf(s.request, seen.location); taker != nil && !guard.InOrder(s.host.Asked, s.Sample, taker) {
			t.Errorf("%sis for %s %q of %s; nginx answers %s by a location of %s", s.request.left, s.Claim.PathType, s.Claim.Path, s.Claim.Owner, seen, taker.Rule.Object)
		}
	}
}

// locationOf is the location that nginx's log names; nil where it took none.
func (o *outcome) locationOf(r request, logged string) *model.Location {
	path, exact := strings.CutPrefix(logged, "=")
	for _, l := range route.Match(o.config.Static.Servers, r.host, r.uri).Server.Locations {
		if l.Path == path && exact == (l.Modifier == model.Equal) && len(l.Dispatch) > 0 {
			return route.Choose(o.config.Static.Servers, r.known()).Location
		}
		if l.Path == path && exact == (l.Modifier == model.Equal) {
			return l
		}
	}
	return nil
}

// A placement that is broken on purpose is found, in the model and by nginx.
func TestBrokenPlacementIsSeen(t *testing.T) {
	t.Parallel()
	c := readCase(t, "cases/closed-pattern.txtar")
	for name, breaks := range map[string]func(*model.Server){
		"a claim is dropped": func(s *model.Server) {
			s.Locations = slices.DeleteFunc(s.Locations, func(l *model.Location) bool { return l.Rule.Object.Name == "protected" })
		},
		"patterns are reversed": func(s *model.Server) { slices.Reverse(s.Locations) },
		"a claim is served": func(s *model.Server) {
			for _, l := range s.Locations {
				if l.Rule.Object.Name == "protected" {
					l.Return, l.Proxy = nil, &model.Proxy{Backend: "default/api/80"}
				}
			}
		},
	} {
		o := workOut(t, c, 0)
		for _, s := range o.config.Static.Servers {
			breaks(s)
		}
		open := guarded.NewMemo().Open(o.snap, o.options, o.config.Static.Servers, o.problems, o.owners...)
		if hosts := len(o.config.Static.Servers) - 1; len(open) < hosts {
			t.Errorf("%s: of %d hosts are open: %v", name, hosts, open)
		}
		s := o.probes()[0]
		taker := route.Match(o.config.Static.Servers, s.request.host, s.request.uri).Location
		if guard.InOrder(s.host.Asked, s.Sample, taker) {
			t.Errorf("%s: %s is in order at %s", name, s.request.left, fmt.Sprint(taker.Modifier, taker.Path))
		}
	}
}
