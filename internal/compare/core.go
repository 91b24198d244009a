package compare

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Core holds the results of the core for the compared Ingresses. It decides which rule a
// request belongs to.
type Core struct {
	Snapshot *snapshot.Snapshot
	Options  translate.Options
	Config   model.Config

	underscores bool
	// secured are the hosts whose plain requests are redirected, or that have a certificate.
	secured map[string]bool
	// byObject are the Problems of each object.
	byObject map[model.ObjectRef][]model.Problem
}

// NewCore computes what the core makes of objects.
func NewCore(objects snapshot.Objects, options translate.Options) *Core {
	snap, problems := snapshot.New(objects)
	config, more := translate.Config(snap, options, nil)
	read, _ := settings.Read(snap.ConfigMap(options.ConfigMap))
	c := &Core{
		Snapshot: snap, Options: options, Config: config, underscores: read.Client.TakesUnderscores(),
		secured: map[string]bool{}, byObject: map[model.ObjectRef][]model.Problem{},
	}
	for _, p := range model.SortProblems(append(problems, more...)) {
		c.byObject[p.Object] = append(c.byObject[p.Object], p)
	}
	for _, name := range config.Dynamic.Names {
		c.secured[name.Host] = name.Host != ""
	}
	for _, server := range config.Static.Servers {
		c.secured[server.Host] = c.secured[server.Host] || redirectsToHTTPS(server)
	}
	for _, ing := range snap.Ingresses() {
		for _, entry := range ing.Spec.TLS {
			for _, host := range entry.Hosts {
				c.secured[host] = true // its Secret may not be readable
			}
		}
	}
	return c
}

func redirectsToHTTPS(s *model.Server) bool {
	if s.RedirectToHTTPS != nil {
		return true
	}
	for _, l := range s.Locations {
		if l.RedirectToHTTPS != nil {
			return true
		}
	}
	return false
}

// ForgetSecrets drops the Problems of missing Secrets, for objects that were read without
// Secrets.
func (c *Core) ForgetSecrets() {
	for object, problems := range c.byObject {
		c.byObject[object] = slices.DeleteFunc(problems, func(p model.Problem) bool {
			return p.Reason == model.NotFound && strings.Contains(p.Text, "Secret")
		})
	}
}

// scheme returns the scheme by which requests for the host of a rule reach the backends.
func (c *Core) scheme(host string) string {
	if c.secured[host] {
		return "https"
	}
	return "http"
}

// origin is the rule that a request belongs to.
type origin struct {
	choice route.Choice
	rule   model.Rule
	host   string
	// near is set if no rule takes the request, which was made of this one.
	near bool
	// problems are those of the rule's object.
	problems []model.Problem
}

// origin returns the rule of a request, by Sluice's own choice.
func (c *Core) origin(r Request) origin {
	o := origin{choice: route.Choose(c.Config.Static.Servers, route.Request{
		Method: r.Method, Host: r.Host, URI: r.Target, Headers: r.Headers, Underscores: c.underscores,
	})}
	if o.choice.Server != nil {
		o.host = o.choice.Server.Host
	}
	if l := o.choice.Location; l != nil {
		o.rule = l.Rule
	}
	if (o.rule.Object.Kind == "" || o.rule.Kind == model.RuleFallback) && r.of.Object.Kind != "" {
		o.rule, o.host, o.near = r.of, r.host, true
	}
	o.problems = c.byObject[o.rule.Object]
	return o
}
