package route

import (
	"errors"

	"sluice/internal/model"
)

// Outcome is the kind of nginx's answer to a request.
type Outcome string

// The outcomes.
const (
	Served    Outcome = "served"      // Location answers
	Missed    Outcome = "missed"      // a wildcard host took a name of too many labels: Location is its miss
	Redirects Outcome = "redirect"    // nginx answers 301 to the same path with a "/" at its end
	Refuses   Outcome = "bad request" // nginx answers 400
	Unmatched Outcome = "unmatched"   // no location fits, or only an internal one: nginx answers 404
	Unknown   Outcome = "unknown"     // it depends on the pattern of Location, which package pcre cannot evaluate
)

// Answer is how nginx treats a request.
type Answer struct {
	Outcome Outcome
	// Server is the server of the host; nil for Refuses only.
	Server *model.Server
	// Path is the path that nginx compares with locations.
	Path string
	// Location answers; for Redirects it is the location with the "/" at its end.
	Location *model.Location
}

// errNoServer cannot happen with the servers of a model.Static.
var errNoServer = errors.New("no server takes the host")

// Choice is an Answer with the alternatives.
type Choice struct {
	Answer
	// Name is nginx's $host: in lower case, without port and final dot.
	Name string
	// Steps are the changes of the URI.
	Steps []Step
	// Refusal is the reason, for Refuses only.
	Refusal error
	// Servers are those whose names come close to the host, in the order of the file.
	Servers []ServerVerdict
	// Dispatched is the location that dispatches to Answer.Location; nil if none does.
	Dispatched *model.Location
	// Locations are those of the deciding server, in the order of the file, each followed
	// by those that it dispatches to. The deciding server is Answer.Server, or the
	// catch-all server for Missed.
	Locations []LocationVerdict
}

// Match returns the location that answers a GET request without further headers. The host
// is a Host header, with or without a port. The URI is that of the request line, with its
// query. The servers are those of a model.Static, which include the catch-all server.
func Match(servers []*model.Server, host, uri string) Answer {
	return Choose(servers, Request{Host: host, URI: uri}).Answer
}

// Choose returns the location that answers a request, and the verdicts on the servers and
// locations.
func Choose(servers []*model.Server, r Request) Choice {
	c := Choice{Answer: Answer{Outcome: Refuses}}
	if c.Path, c.Steps, c.Refusal = normalize(r.URI); c.Refusal != nil {
		return c
	}
	if c.Name, c.Refusal = HostName(r.Host); c.Refusal != nil {
		return c
	}
	c.Server, c.Servers = chooseServer(servers, c.Name)
	switch {
	case c.Server == nil:
		c.Refusal = errNoServer
	case misses(c.Server, c.Name):
		c.Location, c.Outcome = c.Server.Miss(), Missed
		if decides := catchAllOf(servers); decides != nil {
			_, _, c.Locations = chooseLocation(decides, "/") // the miss does the same for every path
		}
	default:
		c.Location, c.Outcome, c.Locations = chooseLocation(c.Server, c.Path)
		c.dispatch(r)
	}
	return c
}
