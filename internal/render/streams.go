package render

import (
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/tokens"
)

// streamView is a TCP or UDP service.
type streamView struct {
	Name       string
	Listen     []streamListen
	Trusted    []string
	SendsProxy bool
	Endpoints  []string
}

// streamListen is one listen directive of the stream level.
type streamListen struct {
	Address                          string
	UDP, Proxy, KeepAlive, ReusePort bool
}

// passthroughView is the two servers for connections that are passed through.
type passthroughView struct {
	Names         insertion
	HTTPS, Passed string
	Listen        []streamListen
	Trusted       []string
	HeaderTimeout string
	RealIP        bool
	Backlog       int
}

// passedView is one host that is passed through. nginx looks for precise names before
// patterns.
type passedView struct {
	Upstream        string
	Precise, Except []string
	// Wildcard is the pattern of the names of a wildcard host.
	Wildcard  string
	Endpoints []string

	origin Origin
}

// printableStreams are the streams and passed hosts that this nginx can serve. The owners
// of the others get a Problem.
func (r *rendering) printableStreams(s model.Static) model.Static {
	can := r.env.Capabilities
	printable := model.Static{Streams: s.Streams, Passthroughs: s.Passthroughs, PassesThrough: s.PassesThrough}
	if !can.Stream {
		printable.Streams = nil
		for _, stream := range s.Streams {
			r.problems = append(r.problems, model.Problem{Object: stream.Source, Field: stream.Field, Reason: model.Unsupported,
				Text: "this nginx lacks the stream module: install libnginx-mod-stream; nothing listens on this port"})
		}
	}
	if !can.Stream || !can.SSLPreread {
		printable.Passthroughs, printable.PassesThrough = nil, false
		for _, p := range s.Passthroughs {
			r.problems = append(r.problems, model.Problem{Object: p.Source, Field: p.Field, Reason: model.Unsupported,
				Text: "this nginx lacks the stream module with ssl_preread: install libnginx-mod-stream; the TLS of its hosts ends here"})
		}
	}
	return printable
}

// streams prints the stream level, if there is a stream.
func (r *rendering) streams(s model.Static) {
	if len(s.Streams) == 0 && !s.PassesThrough {
		return
	}
	var body []*chunk
	for i := range s.Streams {
		if s.Streams[i].Snippet == "" {
			body = append(body, r.stream(&s.Streams[i]))
		}
	}
	level := struct {
		Hash   *hashView
		Blocks insertion
	}{Blocks: r.settings("stream")}
	if s.PassesThrough {
		passed := r.passthroughs(s.Passthroughs)
		sizes := hashSizes(r.global.Hash, nil, passed.text)
		level.Hash, body = &sizes, append(body, passed)
	}
	// nginx blames the second of two that exclude each other.
	for i := range s.Streams {
		if s.Streams[i].Snippet != "" {
			body = append(body, r.streamSnippet(&s.Streams[i]))
		}
	}
	r.must("stream", level, inStream...)
	r.streamBody = append([]*chunk{r.page.cut()}, body...)
}

// stream prints a TCP or UDP service.
func (r *rendering) stream(s *model.Stream) *chunk {
	view := streamView{Name: s.Key(), SendsProxy: s.SendsProxy, Endpoints: addressesOf(s.Endpoints)}
	for _, address := range r.addresses() {
		view.Listen = append(view.Listen, streamListen{
			Address: address + strconv.Itoa(s.Port), UDP: s.Protocol == model.UDP, Proxy: s.AcceptsProxy, ReusePort: r.global.Listen.ReusePort,
		})
	}
	if s.AcceptsProxy {
		view.Trusted = r.announcers()
	}
	r.page.from(Origin{Object: s.Source, Stream: s.Key()})
	if err := r.checked("stream-server", view, inStream...); err != nil {
		r.refuse(model.Problem{Object: s.Source, Field: s.Field, Text: reason(err) + "; nothing listens on this port"})
	}
	return r.page.cut()
}

// streamSnippet prints a stream snippet.
func (r *rendering) streamSnippet(s *model.Stream) *chunk {
	r.page.from(Origin{Object: s.Source, Stream: s.Key()})
	err := r.checked("stream-snippet", s, inStream...)
	if err == nil {
		err = r.checkRaw(0)
	}
	if err != nil {
		r.page.back(position{})
		r.refuse(model.Problem{Object: s.Source, Field: s.Field, Text: reason(err) + "; it is left out"})
	}
	return r.page.cut()
}

// announcers are the peers whose PROXY headers count at the stream level.
func (r *rendering) announcers() []string {
	if !r.env.Capabilities.StreamRealIP {
		return nil
	}
	return r.global.Forwarded.Trusted
}

// passthroughs prints the hosts that are passed through, without those that cannot be
// printed, and their servers.
func (r *rendering) passthroughs(passed []model.Passthrough) *chunk {
	var views []passedView
	for i := range passed {
		if view, ok := r.passed(&passed[i]); ok {
			views = append(views, view)
		}
	}
	view := passthroughView{
		Names: func() error { return r.passedNames(views) }, HTTPS: r.env.socket("https"), Passed: r.env.socket("passed"),
		HeaderTimeout: string(r.global.Stream.HeaderTimeout), RealIP: r.env.Capabilities.StreamRealIP, Backlog: socketBacklog,
	}
	for _, address := range r.addresses() {
		view.Listen = append(view.Listen, streamListen{
			Address: address + strconv.Itoa(r.env.HTTPSPort), Proxy: r.global.Forwarded.ProxyProtocol, KeepAlive: true, ReusePort: r.global.Listen.ReusePort,
		})
	}
	if r.global.Forwarded.ProxyProtocol {
		view.Trusted = r.announcers()
	}
	r.page.from(Origin{})
	r.must("passthrough", &view, inStream...)
	return r.page.cut()
}

// passed prints the upstream of a host that is passed through.
func (r *rendering) passed(p *model.Passthrough) (passedView, bool) {
	view := passedView{
		Upstream: passedUpstream(p.Host), Precise: p.Aliases, Except: p.Except, Endpoints: addressesOf(p.Endpoints),
		origin: Origin{Object: p.Source, Behaviour: "ssl-passthrough", Host: p.Host},
	}
	if strings.HasPrefix(p.Host, "*") {
		view.Wildcard = "~*" + tokens.LabelPattern(p.Host)
	} else {
		view.Precise = append([]string{p.Host}, p.Aliases...)
	}
	r.page.from(view.origin)
	_, err := tokens.PrintHost(p.Host)
	if err == nil {
		err = r.checked("passed-upstream", view, inStream...)
	}
	if err != nil {
		r.refuse(model.Problem{Object: p.Source, Field: p.Field, Text: reason(err) + "; the TLS of its hosts ends here"})
	}
	return view, err == nil
}

// passedUpstream names the upstream of a host. No host has an underscore.
func passedUpstream(host string) string { return "passed-" + strings.ReplaceAll(host, "*", "_") }

// passedNames prints the names of the hosts that are passed through.
func (r *rendering) passedNames(views []passedView) error {
	for _, view := range views {
		r.page.from(view.origin)
		start := r.page.Len()
		if err := r.page.execute(r.templates.core["passed-name"], view); err != nil {
			return err
		}
		r.page.indent(start, "\t")
	}
	r.page.from(Origin{})
	return nil
}

// addressesOf returns endpoints as "address:port", with brackets for IPv6.
func addressesOf(endpoints []model.Endpoint) []string {
	var all []string
	for _, e := range endpoints {
		address := e.Address
		if strings.Contains(address, ":") {
			address = "[" + address + "]"
		}
		all = append(all, address+":"+strconv.Itoa(e.Port))
	}
	return all
}
