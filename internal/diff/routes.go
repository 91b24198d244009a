package diff

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/explain"
	"sluice/internal/model"
	"sluice/internal/route"
)

// Route is a path of a host that differs.
type Route struct {
	Change Kind `json:"change"`
	// Host is "*" for the catch-all server, and "tcp-9000" for a TCP service.
	Host string `json:"host"`
	Path string `json:"path"`
	// If are the requests that the route is for, empty for all.
	If string `json:"if,omitempty"`
	// Old and New are null if the side has no such route.
	Old *End `json:"old"`
	New *End `json:"new"`
	// Effects are the differences besides the backend.
	Effects []Effect `json:"effects"`
}

// End is a route on one side.
type End struct {
	// Match is exact, prefix, pattern, fallback, tcp, udp or passthrough.
	Match string `json:"match"`
	// Backend is "namespace/name:port", or a status, with the URL if it is a redirect.
	Backend string          `json:"backend"`
	Object  model.ObjectRef `json:"object"`
	// Behaviours are the names of those that its object asks for.
	Behaviours []string `json:"behaviours"`
}

// Effect is a key of a behaviour that differs. Old and New are empty if the side has none.
type Effect struct {
	Behaviour string `json:"behaviour"`
	Key       string `json:"key,omitempty"`
	Old       string `json:"old"`
	New       string `json:"new"`
}

// comparison holds both sides.
type comparison struct{ before, after *side }

// side is a Side with its indexes.
type side struct {
	Side
	servers  []*model.Server
	index    *route.Index
	rows     map[identity]*route.Row
	ofServer map[*model.Server][]*route.Row
	order    []identity
	places   map[place]bool
	// limited are the rows for some requests, by their locations.
	limited    map[*model.Location]*route.Row
	behaviours func(*model.Server, *model.Location) []explain.Behaviour
}

// identity identifies a route on both sides. nth tells apart those that are alike.
type identity struct {
	host, path, when string
	exact            bool
	kind             model.RuleKind
	nth              int
}

func newComparison(before, after Side) *comparison {
	return &comparison{newSide(before), newSide(after)}
}

func newSide(in Side) *side {
	s := &side{Side: in, servers: explain.Printed(in.Input), rows: map[identity]*route.Row{}, ofServer: map[*model.Server][]*route.Row{}, places: map[place]bool{}, limited: map[*model.Location]*route.Row{}, behaviours: explain.Behaviours(in.Input)}
	s.index = route.NewIndex(s.servers)
	table := route.Table(s.servers)
	for i := range table {
		row := &table[i]
		id := identityOf(row)
		for s.rows[id] != nil {
			id.nth++
		}
		s.rows[id] = row
		s.order = append(s.order, id)
		s.places[place{row.Host, row.Path, id.when}] = true
		if !row.When.Any() {
			s.limited[row.Location] = row
		}
		s.ofServer[row.Server] = append(s.ofServer[row.Server], row)
	}
	return s
}

func identityOf(r *route.Row) identity {
	return identity{host: r.Host, path: r.Path, when: r.When.String(), exact: r.Location.Rule.PathType == "Exact", kind: r.Location.Rule.Kind}
}

// routes compares the rows of both sides.
func (c *comparison) routes() []Route {
	var all []Route
	for _, id := range c.after.order {
		now, old := c.after.rows[id], c.before.rows[id]
		if id.kind == model.RuleFallback && id.host != "*" && old == nil {
			continue // it comes with its host
		}
		if r := c.route(id, old, now); r != nil {
			all = append(all, *r)
		}
	}
	for _, id := range c.before.order {
		if c.after.rows[id] == nil && (id.kind != model.RuleFallback || id.host == "*") {
			all = append(all, *c.route(id, c.before.rows[id], nil))
		}
	}
	slices.SortStableFunc(all, func(a, b Route) int { return strings.Compare(a.Host, b.Host) })
	return all
}

// route compares two rows, of which one may be nil. It returns nil if they are the same.
func (c *comparison) route(id identity, old, now *route.Row) *Route {
	r := &Route{Host: id.host, Path: id.path, If: id.when}
	switch {
	case old == nil:
		r.Change, r.New = Gained, c.after.end(now)
		return r
	case now == nil:
		r.Change, r.Old = Lost, c.before.end(old)
		return r
	case c.same(old, now):
		return nil
	}
	r.Change, r.Old, r.New = Changed, c.before.end(old), c.after.end(now)
	r.Effects = c.effects(old, now)
	if r.Old.Backend != r.New.Backend {
		r.Change = Moved
	} else if len(r.Effects) == 0 {
		return nil
	}
	return r
}

// same reports whether two rows are the same for every client.
func (c *comparison) same(old, now *route.Row) bool {
	if old.Server == now.Server && old.Location == now.Location {
		return c.splitOf(c.before, old) == c.splitOf(c.after, now)
	}
	a, b := *old.Location, *now.Location
	a.Rule.Field, b.Rule.Field, a.PlainHTTP, b.PlainHTTP = "", "", "", ""
	return old.Match == now.Match && reflect.DeepEqual(a, b) && reflect.DeepEqual(shellOf(old.Server), shellOf(now.Server)) && c.splitOf(c.before, old) == c.splitOf(c.after, now)
}

// shellOf returns a server without its locations.
func shellOf(s *model.Server) model.Server {
	shell := *s
	shell.Locations, shell.Internal = nil, nil
	return shell
}

func (s *side) end(row *route.Row) *End {
	e := &End{Match: row.Match, Backend: answerOf(row.Location), Object: row.Object}
	for _, b := range s.behaviours(row.Server, row.Location) {
		if len(b.Keys) == 0 || slices.ContainsFunc(b.Keys, func(k explain.Key) bool { return k.Source == explain.FromAnnotation }) {
			e.Behaviours = append(e.Behaviours, b.Name)
		}
	}
	return e
}

// answerOf returns the backend of a location as "namespace/name:port", or its status.
func answerOf(l *model.Location) string {
	switch {
	case l == nil:
		return "404"
	case l.Return != nil:
		return strings.TrimSpace(strconv.Itoa(l.Return.Code) + " " + l.Return.URL)
	case l.Proxy != nil:
		return serviceName(l.Proxy.Service)
	}
	return "404"
}

func serviceName(s model.ServicePort) string {
	name := s.Namespace + "/" + s.Name
	if s.Port != "" {
		name += ":" + s.Port
	}
	return name
}

// splitOf describes the shares of canaries in the requests of a row, "" for none.
func (c *comparison) splitOf(s *side, row *route.Row) string {
	if row.Location.Proxy == nil {
		return ""
	}
	b := s.Config.Dynamic.Backend(row.Location.Proxy.Backend)
	if b == nil || b.Split == nil {
		return ""
	}
	var parts []string
	for _, share := range b.Split.Shares {
		name := share.Name
		if to := s.Config.Dynamic.Backend(share.Backend); to != nil {
			name = serviceName(to.Target.ServicePort)
		}
		text := fmt.Sprintf("%s: %d of %d requests", name, min(share.Weight, b.Split.Total), b.Split.Total)
		for _, rule := range share.Rules {
			text += fmt.Sprintf(", %s with %s %s%s", allOrNone[rule.Takes], rule.Variable, rule.Value, rule.Pattern)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

var allOrNone = map[bool]string{false: "none", true: "all"}
