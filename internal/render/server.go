package render

import (
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/tokens"
)

// serverView is the data of the template of a server.
type serverView struct {
	Name string
	// OneLabel is the pattern of the names of a wildcard host, "" for other hosts. If
	// the server name must be a pattern, NamePattern is the host.
	OneLabel, NamePattern string
	// Aliases are strings, or limited patterns.
	Aliases  []any
	Redirect *model.Redirect
	// Counts are the labels of requests without a location in metrics, nil for none.
	Counts *countsView
	// Watch is the Lua file that runs at the end of each request, "" for that of the http level.
	Watch string
	// OtherForms are the headers whose other forms are taken from requests, nil for none.
	OtherForms *otherFormsView
	// Early has variables computed before nginx looks for a location, nil for none.
	Early *earlyView
	// Decision is told to clients that ask about a redirect, "" for nothing.
	Decision string

	Certificate, CertificateKey, ClientHello string

	Listen, Global, TLS, Blocks, Locations insertion
}

// earlyView says which variables. OriginLists is set for those of the lists of origins.
type earlyView struct{ OriginLists bool }

// serverRendering is one server in the making.
type serverRendering struct {
	*rendering
	server *model.Server
	// watched is set if the balancer has to know when requests end.
	watched bool
	out     *rendered
	// start and end are the position of the locations in the page.
	start, end int
	// mixed is set if some paths of the host are patterns, and others come before all.
	mixed          bool
	locationView   locationView
	locationBlocks blockList
	// inherited are the directives that locations inherit, bodies is the limit of bodies. unlike are
	// the directives that locations do not inherit from the server as they should.
	inherited []inheritable
	unlike    []string
	bodies    keys.Size
	// around are the variables that texts for all locations name, and reads those of the location
	// that is printed now. early is not nil if snippets name captures.
	around, reads reading
	early         *earlyView
	// candidates are the names of the locations that dispatches pass requests to.
	candidates map[string]bool
}

// serverText prints a server to a chunk of its own.
func (r *rendering) serverText(s *model.Server) *rendered {
	r.problems = nil
	out, err := r.tryServer(s)
	if err != nil {
		r.refuseServer(s, err)
		if out, err = r.tryServer(closedServer(s)); err != nil {
			out = &rendered{}
		}
	}
	out.problems = r.problems
	return out
}

// unserved returns an error for a server that cannot be in the file: a second catch-all
// one, or one with another listener than those of HTTP and HTTPS. at is its place.
func unserved(s *model.Server, at int) error {
	switch {
	case s.Listener != "":
		return &tokens.Refusal{Want: "a server without a listener of its own", Got: s.Listener}
	case at > 0 && catchall(s):
		return &tokens.Refusal{Want: "one catch-all server"}
	}
	return nil
}

func (r *rendering) tryServer(s *model.Server) (*rendered, error) {
	problems := len(r.problems)
	sr := &serverRendering{rendering: r, server: s, watched: watched(s), out: &rendered{}}
	err := sr.execute()
	if err == nil && readingOf(r.page.Bytes(), r.page.raw).captures {
		r.page.back(position{})
		r.problems = r.problems[:problems]
		early := &earlyView{slices.ContainsFunc(sr.out.shared, func(t sharedText) bool { return strings.Contains(t.text, "$cors_any_label {") })}
		sr = &serverRendering{rendering: r, server: s, watched: watched(s), out: &rendered{}, early: early}
		err = sr.execute()
	}
	if err != nil {
		r.page.back(position{})
		r.problems = r.problems[:problems]
		return nil, err
	}
	sr.out.chunk = r.page.cut()
	sr.out.chunk.server = true
	return sr.out, nil
}

func (s *serverRendering) execute() error {
	s.page.from(Origin{Host: s.server.Host})
	if s.server.TLS != nil && catchall(s.server) {
		return &tokens.Refusal{Want: "no TLS of its own for the catch-all server"}
	}
	if err := s.sharedBlocks(s.server.Blocks); err != nil {
		return err
	}
	own := &blockList{rendering: s.rendering, context: "server", blocks: s.everywhere.ofServer(s.server.Blocks), outside: s.outside}
	s.locationBlocks = blockList{rendering: s.rendering, context: "location"}
	s.inherited, s.around = s.outside, s.read
	view := &serverView{
		Name: s.server.Host, Aliases: s.aliases(), Redirect: s.server.RedirectToHTTPS,
		Watch: s.watchAll(), Counts: s.countsServer(), Decision: s.decisionOfRedirect(),
		OtherForms: s.otherForms(), Early: s.early,
		Listen: s.guarded(s.page.chunkInsertion(s.listenOf(s.server))), Locations: s.locations, TLS: s.tls,
		Blocks: func() error {
			start := s.page.Len()
			before := s.page.here()
			err := s.guarded(own.insert)()
			found := readingOf(s.page.Bytes(), s.page.rawSince(start))
			if err == nil && len(found.headers) > 0 {
				s.page.back(before)
				s.more = found.more
				err = s.guarded(own.insert)()
				s.more = more{}
			}
			s.around = s.read.plus(reading{names: found.names, more: more{headers: found.headers}})
			s.bodies = limitOf(s.page.Bytes()[start:], s.outsideBodies)
			ours := s.withoutSnippetHeaders(own.own)
			s.inherited = inForce(s.outside, ours)
			s.speakOwn(ours)
			return err
		},
	}
	switch {
	case s.server.AliasesOnly:
		view.Name = ""
	case s.server.Miss() != nil:
		view.OneLabel = oneLabel(s.server)
	case wildcard(s.server) && !s.server.AnyLabels:
		view.NamePattern = s.server.Host
	}
	name := "server"
	if catchall(s.server) {
		name = "catchall"
		s.asCatchall(view)
	}
	if err := s.page.execute(s.templates.core[name], view); err != nil {
		return err
	}
	return s.check()
}

func (s *serverRendering) aliases() []any {
	var all []any
	for _, alias := range s.server.Aliases {
		if pattern, ok := strings.CutPrefix(alias, "~"); ok {
			all = append(all, tokens.LimitPattern(pattern, pcre.NameSteps))
		} else {
			all = append(all, alias)
		}
	}
	return all
}

func (s *serverRendering) asCatchall(view *serverView) {
	view.Listen = s.guarded(s.page.chunkInsertion(s.listenDefault))
	view.Global = s.guarded(s.page.chunkInsertion(s.catchall))
	view.Certificate, view.CertificateKey = s.env.within("placeholder.crt"), s.env.within("placeholder.key")
	view.ClientHello = s.env.entry("client_hello")
	if s.global.TLS.SharedTickets {
		view.ClientHello = s.env.entry("client_hello_tickets")
	}
}

// check checks the text around the locations, which are already checked.
func (s *serverRendering) check() error {
	text := s.page.Bytes()
	grammar := s.templates.hosts
	if catchall(s.server) {
		grammar = s.templates.grammar
	}
	around := newStructure(grammar.At(inHTTP...))
	if err := around.feed(text[:s.start], s.page.rawIn(0, s.start)...); err != nil {
		return err
	}
	if err := around.feed(text[s.end:], s.page.rawIn(s.end, len(text))...); err != nil {
		return err
	}
	if err := around.done(); err != nil {
		return err
	}
	return around.single()
}

func wildcard(s *model.Server) bool { return strings.HasPrefix(s.Host, "*.") && !s.AliasesOnly }

func catchall(s *model.Server) bool { return s.Host == "" && !s.AliasesOnly && s.Listener == "" }

// oneLabel is the pattern for the names of a wildcard host in Kubernetes. A wildcard of
// nginx would take any number of labels.
// Source: https://kubernetes.io/docs/concepts/services-networking/ingress/#hostname-wildcards
func oneLabel(s *model.Server) string {
	if !wildcard(s) {
		return ""
	}
	return tokens.LabelPattern(s.Host)
}

// closedServer returns 503 for everything. It replaces a server that cannot be printed, so
// that no other server takes its host.
func closedServer(s *model.Server) *model.Server {
	unavailable := &model.Return{Code: 503}
	closed := &model.Server{Host: s.Host, AnyLabels: s.AnyLabels, Aliases: s.Aliases, AliasesOnly: s.AliasesOnly, Locations: []*model.Location{{Modifier: model.PrefixFirst, Path: "/", Return: unavailable}}}
	if len(s.Locations) > 0 {
		closed.Locations[0].Rule = s.Locations[0].Rule
	}
	for _, internal := range s.Internal {
		if wildcard(s) && internal.Location == s.Miss() {
			closed.Internal = []*model.Internal{internal}
		}
	}
	return closed
}
