package render

import (
	"reflect"
	"slices"
	"sync"

	"sluice/internal/model"
)

// Checker tells what of servers cannot be printed. It prints the http level once for many checks.
// Its methods may be called at any time.
type Checker struct {
	templates *Templates
	// rest is the Static of the base without servers.
	rest  model.Static
	env   Environment
	mutex sync.Mutex
	base  *rendering
}

// NewChecker returns a Checker of templates in an environment.
func NewChecker(t *Templates, e Environment) *Checker { return &Checker{templates: t, env: e} }

// Is reports whether a Checker is one of these templates in this environment.
func (c *Checker) Is(t *Templates, e Environment) bool {
	return c.templates == t && reflect.DeepEqual(c.env, e)
}

// Problems returns what Render would say of the servers of s; not what it would say of the
// settings.
func (c *Checker) Problems(s model.Static) []model.Problem {
	r := *c.over(s)
	view := *r.view
	r.page, r.view = &page{}, &view
	var problems []model.Problem
	for _, server := range s.Servers {
		problems = append(problems, r.serverText(server).problems...)
	}
	return problems
}

// over returns a Render up to the http level of s.
func (c *Checker) over(s model.Static) *rendering {
	rest := s
	rest.Servers = nil
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.base == nil || !reflect.DeepEqual(c.rest, rest) {
		r, _ := c.templates.begin(s, c.env)
		_ = r.http()
		c.rest, c.base = rest, r
		c.base.outside, c.base.spoken = slices.Clip(r.outside), slices.Clip(r.spoken)
	}
	return c.base
}
