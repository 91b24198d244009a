// Package guard checks what package assemble placed: that no request which the
// path of a protecting Ingress would take if all were well is served without its
// protection. In go what a host was asked for and the locations that were made of
// it; out come the requests that are open.
//
//	for _, open := range guard.Check(asked, server.Locations, server.Internal) {
//		open.Path // a request that open.Taker serves, and not open.Claim
//	}
//
// A request is in order if it answers 503, a redirect to another path or the check of
// a load balancer, if a location of the Ingress with all its protections has it, or if a rule that comes
// first does: more exact, longer or older. The package shares no code with what
// places locations. It tries samples of requests: each path, what is just below and
// beside it, and the borders of the neighbours' locations.
package guard

import (
	"slices"

	"sluice/internal/model"
)

// Asked is what the Ingresses of one host ask for.
type Asked struct {
	// Claims come in the order of age: of two with the same path the first counts.
	Claims []Claim
	// Turned is set if all paths of the host are patterns.
	Turned bool
}

// Claim is a path that an Ingress asks for.
type Claim struct {
	Owner model.ObjectRef
	// Field, Path and PathType are as in a location's Rule.
	Field, Path, PathType string
	// Match says which requests of the path it asks for.
	Match model.Match
	// Pattern is set if the Ingress asks for patterns.
	Pattern bool
	// Protects is set if requests are kept out of the path, or should be; Denied if
	// all of them must be answered by 503. Blocks are the names of what its locations
	// must have.
	Protects, Denied bool
	Blocks           []string
}

// Open is a request that is served although a claim that protects asks for it.
type Open struct {
	Claim *Claim
	// Path is that of the request, decoded and without what nginx takes out of it.
	Path  string
	Taker *model.Location
	// Reached is the location that clients reach: Taker, or one that hands requests over
	// to it.
	Reached *model.Location
}

// Check gives the requests that are open, one for each claim and location. It looks
// at as much as a fixed amount of work allows. Requests may be handed over to the
// internal locations.
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

// mixed reports whether there is any location that a claim that protects cannot
// share its requests with, whatever they are.
func mixed(asked Asked, locations []*model.Location) bool {
	for i := range asked.Claims {
		c := &asked.Claims[i]
		if !c.Protects || i > 0 && asked.Claims[i-1].isAlike(c) {
			continue // mostly all claims of an Ingress are protected alike
		}
		if slices.ContainsFunc(locations, func(l *model.Location) bool { return len(l.Dispatch) > 0 || !c.allows(l) }) {
			return true
		}
	}
	return false
}

// Sample is a request that a claim that protects would take.
type Sample struct {
	Claim *Claim
	Path  string
}

// Samples gives requests for which Check looks who takes them, to be asked of nginx
// itself.
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

// InOrder reports whether a location may have the request of a sample.
func InOrder(asked Asked, s Sample, taker *model.Location) bool {
	j := newJudge(asked, nil)
	at := slices.IndexFunc(j.readings, func(r *reading) bool { return r.Claim.Owner == s.Claim.Owner && r.Claim.Field == s.Claim.Field })
	return j.inOrder(j.readings[at], s.Path, taker)
}

// mostSteps is how much work one Check may be: steps of patterns, and samples.
const mostSteps = 1_000_000

// judge is one Check.
type judge struct {
	Asked
	readings []*reading
	byRule   map[rule]*reading
	places   *places
	// named are the internal locations that requests are handed over to.
	named map[string]*model.Location
	left  int
}

type rule struct {
	owner model.ObjectRef
	field string
}

// newJudge is nil where nothing protects.
func newJudge(asked Asked, locations []*model.Location) *judge {
	if !slices.ContainsFunc(asked.Claims, func(c Claim) bool { return c.Protects }) {
		return nil
	}
	j := &judge{Asked: asked, byRule: make(map[rule]*reading, len(asked.Claims)), left: mostSteps}
	for i := range asked.Claims {
		r := read(&asked.Claims[i], asked.Turned)
		r.age = i
		j.readings = append(j.readings, r)
		if key := (rule{r.Owner, r.Field}); j.byRule[key] == nil {
			j.byRule[key] = r
		}
	}
	j.places = newPlaces(locations)
	return j
}

// inOrder reports whether a location may have a request that a claim would take.
func (j *judge) inOrder(c *reading, path string, l *model.Location) bool {
	if l == nil || c.allows(l) {
		return true
	}
	winner := j.byRule[rule{l.Rule.Object, l.Rule.Field}]
	return winner != nil && !winner.isAlike(c.Claim) && l.Rule.Kind != model.RuleFallback && winner.mayTake(path, &j.left) && winner.before(c, path)
}

// isAlike reports whether two claims are of one Ingress and protected alike.
func (c *Claim) isAlike(o *Claim) bool {
	return c.Owner == o.Owner && c.Protects == o.Protects && c.Denied == o.Denied && slices.Equal(c.Blocks, o.Blocks)
}

// allows reports whether a location may have any request of the claim: it is of the
// same Ingress and has all that protects it, or it serves nothing.
func (c *Claim) allows(l *model.Location) bool {
	if l.Rule.Kind == model.RuleRedirect || l.Rule.Kind == model.RuleHealth || l.Return != nil && l.Return.Code == 503 {
		return true
	}
	if l.Rule.Object != c.Owner || c.Denied {
		return false
	}
	for _, name := range c.Blocks {
		if !slices.ContainsFunc(l.Blocks, func(b model.Block) bool { return b.Name == name }) {
			return false
		}
	}
	return true
}
