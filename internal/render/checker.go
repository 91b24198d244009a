package render

import (
	"reflect"

	"sluice/internal/model"
)

// Checker tells what of servers cannot be printed. It prints the http level once for many checks,
// and a server that stays from one check to the next once. It is for one goroutine at a time.
type Checker struct {
	templates *Templates
	env       Environment
	// rest is the Static of the base without servers.
	rest model.Static
	base *rendering
	// known has the Problems of the servers of the last check.
	known map[*model.Server][]model.Problem
}

// NewChecker returns a Checker of templates in an environment.
func NewChecker(t *Templates, e Environment) *Checker { return &Checker{templates: t, env: e} }

// Is reports whether a Checker is one of these templates in this environment.
func (c *Checker) Is(t *Templates, e Environment) bool {
	return c.templates == t && reflect.DeepEqual(c.env, e)
}

// Problems returns what Render would say of the servers of s; not what it would say of the
// settings.
func (c *Checker) Problems(s model.Static) (problems []model.Problem) {
	c.begin(s)
	c.base.page = &page{} // so that the room of a large one is not kept
	known := make(map[*model.Server][]model.Problem, len(s.Servers))
	for _, server := range s.Servers {
		found, ok := c.known[server]
		if !ok {
			found = c.base.serverText(server).problems
		}
		known[server] = found
		problems = append(problems, found...)
	}
	c.known = known
	return problems
}

// begin prints the http level of s, unless it is that of the last check.
func (c *Checker) begin(s model.Static) {
	rest := s
	rest.Servers = nil
	if c.base == nil || !reflect.DeepEqual(c.rest, rest) {
		c.base, _ = c.templates.begin(s, c.env)
		_ = c.base.http()
		c.rest, c.known = rest, nil
	}
}
