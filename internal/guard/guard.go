// Package guard checks the work of package assemble: that no location serves a request
// of a protecting Ingress without its protection. In go the claims on a host and the
// locations that were made of them; out come the requests that are open.
//
//	for _, open := range guard.Check(asked, server.Locations, server.Internal) {
//		open.Path // a request that open.Taker serves, and not open.Claim
//	}
//
// A request is in order in three cases:
//
//   - The answer is 503, a redirect to another path, or that of a health check.
//   - A location of the Ingress with all its protections serves it.
//   - A rule that wins serves it: a more exact, longer or older one. Of the same
//     Ingress, only a rule for a part of the requests wins (same.go).
//
// The package shares no code with assemble. It tries samples of requests: each path,
// requests below and beside it, and the borders of neighbouring locations.
package guard

import (
	"reflect"
	"slices"

	"sluice/internal/model"
)

// Asked holds the claims on one host.
type Asked struct {
	// Claims are in the order of age: of two with the same path the first counts.
	Claims []Claim
	// Turned is set if all paths of the host are patterns.
	Turned bool
}

// Claim is one path of an Ingress.
type Claim struct {
	Owner model.ObjectRef
	// Field, Path and PathType are as in a location's Rule.
	Field, Path, PathType string
	// Match limits the claim to some requests of the path.
	Match model.Match
	// Pattern is set if the Ingress asks for patterns; Own if this path does.
	Pattern, Own bool
	// Redirect is set if its requests are redirected, so that none reaches a backend. The
	// path is plain text then. Where all paths are patterns, it has the place of a path
	// of its Ingress that takes the requests too.
	Redirect bool
	// Protects is set if access to the path is restricted or should be; Denied if all
	// its requests must return 503. Blocks are the names of the blocks that its
	// locations must have.
	Protects, Denied bool
	Blocks           []string
	// BackendName is the name that the certificates of its backends must have, "" if
	// nginx need not verify them.
	BackendName string
	// Protections are the values of what protects, compared by reflect.DeepEqual: paths
	// of one Ingress can have the same blocks with different values.
	Protections []any
}

// Open is a request of a protecting claim that is served without its protection.
type Open struct {
	Claim *Claim
	// Path is the path of the request, decoded and normalised as nginx does it.
	Path  string
	Taker *model.Location
	// Reached is the location that clients reach: Taker, or one that dispatches to it.
	Reached *model.Location
}

// Check returns the open requests, one for each claim and location. It stops after a
// fixed amount of work. Requests may be dispatched to the internal locations.
func Check(asked Asked, locations []*model.Location, internal []*model.Internal) []Open {
	if !mixed(asked, locations) {
		return nil
	}
	j := newJudge(asked, locations)
	j.handOver(internal)
	var all []Open
	for _, c := range j.readings {
		if !c.Protects || j.left <= 0 {
			continue
		}
		for _, path := range j.samples(c) {
			reached, known := j.places.find(path, &j.left)
			for _, taker := range j.takers(c.Claim, reached) {
				if known && !j.inOrder(c, path, taker) && !slices.ContainsFunc(all, func(o Open) bool { return o.Claim == c.Claim && o.Taker == taker }) {
					all = append(all, Open{c.Claim, path, taker, reached})
				}
			}
			if j.left <= 0 {
				return all
			}
		}
	}
	return all
}

// mixed reports whether some location must not serve the requests of some protecting
// claim.
func mixed(asked Asked, locations []*model.Location) bool {
	for i := range asked.Claims {
		c := &asked.Claims[i]
		if !c.Protects || i > 0 && asked.Claims[i-1].isAlike(c) {
			continue // usually all claims of an Ingress have the same protection
		}
		if i > 0 && asked.Claims[i-1].Owner == c.Owner || slices.ContainsFunc(locations, func(l *model.Location) bool { return len(l.Dispatch) > 0 || !c.allows(l) }) {
			return true
		}
	}
	return false
}

// Sample is a request of a protecting claim.
type Sample struct {
	Claim *Claim
	Path  string
}

// Samples returns the requests that Check tries, so that a test can send them to
// nginx.
func Samples(asked Asked, locations []*model.Location) []Sample {
	j := newJudge(asked, locations)
	if j == nil {
		return nil
	}
	var all []Sample
	for _, c := range j.readings {
		if c.Protects {
			for _, path := range j.samples(c) {
				all = append(all, Sample{c.Claim, path})
			}
		}
	}
	return all
}

// InOrder reports whether a location may serve the request of a sample, for the same test.
func InOrder(asked Asked, s Sample, taker *model.Location) bool {
	j := newJudge(asked, nil)
	at := slices.IndexFunc(j.readings, func(r *reading) bool { return r.Claim.rule() == s.Claim.rule() })
	return j.inOrder(j.readings[at], s.Path, taker)
}

// mostSteps limits the work of one Check: steps of patterns, and samples.
const mostSteps = 1_000_000

// judge holds the state of one Check.
type judge struct {
	Asked
	readings []*reading
	byRule   map[rule]*reading
	places   *places
	// exceptions are the answers of isException.
	exceptions map[[2]*reading]bool
	// named are the internal locations to which requests are dispatched.
	named map[string]*model.Location
	left  int
}

// rule identifies a claim. Only redirects need their path: those of an Ingress have the
// same field.
type rule struct {
	owner       model.ObjectRef
	field, path string
}

func (c *Claim) rule() rule {
	if c.Redirect {
		return rule{c.Owner, c.Field, c.Path}
	}
	return rule{owner: c.Owner, field: c.Field}
}

// of returns the claim of a location, nil if there is none.
func (j *judge) of(l *model.Location) *reading {
	if r := j.byRule[rule{l.Rule.Object, l.Rule.Field, l.Rule.Path}]; r != nil {
		return r
	}
	return j.byRule[rule{owner: l.Rule.Object, field: l.Rule.Field}]
}

// newJudge returns nil if nothing protects.
func newJudge(asked Asked, locations []*model.Location) *judge {
	if !slices.ContainsFunc(asked.Claims, func(c Claim) bool { return c.Protects }) {
		return nil
	}
	j := &judge{Asked: asked, byRule: make(map[rule]*reading, len(asked.Claims)), left: mostSteps, exceptions: map[[2]*reading]bool{}}
	exact := exactPaths(asked)
	for i := range asked.Claims {
		r := read(&asked.Claims[i], asked.Turned)
		if asked.Turned && exact[r.Path] {
			r.leaveToExact()
		}
		r.age = i
		j.readings = append(j.readings, r)
		if key := r.rule(); j.byRule[key] == nil {
			j.byRule[key] = r
		}
	}
	j.places = newPlaces(locations)
	return j
}

// inOrder reports whether a location may serve a request of a claim.
func (j *judge) inOrder(c *reading, path string, l *model.Location) bool {
	if l == nil || servesNothing(l) {
		return true
	}
	winner := j.of(l)
	own := winner != nil && winner.Owner == c.Owner
	if c.allows(l) && (!own || winner.keeps(c.Claim)) {
		return true
	}
	if winner == nil || winner.isAlike(c.Claim) || l.Rule.Kind == model.RuleFallback || !winner.mayTake(path, &j.left) {
		return false
	}
	if own && winner.Redirect {
		return l.Proxy == nil
	}
	return (winner.before(c, path) || j.placedBefore(winner, c, path)) && (!own || j.isException(winner, c))
}

// placedBefore reports whether a redirect has the place of a path that wins over another
// claim.
func (j *judge) placedBefore(redirect, c *reading, path string) bool {
	return redirect.Redirect && redirect.pattern && slices.ContainsFunc(j.readings, func(r *reading) bool {
		return r.Owner == redirect.Owner && !r.Redirect && r.takes(path, &j.left) && r.before(c, path)
	})
}

// isAlike reports whether two claims belong to one Ingress and have the same
// protection.
func (c *Claim) isAlike(o *Claim) bool {
	return c.Owner == o.Owner && c.Protects == o.Protects && c.Denied == o.Denied && c.BackendName == o.BackendName &&
		slices.Equal(c.Blocks, o.Blocks) && reflect.DeepEqual(c.Protections, o.Protections)
}

// allows reports whether a location may serve any request of the claim: it belongs to
// the same Ingress and has all its protection, or it serves nothing.
func (c *Claim) allows(l *model.Location) bool {
	if servesNothing(l) {
		return true
	}
	if l.Rule.Object != c.Owner || c.Denied || !c.trusts(l.Proxy) {
		return false
	}
	for _, name := range c.Blocks {
		if !slices.ContainsFunc(l.Blocks, func(b model.Block) bool { return b.Name == name }) {
			return false
		}
	}
	return true
}

// trusts reports whether nginx verifies the backends of a location as the claim asks.
func (c *Claim) trusts(p *model.Proxy) bool {
	return p == nil || c.BackendName == "" || p.Transport.TLS && p.Transport.Verify && p.Transport.Name == c.BackendName && p.Transport.TrustedCA != ""
}

// servesNothing reports whether a location passes on no request.
func servesNothing(l *model.Location) bool {
	return l.Rule.Kind == model.RuleRedirect || l.Rule.Kind == model.RuleHealth || l.Rule.Kind == model.RuleStatus || l.Return != nil && l.Return.Code == 503
}
