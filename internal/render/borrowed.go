package render

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/syntax"
	"sluice/internal/tokens"
)

// reading is the set of variables that texts name and that are defined for them only, so that
// other configurations are as small and quick as without.
type reading struct {
	// names are variables of tokens.Borrowed, sorted.
	names []string
	// captures is set for $1 to $9.
	captures bool
	more
}

// capture matches a numbered capture.
var capture = regexp.MustCompile(`\$(?:[1-9]|\{[1-9]\})`)

// read returns the reading of a text.
func read(text []byte) (r reading) {
	return reading{captures: capture.Match(text), more: moreIn(text)}.with(syntax.Variables(text)...)
}

// readingOf returns the reading of the snippets in a text.
func readingOf(text []byte, snippets []extent) (r reading) {
	for _, e := range snippets {
		r = r.plus(read(text[e.start:e.end]))
	}
	return r
}

// with returns a reading with further variables, if they are among those that count.
func (r reading) with(names ...string) reading {
	all := slices.Clip(r.names)
	for _, name := range names {
		if _, borrowed := tokens.Borrowed[name]; borrowed {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	r.names = slices.Compact(all)
	return r
}

func (r reading) plus(o reading) reading {
	if len(o.names) > 0 {
		r = r.with(o.names...)
	}
	r.more = r.more.plus(o.more)
	r.captures = r.captures || o.captures
	return r
}

func (r reading) has(name string) bool { return slices.Contains(r.names, name) }

func (r reading) equal(o reading) bool {
	return r.captures == o.captures && slices.Equal(r.names, o.names) && r.more.equal(o.more)
}

// readBySettings is the reading of what holds for the requests of all hosts: the format of the
// access log, and the snippets at the http level and in all servers. For the path in the format,
// there is logsPath.
func (r *rendering) readBySettings() reading {
	all := reading{}.with(slices.DeleteFunc(r.global.LogFormat.Variables(), func(name string) bool { return name == tokens.LocationPath })...)
	if http, ok := findBlock(r.global.blocks, httpSnippet).Data.(settings.HTTPSnippet); ok {
		all = all.plus(read([]byte(http.Text)))
	}
	if every, ok := findBlock(r.global.blocks, settings.ServersBlock).Data.(settings.ServersSnippet); ok {
		all = all.plus(read([]byte(every.Text)))
	}
	all.captures, all.always = false, nil // locations come behind, with other patterns
	return all
}

// borrowedView is a variable with its value where no location sets it.
type borrowedView struct{ Name, Value string }

// borrowed defines the variables that some text names, before what may define them otherwise. It
// prints the http level again if a snippet decides by $loggable what the access log has.
func (r *rendering) borrowed(http *chunk, servers []*rendered) (definitions, level *chunk) {
	all := r.read.plus(http.read)
	for _, s := range servers {
		if s.chunk != nil {
			all = all.plus(s.chunk.read)
		}
	}
	skips := len(r.global.Log.SkipURLs) > 0
	if all.has(settings.Loggable) && !skips {
		http = r.withLoggable()
	}
	var views []borrowedView
	for _, name := range slices.Sorted(maps.Keys(tokens.Borrowed)) {
		if all.has(name) && !(name == settings.Loggable && skips || name == tokens.LocationPath && r.logsPath) {
			views = append(views, borrowedView{name, tokens.Borrowed[name]})
		}
	}
	if len(views) > 0 {
		r.must("borrowed", views, inHTTP...)
	}
	return r.page.cut(), http
}

// withLoggable prints the http level again, with an access log that leaves out requests by
// $loggable. Its Problems are told already.
func (r *rendering) withLoggable() *chunk {
	r.global.Log.ByVariable = true
	r.global.blocks = slices.Clone(r.global.blocks)
	findBlock(r.global.blocks, "log").Data = r.global.Log
	told := r.problems
	r.spoken = nil
	http := r.http()
	r.problems = told
	return http
}

// setForSnippets sets the data of a location by what its snippets read.
func (s *serverRendering) setForSnippets(view *locationView, l *model.Location) {
	if s.reads.has(tokens.LocationPath) {
		view.SetsPath = !handedOver(l)
	}
	if s.reads.has(authCookie) && findBlock(l.Blocks, "external-auth") != nil {
		view.AuthCookie = authCookie
	}
	traced := computes(l, "opentelemetry")
	for _, name := range s.reads.names {
		part, ofTrace := strings.CutPrefix(name, "opentelemetry_")
		switch {
		case ofTrace && traced:
			view.Computed = append(view.Computed, computedView{Variable: name, File: s.env.entry("trace_part"), Arguments: []any{model.Word(part)}})
		case name == model.EscapedURI && !computes(l, name):
			view.Computed = append(view.Computed, computedView{Variable: name, File: s.env.entry("escaped_uri")})
		}
	}
	if of := l.Proxy; of != nil && (s.reads.captures || s.early != nil && asks(l)) {
		view.Names = &namesView{of.Service.Namespace, l.Rule.Object.Name, of.Service.Name, of.Service.Port}
	}
}

// authCookie has the cookies of the authentication server.
const authCookie = "auth_cookie"

// namesView are the values of the variables that a map else computes from $route with a pattern. Not
// only snippets name them: upstream-vhost and headers of the settings do too.
type namesView struct{ Namespace, Ingress, Service, Port string }

// asks reports whether a location has subrequests, which have its variables and cannot set any.
// Their snippets may name captures.
func asks(l *model.Location) bool {
	return slices.ContainsFunc(l.Blocks, func(b model.Block) bool {
		_, asks := b.Data.(interface{ Subrequest() string })
		return asks
	})
}

func computes(l *model.Location, variable string) bool {
	return slices.ContainsFunc(l.Computed, func(c model.Computed) bool { return c.Variable == variable })
}
