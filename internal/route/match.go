package route

import (
	"errors"

	"sluice/internal/model"
)

// Outcome is what nginx does with a request.
type Outcome string

// The outcomes.
const (
	Served    Outcome = "served"      // Location answers
	Missed    Outcome = "missed"      // a wildcard host took a name of too many labels: Location is its miss
	Redirects Outcome = "redirect"    // nginx answers 301 to the same path with a "/" at its end
	Refuses   Outcome = "bad request" // nginx answers 400
	Unmatched Outcome = "unmatched"   // no location fits, or an internal one: nginx answers 404
	Unknown   Outcome = "unknown"     // it hangs on the pattern of Location, which package pcre does not do
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

// errNoServer cannot happen with the servers of a model.Static.
var errNoServer = errors.New("no server takes the host")

// Choice is an Answer with what it was chosen among.
type Choice struct {
	Answer
	// Name is the host as server names are compared with it: in lower case,
	// without port and final dot. It is nginx's $host.
	Name string
	// Steps are what nginx does to the URI first.
	Steps []Step
	// Refusal says why, for Refuses only.
	Refusal error
	// Servers are those that the host could mean, in the order of the file.
	Servers []ServerVerdict
	// Dispatched is the location that hands the request over to Answer.Location; nil
	// where a client reaches that itself.
	Dispatched *model.Location
	// Locations are those of the server that decides, in the order of the file, each
	// followed by those that it hands requests over to:
	// Answer.Server, or the catch-all one for Missed, whose part the miss does.
	Locations []LocationVerdict
}

// Match says which location answers a request. The host is a Host header, with
// or without a port; the URI is that of the request line, with its query. The
// servers are those of a model.Static: the catch-all one is among them.
//
// It is asked with GET and no header but Host; Choose takes a whole Request.
func Match(servers []*model.Server, host, uri string) Answer {
	return Choose(servers, Request{Host: host, URI: uri}).Answer
}

// Choose says which location answers a request, and of every server that the host could mean and of every
// location of the one that decides why it wins or loses.
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
			_, _, c.Locations = chooseLocation(decides, "/") // Miss is what it does with that, whatever the path
		}
	default:
		c.Location, c.Outcome, c.Locations = chooseLocation(c.Server, c.Path)
		c.dispatch(r)
	}
	return c
}
