package model

import "strings"

// Named is the modifier of an internal location that a request is handed over to.
// Its Path is the name without "@".
const Named Modifier = "@"

// InternalPrefix begins the path of each internal location for subrequests. No
// Ingress can have a path below it, and clients that ask for one are answered 404.
const InternalPrefix = "/.sluice/"

// EscapedURI is the name of a block without data, and of the variable that a location
// with this block sets: what the client asked for, escaped as one argument of a URL.
const EscapedURI = "escaped_request_uri"

// missName is the internal location of names that a wildcard host does not mean.
const missName = "miss"

// Internal is a location that no client reaches. There are two kinds:
//
//   - Named: a request of the same server is handed over to it, as by error_page. It
//     may do all that other locations do.
//   - Equal, with a path below InternalPrefix: a subrequest goes to it, as by
//     auth_request or mirror. A subrequest shares the variables of its parent, so
//     that the location sets none, rewrites nothing and redirects nobody; its
//     balancer goes by $uri, which each request has for itself.
type Internal struct {
	*Location
	// Owners are the objects that asked for it, sorted. Rule.Object is one of them.
	Owners []ObjectRef `json:"owners,omitempty"`
	// Askers are the annotations by which subrequests go to it, each once.
	Askers []Asker `json:"-"`
}

// Asker is an annotation of an object.
type Asker struct {
	Object ObjectRef
	Field  string
}

// MissOf gives the internal location of names that nginx's wildcard takes but
// Kubernetes' does not (more than one label).
func MissOf(l *Location) *Internal {
	miss := *l
	miss.Modifier, miss.Path = Named, missName
	return &Internal{Location: &miss, Owners: []ObjectRef{l.Rule.Object}}
}

// Miss answers names that nginx's wildcard takes but Kubernetes' does not. Only
// wildcard hosts have it. A wildcard host without it takes no such name: its name is
// a regular expression, which costs every request for an unknown host some time.
func (s *Server) Miss() *Location {
	return s.Named(missName)
}

// Named gives the internal location of a name that requests are handed over to, nil
// for none.
func (s *Server) Named(name string) *Location {
	if found := s.internal(Named, name); found != nil {
		return found.Location
	}
	return nil
}

// InternalFor gives the location for subrequests that a path is of, nil for none.
func (s *Server) InternalFor(path string) *Location {
	if !strings.HasPrefix(path, InternalPrefix) {
		return nil
	}
	if found := s.internal(Equal, path); found != nil {
		return found.Location
	}
	return nil
}

func (s *Server) internal(modifier Modifier, path string) *Internal {
	for _, l := range s.Internal {
		if l.Modifier == modifier && l.Path == path {
			return l
		}
	}
	return nil
}
