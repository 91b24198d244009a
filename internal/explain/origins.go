package explain

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
)

// A host can have ten thousand paths, each of them a candidate. So what a candidate looks for is
// indexed by where it was written.

// origin is the place where a location, or the cause that there is none, was written.
type origin struct {
	object      model.ObjectRef
	host, field string
}

// origins are the indexes, each made at its first use.
type origins struct {
	locations map[*model.Server]map[origin][]*model.Location
	judged    map[origin][]route.LocationVerdict
	unplaced  map[origin]*model.Unplaced
	problems  map[model.ObjectRef]*problemsOfPaths
}

// problemsOfPaths are the Problems of an object: those in fields of paths by these, and all others,
// which can be about several paths. denials are those of paths that close the whole object.
type problemsOfPaths struct {
	byPath          map[string][]model.Problem
	others, denials []model.Problem
}

// mostDenials is the maximum number of Problems of other paths that each path of an object has.
const mostDenials = 20

func originOf(l *model.Location) origin { return origin{object: l.Rule.Object, field: l.Rule.Field} }

// placed returns the locations of a server with an origin.
func (o *origins) placed(s *model.Server, at origin) []*model.Location {
	if o.locations == nil {
		o.locations = map[*model.Server]map[origin][]*model.Location{}
	}
	if o.locations[s] == nil {
		o.locations[s] = map[origin][]*model.Location{}
		for _, l := range answering(s) {
			o.locations[s][originOf(l)] = append(o.locations[s][originOf(l)], l)
		}
	}
	return o.locations[s][at]
}

// verdicts returns those on the locations with an origin.
func (o *origins) verdicts(all []route.LocationVerdict, at origin) []route.LocationVerdict {
	if o.judged == nil {
		o.judged = map[origin][]route.LocationVerdict{}
		for _, v := range all {
			if len(v.Location.Dispatch) == 0 {
				o.judged[originOf(v.Location)] = append(o.judged[originOf(v.Location)], v)
			}
		}
	}
	return o.judged[at]
}

// cause returns the first recorded cause of an origin, nil for none.
func (o *origins) cause(all [][]model.Unplaced, at origin) *model.Unplaced {
	if o.unplaced == nil {
		o.unplaced = map[origin]*model.Unplaced{}
		for _, list := range all {
			for i := range list {
				if from := (origin{list[i].Object, list[i].Host, list[i].Field}); o.unplaced[from] == nil {
					o.unplaced[from] = &list[i]
				}
			}
		}
	}
	return o.unplaced[at]
}

// ofPaths sorts the Problems of an object by the fields of paths.
func (o *origins) ofPaths(all []model.Problem, object model.ObjectRef) *problemsOfPaths {
	if o.problems == nil {
		o.problems = map[model.ObjectRef]*problemsOfPaths{}
	}
	if o.problems[object] == nil {
		by := &problemsOfPaths{byPath: map[string][]model.Problem{}}
		for _, p := range all {
			path := pathField(p.Field)
			switch {
			case path == "":
				by.others = append(by.others, p)
				continue
			case p.Denies && len(by.denials) < mostDenials:
				by.denials = append(by.denials, p)
			}
			by.byPath[path] = append(by.byPath[path], p)
		}
		o.problems[object] = by
	}
	return o.problems[object]
}

// pathField cuts a field behind the path that it is in, to "" if it is in none.
func pathField(field string) string {
	at := strings.Index(field, ".paths[")
	if at < 0 {
		return ""
	}
	end := strings.IndexByte(field[at:], ']')
	if end < 0 || end+1 < len(field[at:]) && field[at+end+1] != '.' {
		return ""
	}
	return field[:at+end+1]
}

// problemsOf returns the Problems in the fields of a candidate, and those that deny its
// Ingress.
func (x *explainer) problemsOf(c *candidate) []model.Problem {
	if c.ingress == nil {
		return nil
	}
	by := x.origins.ofPaths(x.problems[c.Object], c.Object)
	found := slices.Clone(by.byPath[c.Field])
	for _, p := range by.others {
		if own(p, c) || p.Denies {
			found = append(found, p)
		}
	}
	for _, p := range by.denials {
		if pathField(p.Field) != c.Field {
			found = append(found, p)
		}
	}
	return model.SortProblems(found)
}
