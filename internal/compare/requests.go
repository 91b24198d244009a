package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Asked says which requests are made.
type Asked struct {
	// Schemes are http, https or both.
	Schemes []string
	// Methods are those of requests for each path as it is written, besides GET.
	Methods []string
	// Seed selects other texts for patterns.
	Seed uint64
}

// stranger is a label, a segment and a value that no Ingress has.
const stranger = "sluice-compare"

// The rounds in which requests are asked, so that a limited number of requests has the most
// important ones of each path.
const (
	roundWritten = iota
	roundSlash
	roundNear
	roundFar
	rounds
)

// maker makes requests.
type maker struct {
	*Core
	asked    Asked
	settings func(*networkingv1.Ingress) *settings.Settings
	// patterns are the locations of paths that are patterns.
	patterns map[model.Rule]*model.Location
	choices  choices
	rounds   [rounds][]Request
}

// FromIngresses makes requests for every host and path of the served Ingresses, at and near
// their edges, in the same order for the same input. The first requests are those for the
// paths as they are written.
func FromIngresses(core *Core, asked Asked) []Request {
	m := &maker{Core: core, asked: asked, settings: translate.Settings(core.Snapshot, core.Options),
		patterns: map[model.Rule]*model.Location{}, choices: choices(asked.Seed)}
	for _, server := range core.Config.Static.Servers {
		for _, l := range server.Locations {
			if l.Modifier == model.Pattern {
				m.patterns[model.Rule{Object: l.Rule.Object, Field: l.Rule.Field}] = l
			}
		}
	}
	for _, ing := range core.Snapshot.Ingresses() {
		if ours, _ := translate.Accepts(core.Snapshot, core.Options, ing); ours {
			m.ingress(ing)
		}
	}
	m.unknownHost()
	return m.all()
}

// add adds a request to a round.
func (m *maker) add(round int, r Request) {
	r.Method = cmp.Or(r.Method, "GET")
	if !slices.Contains(m.asked.Schemes, r.Scheme) {
		r.Scheme = m.asked.Schemes[0]
	}
	if r.Target != "" && r.Host != "" {
		m.rounds[round] = append(m.rounds[round], r)
	}
}

// all returns the requests of all rounds. Each is in its first round only.
func (m *maker) all() []Request {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Concat(m.rounds[:]...), func(r Request) bool {
		twice := seen[r.key()]
		seen[r.key()] = true
		return twice
	})
}

// inAllSchemes is add for each scheme.
func (m *maker) inAllSchemes(round int, r Request) {
	for _, r.Scheme = range m.asked.Schemes {
		m.add(round, r)
	}
}

// ingress makes the requests of an Ingress.
func (m *maker) ingress(ing *networkingv1.Ingress) {
	all := annotations.Read(ing, m.settings(ing), m.Options.AnnotationsPrefix)
	if ing.Spec.DefaultBackend != nil {
		m.inAllSchemes(roundWritten, Request{Host: stranger + ".example", Target: "/", Why: "the default backend of " + snapshot.RefOf(ing).String()})
	}
	for i, rule := range ing.Spec.Rules {
		site := site{host: hostOf(rule.Host), rule: rule.Host, scheme: m.scheme(rule.Host), of: model.Rule{Object: snapshot.RefOf(ing)}}
		var targets []string
		if rule.HTTP != nil {
			for j, path := range rule.HTTP.Paths {
				field := fmt.Sprintf("spec.rules[%d].http.paths[%d]", i, j)
				site.of = model.Rule{Object: snapshot.RefOf(ing), Field: field}
				location := m.patterns[site.of]
				site.of.Path, site.of.PathType = path.Path, typeOf(path)
				target := m.path(site, location, path.Path)
				m.annotated(site, target, all.At(path.Path))
				targets = append(targets, target)
			}
		}
		m.hosts(site, append(targets, "/")[0], all)
	}
}

// site is a host of a rule.
type site struct {
	// host is a name that the rule takes; rule is that of the rule.
	host, rule string
	// scheme is the one whose requests reach the backends.
	scheme string
	// of is the rule that requests are made of.
	of model.Rule
}

func typeOf(path networkingv1.HTTPIngressPath) string {
	if path.PathType == nil {
		return ""
	}
	return string(*path.PathType)
}

func (s site) request(target, why string) Request {
	return Request{Scheme: s.scheme, Host: s.host, Target: target, Why: why, of: s.of, host: s.rule}
}

// hostOf returns a name that the host of a rule takes.
func hostOf(host string) string {
	if host == "" {
		return stranger + ".example"
	}
	return strings.Replace(host, "*", stranger, 1)
}

// annotated makes the requests that annotations of a path tell apart: canaries, matches, and
// origins of scripts.
func (m *maker) annotated(s site, target string, a *annotations.Annotations) {
	for _, header := range m.canaryHeaders(a.Canary) {
		r := s.request(target, "a request for a canary")
		r.Headers = []route.Header{header}
		m.add(roundSlash, r)
	}
	m.matches(s, target, a.Match)
	for _, origin := range origins(a.CORS) {
		r := s.request(target, "a request by a script of another origin")
		r.Headers = []route.Header{{Name: "Origin", Value: origin}}
		m.add(roundNear, r)
		if slices.Contains(m.asked.Methods, "OPTIONS") {
			r.Method, r.Headers = "OPTIONS", append(r.Headers, route.Header{Name: "Access-Control-Request-Method", Value: "GET"})
			m.add(roundNear, r)
		}
	}
}

// canaryHeaders returns the headers that decide about a canary, each to decide for it and
// against it.
func (m *maker) canaryHeaders(c *annotations.Canary) (headers []route.Header) {
	if !c.Enabled {
		return nil
	}
	if c.Header != "" {
		values := []string{"always", "never", stranger}
		if c.Value != "" {
			values = append(values, c.Value)
		}
		if c.Pattern != "" {
			values = append(values, m.examples(c.Pattern, 1)...)
		}
		for _, value := range values {
			headers = append(headers, route.Header{Name: c.Header, Value: value})
		}
	}
	if c.Cookie != "" {
		for _, value := range []string{"always", "never", stranger} {
			headers = append(headers, route.Header{Name: "Cookie", Value: c.Cookie + "=" + value})
		}
	}
	return headers
}

// matches makes a request that match-headers and match-query select.
func (m *maker) matches(s site, target string, by *annotations.Match) {
	if len(by.Headers)+len(by.Query) == 0 {
		return
	}
	r := s.request(target, "a request that match-headers or match-query selects")
	for _, h := range by.Headers {
		r.Headers = append(r.Headers, route.Header{Name: h.Name, Value: m.valueOf(h)})
	}
	mark := "?"
	for _, q := range by.Query {
		r.Target += mark + escaped(q.Name) + "=" + escaped(m.valueOf(q))
		mark = "&"
	}
	m.add(roundSlash, r)
}

// valueOf returns a value that matches.
func (m *maker) valueOf(v model.ValueMatch) string {
	if !v.Pattern {
		return v.Value
	}
	return append(m.examples("^(?:"+v.Value+`)\z`, 1), stranger)[0]
}

// origins returns origins that CORS allows, and one that it may not.
func origins(c *annotations.CORS) []string {
	if !c.Enabled {
		return nil
	}
	list := []string{"https://" + stranger + ".example"}
	for _, origin := range c.Origins {
		if origin != "*" {
			list = append(list, strings.Replace(origin, "*", stranger, 1))
		}
	}
	return list
}
