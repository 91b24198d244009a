package render

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/tokens"
)

// locationView is the data of the template of a location. Empty fields print nothing.
type locationView struct {
	Modifier string
	// Path is a string, or limited for a pattern.
	Path     any
	Redirect *model.Redirect
	Return   int
	// Sends is a redirect, nil for none.
	Sends *sendsView
	// Route is "<namespace>/<ingress>/<service>/<port>".
	Route string
	// Backend is the key of the backend, "" if it follows from Route.
	Backend string
	// Watch is the Lua file that runs at the end of a request, "" for that of the server.
	Watch string
	// UpstreamName is "<namespace>-<service>-<port>", for logs. A map would compute it
	// with a pattern in each request.
	UpstreamName string
	// SetsPath is set if the access log or metrics have the path of the rule, RulePath.
	SetsPath bool
	RulePath string
	// MetricLabels name the requests in metrics. CountsHost is set if $host does.
	MetricLabels string
	CountsHost   bool
	// Uncounted is set if the requests are in no metric: the location empties the labels of the server.
	Uncounted bool
	// Decision is told to clients that ask by X-Sluice-Debug, "" for nothing.
	Decision string
	// Unlogged is set if the access log leaves out the requests.
	Unlogged bool
	Computed []computedView
	// Names are the values of variables that snippets read, nil for those of the maps.
	Names *namesView
	// AuthCookie is the variable with the cookies of the authentication server, "" for none.
	AuthCookie string
	// BodyLimit limits bodies where nginx does not.
	BodyLimit insertion
	// Presents is the certificate for the backend, nil for none.
	Presents *presentedView
	// First is the text of the blocks before any answer.
	First, Blocks insertion
	// TellsCookies is the Lua file that tells the request that asks the cookies of the answer, ""
	// for none.
	TellsCookies string
	// Hops is set for subrequests, which count hops in another way.
	Hops hopsView
	// AnswersFirst is set if a block may end nginx's rewrite module.
	AnswersFirst bool
	// WhenEmpty is the status of the location itself without endpoints, 0 for none;
	// NoEndpoints is the Lua file that looks for them.
	WhenEmpty int
	// Instead passes requests to an internal location then, nil for none.
	Instead     *passingView
	NoEndpoints string
	Rewrite     *rewriteView
	// Dispatch passes requests to an internal location, nil for none.
	Dispatch *passingView
	// TLS prints the directives for TLS with backends.
	TLS insertion
	tls *tlsView
	// Exactly one of these is set for a proxy: Auto is an Upstream with variables.
	Upstream, GRPC, FastCGI, Auto string
	// Unavailable is the Lua file that answers if there is no endpoint, or with an error in
	// place of which the location answers; "" where the balancer does.
	Unavailable string
	// Script is the Lua file that answers, "" for none.
	Script string
	// Statistics is set if nginx's counters answer.
	Statistics bool
	// URI is Upstream with another URI for the backend, "" for that of the request.
	URI string
}

// path returns the path of a location, with limits for a pattern.
func (s *serverRendering) path(location *model.Location) any {
	if location.Modifier == model.Pattern {
		path, _ := s.capturing(location)
		return tokens.LimitPattern(path, cmp.Or(location.MatchLimit, s.global.Patterns.MatchLimit))
	}
	return location.Path
}

// answer sets the status or the redirect of a location. A URL without a host gets that of
// the request: nginx would complete it without the port. An nginx without counters has no
// page for them.
func (v *locationView) answer(r model.Return, can Capabilities) {
	switch {
	case r.Statistics && can.StubStatus:
		v.Statistics = true
		return
	case r.Statistics:
		v.Return = 404
		return
	case r.URL == "":
		v.Return = r.Code
		return
	case strings.HasPrefix(r.URL, "/") && !r.Relative:
		r.URL = "$redirect_scheme://$best_http_host" + r.URL
	}
	v.Sends = &sendsView{r, tokens.URL{Text: r.URL, Own: strings.Fields(r.Own)}}
}

// sendsView is a redirect.
type sendsView struct {
	model.Return
	OwnURL tokens.URL
}

// locations prints the locations of the server, and checks each of them.
func (s *serverRendering) locations() error {
	s.start = s.page.Len()
	s.findMixed()
	for _, location := range s.server.Locations {
		if s.everywhere.takes(location) {
			s.takenLocation(location)
			continue
		}
		if err := s.location("location", location); err != nil {
			if err := s.replace(location, err); err != nil {
				return err
			}
		}
	}
	for _, internal := range s.server.Internal {
		s.internal(internal)
	}
	s.end = s.page.Len()
	s.page.from(Origin{Host: s.server.Host})
	return nil
}

// replace prints a location that returns 503 instead of one that cannot be printed, so
// that no other location gets its requests. If not even its match can be printed, and it
// protects, the whole server fails.
func (s *serverRendering) replace(location *model.Location, err error) error {
	unprintable := s.location("location", location.Closed())
	switch {
	case unprintable == nil:
		s.refuseLocation(location, err)
	case location.Rule.Protects:
		return unprintable
	default:
		s.leftOut(location, unprintable)
	}
	return nil
}

// location prints and checks one location. If that fails, it prints nothing.
func (s *serverRendering) location(template string, location *model.Location) error {
	before := s.page.here()
	shared, upstreams, inspected := len(s.out.shared), len(s.out.upstreams), s.out.inspected
	s.readFor(s.around)
	err := s.try(template, location)
	if found := s.around.plus(readingOf(s.page.Bytes(), s.page.rawSince(before.length))); err == nil && !found.equal(s.around) {
		s.page.back(before)
		s.out.shared, s.out.upstreams, s.out.inspected = s.out.shared[:shared], s.out.upstreams[:upstreams], inspected
		s.readFor(found)
		err = s.try(template, location)
	}
	s.more, s.skips = more{}, false
	if err != nil {
		s.page.back(before)
		s.out.shared, s.out.upstreams, s.out.inspected = s.out.shared[:shared], s.out.upstreams[:upstreams], inspected
	}
	return err
}

// readFor sets what the snippets of a location read, before it is printed.
func (s *serverRendering) readFor(reads reading) {
	s.reads, s.more, s.skips = reads, reads.more, reads.has(settings.Loggable)
}

func (s *serverRendering) try(template string, location *model.Location) error {
	location = s.everywhere.close(template, location)
	if err := matchable(template, location); err != nil {
		return err
	}
	start := s.page.Len()
	defer func() { s.speaks = nil }()
	s.page.from(Origin{Object: location.Rule.Object, Host: s.server.Host})
	if err := s.prepare(template, location); err != nil {
		return err
	}
	if err := s.page.execute(s.templates.core[template], &s.locationView); err != nil {
		return err
	}
	text := s.page.Bytes()[start:]
	if err := checkBlock(s.templates.hosts.At(inServer...), text, s.page.rawIn(start, s.page.Len())...); err != nil || template != forSubrequests {
		return err
	}
	return setsNothing(text)
}

// matchable refuses a match that nginx would read as another kind of match, even in
// quotes.
// Source: ngx_http_core_location in nginx's src/http/ngx_http_core_module.c.
func matchable(template string, l *model.Location) error {
	if template != "location" {
		return reachable(template, l)
	}
	switch l.Modifier {
	case model.Equal, model.PrefixFirst, model.Prefix:
		if !strings.HasPrefix(l.Path, "/") {
			return &tokens.Refusal{Want: "a path that begins with /", Got: l.Path}
		}
		return nil
	case model.Pattern:
		if l.Path == "" {
			return &tokens.Refusal{Want: "a regular expression", Got: l.Path}
		}
		return nil
	}
	return &tokens.Refusal{Want: `one of the modifiers "=", "^~", "" and "~*"`, Got: string(l.Modifier)}
}

// prepare sets the data of the template.
func (s *serverRendering) prepare(template string, location *model.Location) error {
	view, blocks := &s.locationView, s.everywhere.ofLocation(template, location)
	*view = locationView{
		Modifier: s.modifier(location), Path: s.path(location), Redirect: location.RedirectToHTTPS,
		SetsPath: s.logsPath && !handedOver(location), RulePath: loggedPath(location.Rule),
		Unlogged: location.Rule.Kind == model.RuleHealth || location.Rule.Kind == model.RuleStatus || s.skipsUnknown && location.Rule.Kind == model.RuleFallback && location.Rule.Object == (model.ObjectRef{}),
	}
	s.count(view, location)
	view.Decision = s.decision(location)
	s.locationBlocks.blocks, s.locationBlocks.beside = blocks, nil
	s.locationBlocks.outside, s.locationBlocks.unlike = s.inheritedBy(location, s.inherited), s.unlike
	if isSubrequest(location) && location.Proxy != nil {
		view.Hops = s.env.hops()
		s.locationBlocks.beside = []inheritable{{directive: "proxy_set_header", header: strings.ToLower(view.Hops.Header)}}
	}
	view.AnswersFirst = slices.ContainsFunc(blocks, func(b model.Block) bool { return b.Ends })
	for _, block := range location.Blocks {
		if asking, ok := block.Data.(model.Asking); ok && asking.TellsCookies() {
			view.TellsCookies = s.env.entry("auth_cookies")
		}
		if inspecting, ok := block.Data.(model.Inspecting); ok {
			if err := s.inspect(inspecting); err != nil {
				return &blockError{block, err}
			}
		}
	}
	view.Computed, view.Watch = s.computed(location), s.watch(location)
	s.setForSnippets(view, location)
	view.BodyLimit = s.bodyLimit(location)
	view.First, view.Blocks, view.TLS = s.locationBlocks.first, s.locationBlocks.insert, s.upstreamTLS
	s.speaks = dialectOf(location)
	if err := s.sharedBlocks(location.Blocks); err != nil {
		return err
	}
	return s.answers(location)
}

// handedOver reports whether requests come from another location of the same rule, which
// has set their variables. That holds for a redirect to a sign-in page and for errors.
func handedOver(l *model.Location) bool {
	return l.Modifier == model.Named && (l.Rule.Kind == model.RuleRedirect || l.Rule.Kind == model.RuleError)
}

// answers prepares the backend, the status or the dispatch for the template.
func (s *serverRendering) answers(location *model.Location) error {
	view := &s.locationView
	switch {
	case len(location.Dispatch) > 0 && (location.Proxy != nil || location.Return != nil),
		len(location.Dispatch) == 0 && (location.Proxy == nil) == (location.Return == nil):
		return &tokens.Refusal{Want: "exactly one of a backend, a status and a dispatch", Got: location.Path}
	case len(location.Dispatch) > 0:
		view.SetsPath = false // the candidates set it
		variable, err := s.dispatch(location)
		view.Dispatch = &passingView{variable, s.env.entry("dispatch")}
		return err
	case location.Return != nil && location.Return.GRPCError:
		view.Script = s.env.entry("grpc_error")
		return nil
	case location.Return != nil && location.Return.OfError:
		view.Script = s.env.entry("error_page_own")
		return nil
	case location.Return != nil:
		view.answer(*location.Return, s.env.Capabilities)
		return nil
	}
	if rewrite := location.Rewrite; rewrite != nil {
		if err := groupsExist(rewrite); err != nil {
			return err
		}
		view.Rewrite = s.rewriteView(location)
	}
	of := location.Proxy.Service
	view.Route, view.UpstreamName = route(location), of.Namespace+"-"+of.Name+"-"+of.Port
	to := upstream{location.Proxy.Transport, location.Proxy.Pool, byRoute, s.shareOf(location.Proxy)}
	switch {
	case isSubrequest(location):
		to.by = byURI
	case location.Rule.Kind == model.RuleError:
		to.by, view.Backend, view.Route = byKey, location.Proxy.Backend, ""
	case location.Proxy.Backend != of.Namespace+"/"+of.Name+"/"+of.Port:
		to.by, view.Backend = byKey, location.Proxy.Backend
	}
	view.WhenEmpty, view.NoEndpoints, view.Instead = location.Proxy.WhenEmpty, s.env.entry("no_endpoints"), s.instead(location)
	view.speak(to, location.Proxy.URI, s.env)
	if file := errorPageFiles[location.Proxy.OfError]; file != "" {
		view.Unavailable = s.env.entry(file)
	}
	s.out.upstreams = append(s.out.upstreams, to)
	return nil
}

// errorPageFiles are the Lua files that prepare a request in place of an error.
var errorPageFiles = map[model.ErrorStatus]string{model.StatusOfBackend: "error_page", model.StatusOfError: "error_page_kept"}

// upstreamTLS prints the directives for TLS with backends.
func (s *serverRendering) upstreamTLS() error {
	if s.locationView.tls == nil {
		return nil
	}
	before := s.page.here()
	if err := s.page.execute(s.templates.core["proxy-ssl"], s.locationView.tls); err != nil {
		return err
	}
	text := s.speaks.translate(bytes.Clone(s.page.Bytes()[before.length:]))
	s.page.back(before)
	_, err := s.page.Write(text)
	return err
}

// route returns the value of $route, for logs, and for the balancer unless there is
// $backend.
func route(l *model.Location) string {
	of := l.Proxy.Service
	return of.Namespace + "/" + cmp.Or(l.Rule.Object.Name, "-") + "/" + of.Name + "/" + of.Port
}

// mostLogged is the most bytes of a path in the access log.
const mostLogged = tokens.TokenLimit - 100

// loggedPath is the path of a rule for the access log, cut if it is too long for a token.
// It is empty for the fallback, and for paths that cannot be served.
func loggedPath(r model.Rule) string {
	if r.Kind == model.RuleFallback || r.Kind == model.RuleClosed {
		return ""
	}
	path := model.OneLine(r.Path, mostLogged)
	if len(strings.ReplaceAll(path, "$", tokens.LiteralDollar))+strings.Count(path, `"`)+strings.Count(path, `\`) > mostLogged {
		return model.OneLine(r.Path, mostLogged/len(tokens.LiteralDollar))
	}
	return path
}

// groupsExist refuses a target with a named group that the pattern lacks: nginx names no
// line for an unknown variable.
func groupsExist(r *model.Rewrite) error {
	for rest := r.Target + r.Prefix; ; {
		_, after, found := strings.Cut(rest, "$")
		if !found {
			return nil
		}
		name, more, _ := tokens.VariableName(after)
		if strings.HasPrefix(name, "p_") && !strings.Contains(r.Pattern, "<"+name+">") {
			return &tokens.Refusal{Want: "a target that uses groups of the path only", Got: r.Target}
		}
		if rest = after; name != "" {
			rest = more
		}
	}
}
