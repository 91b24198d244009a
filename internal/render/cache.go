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
	chunk     *chunk
	problems  []model.Problem
	upstreams []upstream
	shared    []sharedText
}

// open gives the servers of the last Render if they were printed on the same
// ground, for this Render to add its own.
func (c *Cache) open(t *Templates, ground string) map[*model.Server]*rendered {
	if c == nil {
		return map[*model.Server]*rendered{}
	}
	if c.servers == nil || c.templates != t || c.ground != ground {
		c.templates, c.ground, c.servers = t, ground, map[*model.Server]*rendered{}
	}
	return c.servers
}

// printed are the servers of a file, in their order, and their text on a ground.
type printed struct {
	templates *Templates
	ground    string
	servers   []*model.Server
	texts     []*rendered
}

// Cache gives a cache that has the text of some servers of the file, which come in the
// order of the file. It is for another file with these, as a test needs it.
func (f *File) Cache(some []*model.Server) *Cache {
	c := &Cache{templates: f.printed.templates, ground: f.printed.ground, servers: make(map[*model.Server]*rendered, len(some))}
	at := 0
	for _, s := range some {
		if i := slices.Index(f.printed.servers[at:], s); i >= 0 {
			c.servers[s] = f.printed.texts[at+i]
			at += i + 1
		}
	}
	return c
}

// drop forgets the servers that this Render does not have; it has so many of those
// that are known.
func (c *Cache) drop(now []*model.Server, used int) {
	if c == nil || len(c.servers) == used {
		return
	}
	kept := make(map[*model.Server]*rendered, len(now))
	for _, s := range now {
		if out := c.servers[s]; out != nil {
			kept[s] = out
		}
	}
	c.servers = kept
}

// ground describes everything besides a Server that its text depends on.
func (r *rendering) ground() string {
	return fmt.Sprintf("%#v\n%v %t %t\n%s\n%s\n%s\n%q", *r.env, r.global.Patterns, r.logsPath, r.skipsUnknown, r.listen.text, r.listenDefault.text, r.catchall.text, r.outside)
}
