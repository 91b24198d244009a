package render

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// locationView is what the template of a location is given. Names are "" and
// numbers 0 where nothing is to be said.
type locationView struct {
	Modifier string
	// Path is a string, or limited for a pattern.
	Path     any
	Redirect *model.Redirect
	Return   int
	// Sends is where clients are redirected to, nil for nowhere.
	Sends *model.Return
	// Route is "<namespace>/<ingress>/<service>/<port>".
	Route string
	// Backend is the key of the backend where Route does not say it.
	Backend string
	// UpstreamName is "<namespace>-<service>-<port>", for logs. It stands in each
	// location because to work it out would cost every request a pattern.
	UpstreamName string
	// SetsPath is set if the access log has the path of the rule, RulePath.
	SetsPath bool
	RulePath string
	// Unlogged is set if the access log leaves out what no Ingress takes.
	Unlogged bool
	// EscapeURI is the Lua that works out $escaped_request_uri, "" where nothing names it.
	EscapeURI string
	// First is what blocks set before anything is answered.
	First, Blocks insertion
	// Hops is set for subrequests, which count their hops in another way.
	Hops hopsView
	// AnswersFirst is set if a block may end what nginx's rewrite module does.
	AnswersFirst bool
	Rewrite      *rewriteView
	// Dispatch is the variable that names the internal location which answers.
	Dispatch string
	TLS      *tlsView
	Upstream string
	// URI is Upstream with what the backend is asked for, empty for what the request
	// has.
	URI string
}

// path gives what a location matches.
func (l locations) path(location *model.Location) any {
	if location.Modifier == model.Pattern {
		return limitPattern(location.Path, cmp.Or(location.MatchLimit, l.global.Patterns.MatchLimit))
	}
	return location.Path
}

// rewriteView is a rewrite. Pattern has its limits. Composed is set if the target is put together from
// parts of the request, Captures if the prefix is, and Whole if nothing is to be
// done after the rewrite.
type rewriteView struct {
	model.Rewrite
	Pattern                   limited
	Composed, Captures, Whole bool
}

func newRewriteView(r *model.Rewrite, matchLimit int) *rewriteView {
	composed := strings.Contains(r.Target, "$")
	captures := strings.Contains(r.Prefix, "$")
	return &rewriteView{Rewrite: *r, Pattern: limitPattern(r.Pattern, matchLimit), Composed: composed, Captures: captures, Whole: !composed && r.Prefix == ""}
}

// answer says what a location returns. A URL without a host is of the one that
// was asked: nginx would make it whole without the port.
func (v *locationView) answer(r model.Return) {
	switch {
	case r.URL == "":
		v.Return = r.Code
		return
	case strings.HasPrefix(r.URL, "/"):
		r.URL = "$redirect_scheme://$best_http_host" + r.URL
	}
	v.Sends = &r
}

// locations prints the locations of a server, each checked by itself.
type locations struct {
	*serverRendering
}

func (l locations) insert() error {
	l.start = l.page.Len()
	for _, location := range l.server.Locations {
		if err := l.location("location", location); err != nil {
			if err := l.replace(location, err); err != nil {
				return err
			}
		}
	}
	for _, internal := range l.server.Internal {
		l.internal(internal)
	}
	l.end = l.page.Len()
	l.page.from(Origin{Host: l.server.Host})
	return nil
}

// replace prints a location that answers 503 instead of one that cannot be
// printed; a location that is left out could open its path to others. If its match
// cannot be printed either, and it protects, the server fails as a whole.
func (l locations) replace(location *model.Location, err error) error {
	closed := &model.Location{Modifier: location.Modifier, Path: location.Path, Rule: location.Rule, Return: &model.Return{Code: 503}}
	unprintable := l.location("location", closed)
	switch {
	case unprintable == nil:
		l.refuseLocation(location, err)
	case location.Rule.Protects:
		return unprintable
	default:
		l.leftOut(location, unprintable)
	}
	return nil
}

// location prints and checks one location; if it fails, nothing is printed.
func (l locations) location(template string, location *model.Location) error {
	before := l.page.here()
	shared, upstreams := len(l.out.shared), len(l.out.upstreams)
	err := l.try(template, location)
	if err != nil {
		l.page.back(before)
		l.out.shared, l.out.upstreams = l.out.shared[:shared], l.out.upstreams[:upstreams]
	}
	return err
}

func (l locations) try(template string, location *model.Location) error {
	if err := matchable(template, location); err != nil {
		return err
	}
	start := l.page.Len()
	l.page.from(Origin{Object: location.Rule.Object, Host: l.server.Host})
	if err := l.view(location); err != nil {
		return err
	}
	if err := l.page.execute(l.templates.core[template], &l.locationView); err != nil {
		return err
	}
	text := l.page.Bytes()[start:]
	if err := checkBlock(l.templates.hosts.at(inServer...), text, l.page.rawIn(start, l.page.Len())...); err != nil || template != forSubrequests {
		return err
	}
	return setsNothing(text)
}

// matchable refuses a match that nginx would read as another kind of match,
// quoted or not.
// Source: ngx_http_core_location in nginx's src/http/ngx_http_core_module.c.
func matchable(template string, l *model.Location) error {
	if template != "location" {
		return reachable(template, l)
	}
	switch l.Modifier {
	case model.Equal, model.PrefixFirst, model.Prefix:
		if !strings.HasPrefix(l.Path, "/") {
			return &Refusal{Want: "a path that begins with /", Got: l.Path}
		}
		return nil
	case model.Pattern:
		if l.Path == "" {
			return &Refusal{Want: "a regular expression", Got: l.Path}
		}
		return nil
	}
	return &Refusal{Want: `one of the modifiers "=", "^~", "" and "~*"`, Got: string(l.Modifier)}
}

// view prepares what the template is given.
func (l locations) view(location *model.Location) error {
	view := &l.serverRendering.locationView
	*view = locationView{
		Modifier: string(location.Modifier), Path: l.path(location), Redirect: location.RedirectToHTTPS,
		SetsPath: l.logsPath && !handedOver(location), RulePath: loggedPath(location.Rule),
		Unlogged: location.Rule.Kind == model.RuleHealth || l.skipsUnknown && location.Rule.Kind == model.RuleFallback && location.Rule.Object == (model.ObjectRef{}),
	}
	l.locationBlocks.blocks, l.locationBlocks.beside = location.Blocks, nil
	if isSubrequest(location) && location.Proxy != nil {
		view.Hops = l.env.hops()
		l.locationBlocks.beside = []said{{directive: "proxy_set_header", header: strings.ToLower(view.Hops.Header)}}
	}
	view.AnswersFirst = slices.ContainsFunc(location.Blocks, func(b model.Block) bool { return b.Ends })
	if slices.ContainsFunc(location.Blocks, func(b model.Block) bool { return b.Name == model.EscapedURI }) {
		view.EscapeURI = l.env.entry("escaped_uri")
	}
	view.First, view.Blocks = firstBlocks{&l.locationBlocks}, &l.locationBlocks
	if err := l.sharedBlocks(location.Blocks); err != nil {
		return err
	}
	return l.answers(location)
}

// handedOver reports whether requests come to a location from another one of the same
// rule, which has set their variables: to one that redirects to a page of signing in.
func handedOver(l *model.Location) bool {
	return l.Modifier == model.Named && l.Rule.Kind == model.RuleRedirect
}

// answers prepares what the template is given of the backend or the status.
func (l locations) answers(location *model.Location) error {
	view := &l.serverRendering.locationView
	switch {
	case len(location.Dispatch) > 0 && (location.Proxy != nil || location.Return != nil),
		len(location.Dispatch) == 0 && (location.Proxy == nil) == (location.Return == nil):
		return &Refusal{Want: "exactly one of a backend, a status and a dispatch", Got: location.Path}
	case len(location.Dispatch) > 0:
		view.SetsPath = false // that is for the candidates
		variable, err := l.dispatch(location)
		view.Dispatch = variable
		return err
	case location.Return != nil:
		view.answer(*location.Return)
		return nil
	}
	if rewrite := location.Rewrite; rewrite != nil {
		if err := groupsExist(rewrite); err != nil {
			return err
		}
		view.Rewrite = newRewriteView(rewrite, l.global.Patterns.MatchLimit)
	}
	of := location.Proxy.Service
	view.Route, view.UpstreamName = route(location), of.Namespace+"-"+of.Name+"-"+of.Port
	to := upstream{location.Proxy.Transport, byRoute}
	switch {
	case isSubrequest(location):
		to.by = byURI
	case location.Proxy.Backend != of.Namespace+"/"+of.Name+"/"+of.Port:
		to.by, view.Backend = byKey, location.Proxy.Backend
	}
	view.speak(to, location.Proxy.URI, l.env)
	if to != (upstream{}) {
		l.out.upstreams = append(l.out.upstreams, to)
	}
	return nil
}

// route names what is behind a location, for logs, and for the balancer where the
// backend is that of the Service.
func route(l *model.Location) string {
	of := l.Proxy.Service
	return of.Namespace + "/" + cmp.Or(l.Rule.Object.Name, "-") + "/" + of.Name + "/" + of.Port
}

// mostLogged is how long a path may be, as it is written, to be logged whole.
const mostLogged = tokenLimit - 100

// loggedPath is the path of a rule for the access log; it is empty for what no
// rule matched, and for what is closed as its path cannot be served. What does not fit a token is left out at the end.
func loggedPath(r model.Rule) string {
	if r.Kind == model.RuleFallback || r.Kind == model.RuleClosed {
		return ""
	}
	path := model.OneLine(r.Path, mostLogged)
	if len(strings.ReplaceAll(path, "$", literalDollar))+strings.Count(path, `"`)+strings.Count(path, `\`) > mostLogged {
		return model.OneLine(r.Path, mostLogged/len(literalDollar))
	}
	return path
}

// groupsExist refuses a target that uses a named group which the pattern does
// not have: nginx names no line for an unknown variable.
func groupsExist(r *model.Rewrite) error {
	for rest := r.Target + r.Prefix; ; {
		_, after, found := strings.Cut(rest, "$")
		if !found {
			return nil
		}
		name, more, _ := variableName(after)
		if strings.HasPrefix(name, "p_") && !strings.Contains(r.Pattern, "<"+name+">") {
			return &Refusal{Want: "a target that uses groups of the path only", Got: r.Target}
		}
		if rest = after; name != "" {
			rest = more
		}
	}
}
