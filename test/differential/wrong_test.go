package differential

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/test/kit"
)

// wrongMatchers gives matchers that are each wrong in one way.
func wrongMatchers() map[string]matcher {
	return map[string]matcher{
		"^~ is not heeded":           changed(func(l *model.Location) { l.Modifier = swapped(l.Modifier, model.PrefixFirst, model.Prefix) }),
		"every prefix is ^~":         changed(func(l *model.Location) { l.Modifier = swapped(l.Modifier, model.Prefix, model.PrefixFirst) }),
		"= is a prefix":              changed(func(l *model.Location) { l.Modifier = swapped(l.Modifier, model.Equal, model.Prefix) }),
		"the case of patterns":       changed(func(l *model.Location) { l.Path = strings.Replace(l.Path, "^", "(?-i)^", 1) }),
		"patterns are not anchored":  changed(func(l *model.Location) { l.Path = strings.TrimPrefix(l.Path, "^") }),
		"the last pattern counts":    onOthers(func(s *model.Server) { slices.Reverse(s.Locations) }),
		"the shortest prefix counts": shortest,
		"/foo is never redirected": func(servers []*model.Server, host, uri string) route.Answer {
			answer := route.Match(servers, host, uri)
			if answer.Outcome == route.Redirects {
				answer.Outcome = route.Served
			}
			return answer
		},
		"* is any number of labels": func(servers []*model.Server, host, uri string) route.Answer {
			answer := route.Match(servers, host, uri)
			if answer.Outcome == route.Missed {
				return route.Match(servers, strings.Replace(answer.Server.Host, "*", "x", 1), uri)
			}
			return answer
		},
		"the case of hosts": func(servers []*model.Server, host, uri string) route.Answer {
			if strings.ToLower(host) != host {
				host = "unknown.test"
			}
			return route.Match(servers, host, uri)
		},
		"the port is part of the host": func(servers []*model.Server, host, uri string) route.Answer {
			return route.Match(servers, strings.ReplaceAll(host, ":", "_"), uri)
		},
		"escapes stay": func(servers []*model.Server, host, uri string) route.Answer {
			return route.Match(servers, host, strings.ReplaceAll(uri, "%", "%25"))
		},
		"slashes are not merged": func(servers []*model.Server, host, uri string) route.Answer {
			return route.Match(servers, host, strings.ReplaceAll(uri, "//", "/x/"))
		},
		"a query is part of the path": func(servers []*model.Server, host, uri string) route.Answer {
			return route.Match(servers, host, strings.ReplaceAll(uri, "?", "%3F"))
		},
	}
}

// changed is a matcher that sees all locations otherwise than they are.
func changed(change func(*model.Location)) matcher {
	return onOthers(func(s *model.Server) {
		for i, l := range s.Locations {
			other := *l
			change(&other)
			s.Locations[i] = &other
		}
	})
}

// onOthers is a matcher that sees all servers otherwise than they are. It makes
// them once for requests in a row that are about the same ones.
func onOthers(change func(*model.Server)) matcher {
	var from, others []*model.Server
	return func(servers []*model.Server, host, uri string) route.Answer {
		if len(from) == 0 || from[0] != servers[0] {
			from, others = servers, eachServer(servers, change)
		}
		return route.Match(others, host, uri)
	}
}

// eachServer gives servers that were changed, with lists of locations of their
// own.
func eachServer(servers []*model.Server, change func(*model.Server)) []*model.Server {
	list := make([]*model.Server, len(servers))
	for i, s := range servers {
		other := *s
		other.Locations = slices.Clone(s.Locations)
		change(&other)
		list[i] = &other
	}
	return list
}

func swapped(modifier, from, to model.Modifier) model.Modifier {
	if modifier == from {
		return to
	}
	return modifier
}

// shortest takes the shortest prefix where route.Match takes the longest.
func shortest(servers []*model.Server, host, uri string) route.Answer {
	answer := route.Match(servers, host, uri)
	if answer.Outcome != route.Served || answer.Location.Modifier != model.PrefixFirst {
		return answer
	}
	for _, l := range answer.Server.Locations {
		if l.Modifier == model.PrefixFirst && strings.HasPrefix(answer.Path, l.Path) && len(l.Path) < len(answer.Location.Path) {
			answer.Location = l
		}
	}
	return answer
}

// TestWrongMatchersAreCaught holds that nginx disagrees with each of them within
// a hundred sets, as the seed makes them.
func TestWrongMatchersAreCaught(t *testing.T) {
	t.Parallel()
	best, err := kit.BestNginx()
	if err != nil {
		t.Fatal(err)
	}
	site, wrong, caught := newSite(t, best), wrongMatchers(), map[string]int{}
	for number := range 4 {
		w := makeWorld(usualSeed, number, 25)
		replies := w.answers(t, site, w.translated(t, w.objects(t)))
		for name, match := range wrong {
			for i, f := range w.told(t, match).foretold {
				if disagree(f, replies[i]) {
					caught[name]++
				}
			}
		}
	}
	for name := range wrong {
		if caught[name] == 0 {
			t.Errorf("nobody noticed that %s", name)
		}
	}
	t.Log(caught)
}

// TestDisagreementIsMadeSmaller holds that what is reported is small, and that
// its manifests are what disagreed.
func TestDisagreementIsMadeSmaller(t *testing.T) {
	t.Parallel()
	best, err := kit.BestNginx()
	if err != nil {
		t.Fatal(err)
	}
	c := &comparison{match: wrongMatchers()["^~ is not heeded"], site: newSite(t, best), seen: newTally(), starts: mostStarts}
	w := makeWorld(usualSeed, 1, 25).told(t, c.match)
	for i, got := range w.answers(t, c.site, w.config) {
		if !disagree(w.foretold[i], got) {
			continue
		}
		small := c.shrunk(t, w.only(w.requests[i]))
		if f, got := c.first(t, small); !disagree(f, got) {
			t.Errorf("nothing is left of the disagreement: %s, %s", f, got)
		}
		if report := c.report(t, small); len(small.ingresses()) > 2 || strings.Count(report, "pathType: ") > 2 {
			t.Errorf("two paths should be enough:\n%s", report)
		}
		return
	}
	t.Error("nothing disagrees with a wrong matcher")
}

// TestReportIsWhole holds that the manifests of a report make the same model.
func TestReportIsWhole(t *testing.T) {
	t.Parallel()
	w := makeWorld(usualSeed, 0, 5)
	objects, _, err := decode.FromYAML("report.yaml", []byte(w.manifests(t)))
	if err != nil {
		t.Fatal(err)
	}
	want, got := w.translated(t, w.objects(t)), w.translated(t, objects)
	if !slices.EqualFunc(want.Static.Servers, got.Static.Servers, sameServer) {
		t.Errorf("other servers:\n%v\nwant\n%v", route.Table(got.Static.Servers), route.Table(want.Static.Servers))
	}
}

func sameServer(a, b *model.Server) bool {
	return slices.Equal(tableOf(a), tableOf(b))
}

func tableOf(s *model.Server) []string {
	var rows []string
	for _, row := range route.Table([]*model.Server{s}) {
		rows = append(rows, strings.Join(append([]string{row.Host, row.Match, row.Path, row.Answer}, row.Extras...), "  "))
	}
	return rows
}
