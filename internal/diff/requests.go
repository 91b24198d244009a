package diff

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"sluice/internal/guard"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
)

// Request is an example of a request that another route takes.
type Request struct {
	Method string `json:"method"`
	Host   string `json:"host"`
	// URI is the path, with a query if the route is for some queries.
	URI string `json:"uri"`
	// Headers are those of the request, for routes for some headers.
	Headers []route.Header `json:"headers"`
	Old     Taker          `json:"old"`
	New     Taker          `json:"new"`
	// Like is the number of tried requests that go from the one route to the other.
	Like int `json:"like"`
}

// Taker is the route that takes a request.
type Taker struct {
	// Outcome is that of package route: served, redirect, bad request, ...
	Outcome route.Outcome `json:"outcome"`
	Host    string        `json:"host"`
	Path    string        `json:"path"`
	// If are the requests that the route is for, empty for all.
	If      string          `json:"if,omitempty"`
	Backend string          `json:"backend"`
	Object  model.ObjectRef `json:"object"`
}

const (
	// mostWork limits the locations that are looked at for the requests of one host, so that
	// a host with thousands of paths does not take minutes.
	mostWork = 3_000_000
	// otherHost is a host that no rule has, anyLabel a label for the "*" of a wildcard.
	otherHost = "other.invalid"
	anyLabel  = "any"
	// mostAliases limits the aliases of a host that are tried.
	mostAliases = 5
)

// requests tries requests of each host that differs.
func (c *comparison) requests() (all []Request, unasked int) {
	asked := map[string]bool{}
	for _, s := range slices.Concat(c.after.servers, c.before.servers) {
		for _, name := range namesOf(s) {
			if asked[name] {
				continue
			}
			asked[name] = true
			old, now := c.before.index.Server(name), c.after.index.Server(name)
			if old == now || reflect.DeepEqual(old, now) {
				continue
			}
			found, complete := c.ofHost(name, old, now)
			all = append(all, found...)
			if !complete {
				unasked++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Request) int { return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.URI, b.URI)) })
	return all, unasked
}

// namesOf returns names that belong to a server, if no other takes them.
func namesOf(s *model.Server) []string {
	names := []string{cmp.Or(strings.Replace(s.Host, "*", anyLabel, 1), otherHost)}
	for _, alias := range s.Aliases {
		if strings.HasPrefix(alias, "~") || len(names) > mostAliases {
			continue
		}
		names = append(names, strings.Replace(alias, "*", anyLabel, 1))
	}
	return names
}

// pair is the routes of a request on both sides.
type pair struct{ old, now Taker }

// ofHost tries the requests of all routes of a host, those that differ first.
func (c *comparison) ofHost(host string, old, now *model.Server) (all []Request, complete bool) {
	rows := slices.Concat(c.before.ofServer[old], c.after.ofServer[now])
	work := mostWork
	each := 1
	for _, s := range []*model.Server{old, now} {
		if s != nil {
			each += len(s.Locations)
		}
	}
	found, tried := map[pair]int{}, map[string]bool{}
	for _, row := range rows {
		for _, r := range samples(row) {
			r.Host = host
			key := r.Method + " " + r.URI
			if tried[key] && len(r.Headers) == 0 {
				continue
			}
			tried[key] = true
			if work -= each; work < 0 {
				return all, false
			}
			p := pair{c.before.taker(r), c.after.taker(r)}
			if p.old == p.now || c.told(p) {
				continue
			}
			now := p.now
			if !c.before.has(now) {
				p.now.Path, p.now.Backend = "", "" // a new Ingress needs one example
			}
			if at, known := found[p]; known {
				all[at].Like++
				continue
			}
			found[p] = len(all)
			all = append(all, Request{Method: cmp.Or(r.Method, "GET"), Host: host, URI: r.URI, Headers: r.Headers, Old: p.old, New: now, Like: 1})
		}
	}
	return all, true
}

// told reports whether the table of routes says it all: the same route has another backend,
// a new route takes requests that none had, or nothing takes those of a lost one.
func (c *comparison) told(p pair) bool {
	old, now := p.old, p.now
	switch {
	case old.none() && now.none():
		return true
	case old.none():
		return !c.before.has(now)
	case now.none():
		return !c.after.has(old)
	}
	return old.Outcome == now.Outcome && old.place() == now.place()
}

// none reports whether no object takes the request.
func (t Taker) none() bool { return t.Object == model.ObjectRef{} }

// has reports whether a side has the route of a taker.
func (s *side) has(t Taker) bool { return s.places[t.place()] }

// place is a path of a host, for all or some requests.
type place struct{ host, path, when string }

func (t Taker) place() place { return place{t.Host, t.Path, t.If} }

// taker returns the route of a request.
func (s *side) taker(r route.Request) Taker {
	a := s.index.Match(r)
	t := Taker{Outcome: a.Outcome}
	if a.Server == nil || a.Location == nil {
		return t
	}
	l := a.Location
	t.Host, t.Path, t.Object = cmp.Or(a.Server.Host, "*"), l.Rule.Path, l.Rule.Object
	if row := s.limited[l]; row != nil {
		t.If = row.When.String()
	}
	if a.Outcome == route.Served || a.Outcome == route.Missed {
		t.Backend = answerOf(l)
	}
	return t
}

// samples returns requests of a route: its path, those below and beside it, and in capital
// letters, as only a pattern takes them.
func samples(row *route.Row) []route.Request {
	base, ok := requestFor(row.When)
	path, err := route.Decode(row.Path)
	if !ok || err != nil {
		return nil
	}
	path = cmp.Or(path, "/")
	tries := around(path)
	if row.Match == "pattern" {
		tries = append(around(pcre.Beginning(path)), guard.Examples(path)...)
	}
	var all []route.Request
	for _, try := range tries {
		if !strings.HasPrefix(try, "/") || strings.ContainsFunc(try, unfit) {
			continue
		}
		r := base
		r.URI = escaped(try) + base.URI
		all = append(all, r)
	}
	return all
}

func around(path string) []string {
	bare := strings.TrimRight(path, "/")
	return []string{path, bare, bare + "/", bare + "/x", bare + "x", strings.ToUpper(bare) + "/X"}
}

// unfit reports whether a path cannot have a character.
func unfit(r rune) bool { return r < ' ' || r == 0x7f }

// escaped writes a path as in a request line.
func escaped(path string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", "?", "%3F", "#", "%23").Replace(path)
}

// requestFor returns a request for which a Match holds, without its path: its URI is the
// query. ok is false if it takes more than the values that are written.
func requestFor(m model.Match) (r route.Request, ok bool) {
	r.Method = m.Method
	for _, h := range m.Headers {
		if h.Pattern {
			return r, false
		}
		r.Headers = append(r.Headers, route.Header{Name: h.Name, Value: h.Value})
	}
	for i, q := range m.Query {
		if q.Pattern {
			return r, false
		}
		r.URI += map[bool]string{true: "?", false: "&"}[i == 0] + escaped(q.Name) + "=" + strings.ReplaceAll(escaped(q.Value), "&", "%26")
	}
	return r, true
}
