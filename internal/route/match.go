package route

import (
	"slices"
	"strings"

	"sluice/internal/model"
)

// Outcome is what nginx does with a request.
type Outcome string

// The outcomes.
const (
	Served    Outcome = "served"      // Location answers
	Missed    Outcome = "missed"      // a wildcard host took a name of too many labels: Location is its Miss
	Redirects Outcome = "redirect"    // nginx answers 301 to the same path with a "/" at its end
	Refuses   Outcome = "bad request" // nginx answers 400
	Unmatched Outcome = "unmatched"   // no location fits: nginx looks for a file
	Unknown   Outcome = "unknown"     // it hangs on the pattern of Location, which only nginx can tell
)

// Answer is how nginx treats a request.
type Answer struct {
	Outcome Outcome
	// Server is the one whose name fits; nil for Refuses only.
	Server *model.Server
	// Path is the path after Normalize.
	Path string
	// Location answers; for Redirects it is the one with the "/" at its end.
	Location *model.Location
}

// Match says which location answers a request. The host is a Host header, with
// or without a port; the URI is that of the request line, with its query. The
// servers are those of a model.Static: the catch-all one is among them.
func Match(servers []*model.Server, host, uri string) Answer {
	path, err := Normalize(uri)
	if err != nil {
		return Answer{Outcome: Refuses}
	}
	name := hostName(host)
	server := serverOf(servers, name)
	if server == nil {
		return Answer{Outcome: Refuses, Path: path}
	}
	if server.Miss != nil && !oneLabel(server.Host, name) {
		return Answer{Outcome: Missed, Server: server, Path: path, Location: server.Miss}
	}
	location, outcome := locationOf(server, path)
	return Answer{Outcome: outcome, Server: server, Path: path, Location: location}
}

// hostName takes the port and a final dot off a Host header, in lower case.
func hostName(host string) string {
	host = strings.ToLower(host)
	if end := strings.LastIndexByte(host, ':'); end > strings.LastIndexByte(host, ']') {
		host = host[:end]
	}
	return strings.TrimSuffix(host, ".")
}

// serverOf gives the server of a name: the precise one, else the wildcard with
// the longest suffix, else one whose name is a pattern, else the catch-all.
// Source: https://nginx.org/en/docs/http/server_names.html
func serverOf(servers []*model.Server, name string) *model.Server {
	if server := named(servers, name); server != nil && name != "" {
		return server
	}
	for rest := name; ; {
		dot := strings.IndexByte(rest, '.')
		if dot < 0 {
			return patternOf(servers, name)
		}
		if server := named(servers, "*"+rest[dot:]); server != nil && server.Miss != nil {
			return server
		}
		rest = rest[dot+1:]
	}
}

// patternOf gives the server whose name is a pattern that the name matches, else
// the catch-all.
func patternOf(servers []*model.Server, name string) *model.Server {
	for _, server := range servers {
		if server.Miss == nil && strings.HasPrefix(server.Host, "*.") && oneLabel(server.Host, name) {
			return server
		}
	}
	return named(servers, "")
}

func named(servers []*model.Server, host string) *model.Server {
	at := slices.IndexFunc(servers, func(s *model.Server) bool { return s.Host == host })
	if at < 0 {
		return nil
	}
	return servers[at]
}

// oneLabel is the guard of a wildcard server: "*" stands for one label.
func oneLabel(wildcard, name string) bool {
	label, ok := strings.CutSuffix(name, strings.TrimPrefix(wildcard, "*"))
	return ok && label != "" && !strings.Contains(label, ".")
}

// locationOf picks the location of a path: the exact one, else the longest
// prefix unless a pattern may be tried and matches.
// Source: ngx_http_core_find_location in nginx's src/http/ngx_http_core_module.c
func locationOf(server *model.Server, path string) (*model.Location, Outcome) {
	literal, outcome := literalOf(server.Locations, path)
	if literal != nil && (outcome == Redirects || literal.Modifier != model.Prefix) {
		return literal, outcome
	}
	for _, l := range server.Locations {
		if l.Modifier != model.Pattern {
			continue
		}
		matches, known := matchPattern(l.Path, path)
		if !known {
			return l, Unknown
		}
		if matches {
			return l, Served
		}
	}
	if literal == nil {
		return nil, Unmatched
	}
	return literal, Served
}

// literalOf finds the location that nginx's search without patterns ends at.
// /foo is redirected where only /foo/ is there and is proxied.
func literalOf(locations []*model.Location, path string) (*model.Location, Outcome) {
	var longest, slashed *model.Location
	for _, l := range locations {
		switch {
		case l.Modifier == model.Pattern:
		case l.Modifier == model.Equal && l.Path == path:
			return l, Served
		case l.Modifier != model.Equal && strings.HasPrefix(path, l.Path):
			if longest == nil || len(l.Path) > len(longest.Path) {
				longest = l
			}
		case l.Path == path+"/" && l.Proxy != nil && slashed == nil:
			slashed = l
		}
	}
	if slashed != nil && (longest == nil || longest.Path != path) {
		return slashed, Redirects
	}
	return longest, Served
}
