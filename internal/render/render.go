package render

import (
	"sluice/internal/giveway"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/tokens"
)

// rendering is one Render while it runs.
type rendering struct {
	templates *Templates
	env       *Environment
	global    *global
	page      *page
	problems  []model.Problem

	// listen are the listen directives and the settings of all servers but the catch-all one,
	// which has listenDefault, and the settings in catchall besides.
	listen, listenDefault, catchall *chunk
	// listenPassed is listen without QUIC, for the hosts whose TLS is passed through.
	listenPassed *chunk
	passedHosts  []string
	// logsPath is set if the access log has the path of the rule, skipsUnknown if it
	// leaves out requests that no Ingress takes.
	logsPath, skipsUnknown bool
	// fronted is set if HTTPS connections come from the stream level, because some are
	// passed through.
	fronted bool
	// outside are the inheritable directives of the http level. joinedHeaders is the number of
	// those with another text if the headers are joined. outsideBodies is the limit of bodies.
	outside []inheritable
	// believed are the directives of withholding, nil before the first question.
	believed      []inheritable
	outsideBodies keys.Size
	joinedHeaders int
	// underscores is set if nginx takes headers with "_" in their names from clients of some host.
	underscores bool
	// replaced are the headers for backends that the http-snippet sets instead, in lower case.
	replaced map[string]bool
	// spoken are the directives of the http level for other protocols than HTTP, by
	// protocol. speaks translates the location that is printed now, nil for HTTP.
	spoken []spokenText
	speaks *dialect
	file   *File
	body   []*chunk
	// streamBody is the stream level, empty for none.
	streamBody []*chunk
	everywhere everywhere
	// read are the variables that texts for all hosts name. ownPlaces are those of GeoIP that the
	// http-snippet defines.
	read      reading
	ownPlaces places
	// more are the headers that snippets set where text is printed now, and skips is set if they
	// name $loggable.
	more  more
	skips bool
	// inspected is the use of ModSecurity by all servers.
	inspected inspected
	view      *mainView
}

// Render prints nginx.conf. Equal input gives equal bytes with any cache (nil for none).
// A location that cannot be printed safely is left out or returns 503, and its owner gets
// a Problem. The file is always complete.
func (t *Templates) Render(s model.Static, e Environment, c *Cache) (*File, []model.Problem) {
	if file, problems := c.again(t, s, e); file != nil {
		return file, problems
	}
	r, streams := t.begin(s, e)
	http := r.http()
	servers := r.servers(r.withCatchall(s.Servers), c)
	shared := r.shared(servers)
	all := upstreams(servers, upstream{share: r.shareOf(&model.Proxy{})})
	r.view.Hash = hashSizes(r.global.Hash, s.Servers, http.text, shared.text)
	definitions, http := r.borrowed(http, servers)
	r.body = append(r.body, definitions, http)
	r.body = append(r.body, r.inUse(all)...)
	r.body = append(r.body, shared, r.coreRules(servers), r.upstreams(all), r.fixed())
	for _, server := range servers {
		if server.chunk != nil {
			r.body = append(r.body, server.chunk)
		}
		r.problems = append(r.problems, server.problems...)
	}
	r.streams(streams)
	r.whole()
	r.file.trust = e.trustFiles(all, servers, s.DHParams)
	c.keep(r, s, e)
	return r.file, r.problems
}

// begin prepares a Render up to the http level.
func (t *Templates) begin(s model.Static, e Environment) (r *rendering, streams model.Static) {
	r = &rendering{templates: t, env: &e, global: newGlobal(s.Blocks), page: &page{}, file: newFile(len(s.Servers)), view: e.view()}
	r.view.HTTP2 = r.global.HTTP2.Enabled && e.Capabilities.HTTP2Directive
	r.withoutModules()
	if http, ok := findBlock(r.global.blocks, httpSnippet).Data.(settings.HTTPSnippet); ok {
		r.ownPlaces = placesOf([]byte(http.Text))
	}
	r.checkSnippets()
	r.read = r.readBySettings()
	streams = r.printableStreams(s)
	r.underscores = r.takesUnderscores(s.Servers)
	r.fronted, r.passedHosts = streams.PassesThrough, passedHosts(streams.Passthroughs)
	r.view.Forwarded, r.view.Withheld = r.forwarded(), r.withheld()
	r.view.DebugHeader = r.debugHeader(s.DebugToken)
	r.view.Hops = e.hops()
	r.logsPath = r.global.LogFormat.Names(tokens.LocationPath) && r.global.Log.AccessLog() != ""
	r.skipsUnknown = r.global.Log.SkipsUnknown()
	r.view.EarlyData = r.global.TLS.EarlyData
	if s.DHParams != "" {
		r.view.DHParams = e.trustPath(s.DHParams)
	}
	r.replaced = r.ofHTTPSnippet()
	r.view.Joined = r.joined()
	r.view.Memory = e.memory(r.global.Memory)
	r.sizeWorkers()
	r.sizePools()
	if n := int(r.global.Workers.Processes); n > 0 {
		r.view.Workers = n
	}
	return r, streams
}

// Bootstrap prints the file that nginx starts with. It only accepts pushes, so that
// endpoints and certificates arrive before the first request.
func (t *Templates) Bootstrap(e Environment) (*File, error) {
	p := &page{}
	if err := p.execute(t.core["bootstrap"], e.view()); err != nil {
		return nil, err
	}
	if err := checkText(t.grammar, p.Bytes()); err != nil {
		return nil, err
	}
	f := &File{}
	f.add(p.cut())
	return f, nil
}

// withCatchall adds a server for unknown hosts if there is none, so that no other host
// gets their requests.
func (r *rendering) withCatchall(servers []*model.Server) []*model.Server {
	if len(servers) > 0 && catchall(servers[0]) {
		return servers
	}
	unknown := &model.Server{}
	if r.everywhere.locations != nil { // so that nginx tests it in a file without hosts
		unknown.Locations = []*model.Location{{Path: "/", Rule: model.Rule{Path: "/", Kind: model.RuleFallback}, Return: &model.Return{Code: 404}}}
	}
	return append([]*model.Server{unknown}, servers...)
}

// must executes a template of the file itself. It fails only if the Environment cannot be
// printed, as with a line end in the state directory.
func (r *rendering) must(name string, data any, blocks ...string) {
	if err := r.checked(name, data, blocks...); err != nil {
		r.refuseTemplate(name, err)
	}
}

// checked executes a template and checks its text for a place in these blocks. If that
// fails, it prints nothing.
func (r *rendering) checked(name string, data any, blocks ...string) error {
	return r.attempt(r.templates.grammar.At(blocks...), func() error { return r.page.execute(r.templates.core[name], data) })
}

// attempt prints and checks text for a place. If that fails, it prints nothing.
func (r *rendering) attempt(place *tokens.Node, print func() error) error {
	before, start := r.page.here(), r.page.Len()
	err := print()
	if err == nil {
		err = checkText(place, r.page.Bytes()[start:], r.page.rawIn(start, r.page.Len())...)
	}
	if err != nil {
		r.page.back(before)
	}
	return err
}

// http prints the http level without the servers.
func (r *rendering) http() *chunk {
	r.view.Blocks, r.view.Headers = r.settings("http"), func() error { return r.ownHeaders(headersTemplate(r.view.Joined)) }
	if http, ok := findBlock(r.global.blocks, httpSnippet).Data.(settings.HTTPSnippet); ok {
		r.more = moreIn([]byte(http.Text))
	}
	r.must("http", r.view, inHTTP...)
	r.more = more{}
	r.geoIP()
	r.refuseQUIC()
	c := r.page.cut()
	r.outsideBodies = limitOf(c.text, "1m")                                                           // nginx's own default
	_ = r.attempt(r.templates.grammar.At(inHTTP...), func() error { return r.ownHeaders("headers") }) // errors are those of the http level
	spelled := unjoined(c.text, r.page.cut().text)
	r.outside, r.joinedHeaders = withJoined(inheritables(spelled), inheritables(c.text))
	r.speakAll(spelled)
	r.listen = r.everyServer(append(r.listens(), r.quicListens()...))
	r.listenPassed = r.everyServer(r.listens())
	r.listenDefault = r.everyServer(r.defaultListens())
	_ = r.settings("catchall")()
	r.catchall = r.page.cut()
	return c
}

// everyServer prints the beginning of a server.
func (r *rendering) everyServer(listens []listenView) *chunk {
	r.must("listen", listens, inServer...)
	_ = r.settings("every-server")()
	return r.page.cut()
}

// servers prints the servers that are not in the cache.
func (r *rendering) servers(servers []*model.Server, c *Cache) []*rendered {
	key := r.cacheKey()
	known := c.open(r.templates, key)
	all := make([]*rendered, 0, len(servers))
	kept, used := r.problems, 0
	for i, s := range servers {
		if err := unserved(s, i); err != nil {
			r.problems = nil
			r.refuseServer(s, err)
			all = append(all, &rendered{problems: r.problems})
			continue
		}
		out := known[s]
		if out == nil {
			out = r.serverText(s)
			known[s] = out
			giveway.Now()
		}
		all = append(all, out)
		used++
	}
	r.problems = kept
	c.drop(servers, used)
	r.file.printed = printed{r.templates, key, servers, all}
	return all
}

// upstreams prints the upstream blocks.
func (r *rendering) upstreams(all []upstream) *chunk {
	for _, u := range all {
		for _, name := range u.names() {
			r.must("upstream", &upstreamView{Name: name, Balancer: r.env.entry(u.entry()), Pool: u.pool, Blocks: r.settings("upstream")}, inHTTP...)
		}
	}
	return r.page.cut()
}

// fixed prints the servers on unix sockets.
func (r *rendering) fixed() *chunk {
	r.must("control", r.view, inHTTP...)
	r.must("empty", r.view, inHTTP...)
	return r.page.cut()
}

// whole assembles the file. Its body is already checked.
func (r *rendering) whole() {
	r.view.Main, r.view.Events = r.settings("main"), r.settings("events")
	around := newStructure(r.templates.grammar)
	r.view.HTTP = r.insertBody(around, r.body)
	if len(r.streamBody) > 0 {
		r.view.Stream = r.insertBody(around, r.streamBody)
	}
	r.view.Modules = r.modules()
	err := r.page.execute(r.templates.core["nginx"], r.view)
	tail := r.page.cut()
	r.file.add(tail)
	if err == nil {
		err = around.feed(tail.text, tail.raw...)
	}
	if err == nil {
		err = around.done()
	}
	if err != nil {
		r.refuseTemplate("nginx", err)
	}
}

// insertBody adds checked chunks to the file, and checks the text before them.
func (r *rendering) insertBody(around *structure, chunks []*chunk) insertion {
	return func() error {
		head := r.page.cut()
		r.file.add(head)
		for _, c := range chunks {
			r.file.add(c)
		}
		return around.feed(head.text, head.raw...)
	}
}
