package model

import "strings"

// Named is the modifier of an internal location that nginx passes a request to. Its
// Path is the name without "@".
const Named Modifier = "@"

// InternalPrefix begins the path of each internal location for subrequests. No Ingress
// can have a path below it, and clients get 404 there.
const InternalPrefix = "/.sluice/"

// RedirectRest is the variable with the path below that of a redirect, which the block
// "redirects" sets.
const RedirectRest = "redirects_rest"

// Inspecting is the data of a block with which ModSecurity inspects requests.
type Inspecting interface {
	// UsesCoreRules reports whether the OWASP core rule set applies too.
	UsesCoreRules() bool
}

// Asking is the data of the block of a question. The answer tells the request that asks its
// cookies.
type Asking interface{ TellsCookies() bool }

// Logging is the data of a block with an access log of its own.
type Logging interface {
	// Skipping returns the data of a block whose log leaves out requests by $loggable.
	Skipping() any
}

// MissName is the internal location for names that a wildcard host does not mean.
const MissName = "miss"

// Internal is a location that no client reaches. There are two kinds:
//
//   - Named: nginx passes a request of the same server to it, for example by
//     error_page. It may do everything that other locations do.
//   - Equal, with a path below InternalPrefix: subrequests go to it, for example by
//     auth_request or mirror. A subrequest shares the variables of its parent. So the
//     location sets none, and does not rewrite or redirect; its balancer reads $uri,
//     which each request has for itself.
type Internal struct {
	*Location
	// Owners are the objects that asked for it, sorted. Rule.Object is one of them.
	Owners []ObjectRef `json:"owners,omitempty"`
	// Askers are the annotations by which subrequests go to it, each once.
	Askers []Asker `json:"-"`
	// Purpose is that of the subrequests to it, nil if there are none.
	*Purpose `json:"-"`
}

// Purpose is what subrequests are for: the annotation, without its prefix, that names their host,
// and what it means if that cannot be reached.
type Purpose struct{ Annotation, Failure string }

// Asker is an annotation of an object.
type Asker struct {
	Object ObjectRef
	Field  string
}

// MissOf returns the internal location for names that nginx's wildcard matches but
// Kubernetes' does not (more than one label).
func MissOf(l *Location) *Internal {
	miss := *l
	miss.Modifier, miss.Path = Named, MissName
	return &Internal{Location: &miss, Owners: []ObjectRef{l.Rule.Object}}
}

// Miss is the location for names that nginx's wildcard matches but Kubernetes' does
// not. Only wildcard hosts have it. Without it, nginx must not match these names: the
// name of the server is then a regular expression, which costs each request for an
// unknown host some time.
func (s *Server) Miss() *Location {
	return s.Named(MissName)
}

// Named returns the internal location with a name, nil for none.
func (s *Server) Named(name string) *Location {
	if found := s.internal(Named, name); found != nil {
		return found.Location
	}
	return nil
}

// InternalFor returns the location for subrequests at a path, nil for none.
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
