package route

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// Index answers many requests of the same servers. Its answers are those of Match, but a
// request does not cost a look at every server, and no pattern is compiled twice. It is for
// one goroutine.
type Index struct {
	servers []*model.Server
	// named are the places of the servers with a precise or wildcard name, others those of
	// servers with names of other kinds.
	named    map[string][]int
	others   []int
	patterns map[string]*pcre.Pattern
}

// NewIndex returns the index of the servers of a model.Static.
func NewIndex(servers []*model.Server) *Index {
	x := &Index{servers: servers, named: map[string][]int{}, patterns: map[string]*pcre.Pattern{}}
	for place, s := range servers {
		names := s.Aliases
		if !s.AliasesOnly {
			names = append([]string{s.Host}, s.Aliases...)
		}
		for _, name := range names {
			if name == "" || strings.HasPrefix(name, "~") || strings.HasSuffix(name, "*") {
				x.others = append(x.others, place)
			} else {
				x.named[name] = append(x.named[name], place)
			}
		}
	}
	return x
}

// near returns the servers that a name may belong to, in their order.
func (x *Index) near(name string) []*model.Server {
	places := slices.Concat(x.others, x.named[name])
	for rest := name; rest != ""; {
		_, rest, _ = strings.Cut(rest, ".")
		places = append(places, x.named["*."+rest]...)
	}
	slices.Sort(places)
	var servers []*model.Server
	for _, place := range slices.Compact(places) {
		servers = append(servers, x.servers[place])
	}
	return servers
}

// Server returns the server of a host, as Match does.
func (x *Index) Server(host string) *model.Server {
	name, err := HostName(host)
	if err != nil {
		return nil
	}
	server, _ := chooseServer(x.near(name), name)
	return server
}

// Match returns the location that answers a request.
func (x *Index) Match(r Request) Answer {
	a := Answer{Outcome: Refuses}
	path, _, err := normalize(r.URI)
	if a.Path = path; err != nil {
		return a
	}
	name, err := HostName(r.Host)
	if err != nil {
		return a
	}
	if a.Server, _ = chooseServer(x.near(name), name); a.Server == nil {
		return a
	}
	if misses(a.Server, name) {
		a.Location, a.Outcome = a.Server.Miss(), Missed
		return a
	}
	s := find(a.Server, a.Path, x.match)
	a.Location, a.Outcome = s.result()
	if a.Location == nil || a.Outcome == Unknown || len(a.Location.Dispatch) == 0 {
		return a
	}
	c := Choice{Answer: a, Dispatched: a.Location}
	c.candidates(r)
	return c.Answer
}

// match is matchPattern.
func (x *Index) match(pattern, text string, steps int) (matches, known bool) {
	compiled, seen := x.patterns[pattern]
	if !seen {
		compiled, _ = pcre.Compile(pattern, pcre.Caseless)
		x.patterns[pattern] = compiled
	}
	if compiled == nil {
		return false, false
	}
	return matchCompiled(compiled, text, steps)
}
