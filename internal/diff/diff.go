// Package diff tells what a change of objects changes for clients. In go the results of the
// core for both sides; out come routes, requests that go elsewhere, certificates, endpoints,
// Problems, and the lines of nginx.conf by owner.
//
//	r := diff.Compare(diff.Side{Input: before, File: oldFile}, diff.Side{Input: after, File: newFile})
//	r.Changed // whether anything differs
//	r.WriteMarkdown(os.Stdout)
//
// It needs no nginx, and does not know whether nginx accepts the files. No result contains
// a private key.
package diff

import (
	"reflect"

	"sluice/internal/explain"
	"sluice/internal/model"
	"sluice/internal/render"
)

// Side is one of the two sides.
type Side struct {
	explain.Input
	File *render.File
}

// Result is the difference of two sides. Each text is one printable line, except that of
// Lines, and no list is null.
type Result struct {
	// Changed is set if anything below differs.
	Changed bool `json:"changed"`
	// Reload is set if nginx.conf differs, so that nginx reloads.
	Reload bool `json:"reload"`
	// Routes are sorted as in nginx.conf; TCP and UDP services come last.
	Routes []Route `json:"routes"`
	// Requests are examples of requests that another route takes.
	Requests []Request `json:"requests"`
	// Unasked is the number of hosts that were too large to try all requests.
	Unasked      int           `json:"unasked"`
	Certificates []Certificate `json:"certificates"`
	Endpoints    []Endpoints   `json:"endpoints"`
	// Gained are the Problems of the new side only, Mended those of the old side only.
	Gained []model.Problem `json:"gained"`
	Mended []model.Problem `json:"mended"`
	// Notes tell what could not be read.
	Notes []string `json:"notes"`
	// Conf are the lines of nginx.conf, by owner and host.
	Conf []Lines `json:"conf"`
}

// Kind is the kind of a change.
type Kind string

// The kinds.
const (
	Gained  Kind = "gained"
	Lost    Kind = "lost"
	Moved   Kind = "moved"   // a route has another backend or status
	Changed Kind = "changed" // it is the same with another behaviour
)

// Compare compares two sides.
func Compare(before, after Side) *Result {
	c := newComparison(before, after)
	r := &Result{Reload: !before.File.Equal(after.File)}
	r.Routes = c.routes()
	r.Requests, r.Unasked = c.requests()
	r.Routes = append(r.Routes, c.streams()...)
	r.Certificates = c.certificates()
	r.Endpoints = c.endpoints()
	r.Gained, r.Mended = problems(before.Problems, after.Problems)
	if r.Reload {
		r.Conf = conf(before.File, after.File)
	}
	r.Changed = r.Reload || len(r.Routes)+len(r.Requests)+len(r.Certificates)+len(r.Endpoints)+len(r.Gained)+len(r.Mended) > 0
	explain.Fit(reflect.ValueOf(r))
	return r
}

// problems returns the Problems of only one side, sorted.
func problems(before, after []model.Problem) (gained, mended []model.Problem) {
	old, now := model.SortProblems(cloned(before)), model.SortProblems(cloned(after))
	for len(old) > 0 || len(now) > 0 {
		order := 1
		switch {
		case len(now) == 0:
			order = -1
		case len(old) > 0:
			order = old[0].Compare(now[0])
		}
		if order < 0 {
			mended = append(mended, old[0])
		}
		if order > 0 {
			gained = append(gained, now[0])
		}
		if order <= 0 {
			old = old[1:]
		}
		if order >= 0 {
			now = now[1:]
		}
	}
	return gained, mended
}

func cloned(problems []model.Problem) []model.Problem { return append([]model.Problem{}, problems...) }
