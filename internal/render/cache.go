package render

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sluice/internal/model"
)

// Cache keeps the text of servers from one Render to the next, so that the same *Server
// with the same templates, environment and settings is printed once. It changes nothing
// but the time of Render. A Cache is for one goroutine.
type Cache struct {
	templates *Templates
	// key is everything besides templates and Server that affects a server's text.
	key     string
	servers map[*model.Server]*rendered
	// last are the arguments and results of the last Render.
	last struct {
		templates *Templates
		static    model.Static
		env       Environment
		file      *File
		problems  []model.Problem
	}
}

// again returns the results of the last Render if the arguments are the same.
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

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{} }

// rendered is a printed and checked server.
type rendered struct {
	// chunk is nil if the server was left out.
	chunk     *chunk
	problems  []model.Problem
	upstreams []upstream
	shared    []sharedText
	trust     []TrustFile
	inspected inspected
}

// open returns the servers of the last Render if the key is the same, else an empty map.
// This Render adds its own.
func (c *Cache) open(t *Templates, key string) map[*model.Server]*rendered {
	if c == nil {
		return map[*model.Server]*rendered{}
	}
	if c.servers == nil || c.templates != t || c.key != key {
		c.templates, c.key, c.servers = t, key, map[*model.Server]*rendered{}
	}
	return c.servers
}

// printed are the servers of a file, in their order, with their text and its key.
type printed struct {
	templates *Templates
	key       string
	servers   []*model.Server
	texts     []*rendered
}

// Cache returns a cache with the text of some servers of the file, in the order of the
// file. It makes another file of these servers cheap.
func (f *File) Cache(some []*model.Server) *Cache {
	c := &Cache{templates: f.printed.templates, key: f.printed.key, servers: make(map[*model.Server]*rendered, len(some))}
	at := 0
	for _, s := range some {
		if i := slices.Index(f.printed.servers[at:], s); i >= 0 {
			c.servers[s] = f.printed.texts[at+i]
			at += i + 1
		}
	}
	return c
}

// drop forgets the servers that this Render does not use. used counts those that it does.
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

// cacheKey returns everything besides templates and Server that affects a server's text.
func (r *rendering) cacheKey() string {
	var key strings.Builder
	for _, part := range []any{
		*r.env, r.global.Patterns, r.global.TLS.SharedTickets, r.global.Keepalive.Connections == 0, r.global.GeoIP.Enabled,
		r.logsPath, r.skipsUnknown, r.view.DebugHeader != nil, r.underscores, r.view.Forwarded.Both, r.view.Forwarded.SentFor, r.otherForms(), r.quicPassed(),
		string(r.listen.text), string(r.listenDefault.text), string(r.catchall.text), r.outside, r.outsideBodies, r.read, r.ownPlaces, r.everywhere.key(),
	} {
		fmt.Fprintf(&key, "%#v\n", part)
	}
	return key.String()
}
