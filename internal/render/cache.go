package render

import (
	"fmt"

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
