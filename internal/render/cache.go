package render

import (
	"fmt"
	"reflect"
	"slices"

	"sluice/internal/model"
)

// Cache keeps the text of servers from one Render to the next. The same *Server
// under the same templates, environment and settings is not printed again. A
// Cache is for one goroutine; it changes nothing but the time that Render takes.
type Cache struct {
	templates *Templates
	// ground is what servers are printed on: it decides their text with them.
	ground  string
	servers map[*model.Server]*rendered
	// last is what the last Render was given and gave.
	last struct {
		templates *Templates
		static    model.Static
		env       Environment
		file      *File
		problems  []model.Problem
	}
}

// again gives the file of the last Render if it was given the same.
func (c *Cache) again(t *Templates, s model.Static, e Environment) (*File, []model.Problem) {
	if c == nil || c.last.templates != t || !slices.Equal(c.last.static.Servers, s.Servers) || !reflect.DeepEqual(c.last.env, e) {
		return nil, nil
	}
	rest, was := s, c.last.static
	rest.Servers, was.Servers = nil, nil
	if !reflect.DeepEqual(rest, was) {
		return nil, nil
	}
	return c.last.file, c.last.problems
}

// keep remembers a Render for again.
func (c *Cache) keep(r *rendering, s model.Static, e Environment) {
	if c != nil {
		s.Servers = slices.Clone(s.Servers)
		c.last.templates, c.last.static, c.last.env, c.last.file, c.last.problems = r.templates, s, e, r.file, r.problems
	}
}

// NewCache gives an empty cache.
func NewCache() *Cache { return &Cache{} }

// rendered is a server that was printed and checked.
type rendered struct {
	// chunk is nil if the server was left out.
	chunk      *chunk
	problems   []model.Problem
	transports []model.Transport
	shared     []sharedText
}

// open gives the servers of the last Render if they were printed on the same
// ground, and takes the ones of this Render instead.
func (c *Cache) open(t *Templates, ground string, now map[*model.Server]*rendered) map[*model.Server]*rendered {
	if c == nil {
		return nil
	}
	known := c.servers
	if c.templates != t || c.ground != ground {
		known = nil
	}
	c.templates, c.ground, c.servers = t, ground, now
	return known
}

// ground describes everything besides a Server that its text depends on.
func (r *rendering) ground() string {
	return fmt.Sprintf("%#v\n%v %t %t\n%s\n%s\n%s\n%q", *r.env, r.global.patterns, r.logsPath, r.skipsUnknown, r.listen, r.listenDefault, r.catchall, r.outside)
}
