package render

import (
	"regexp"
	"slices"

	"sluice/internal/model"
)

// computedView is a variable with the path of the Lua file that computes it.
type computedView struct {
	Variable, File string
	Arguments      []any
}

// mostShownPath is the most bytes of the path of a rule as an argument.
const mostShownPath = 200

func (r *rendering) computed(l *model.Location) (views []computedView) {
	for _, c := range l.Computed {
		view := computedView{Variable: c.Variable, File: r.env.entry(c.By)}
		for _, argument := range c.Arguments {
			if argument == (model.PathOfRule{}) {
				argument = model.Verbatim(model.OneLine(loggedPath(l.Rule), mostShownPath))
			}
			view.Arguments = append(view.Arguments, r.early(argument))
		}
		views = append(views, view)
	}
	return views
}

// clientAddress matches the variables with the address of the client.
var clientAddress = regexp.MustCompile(`\$(?:\{(?:binary_)?remote_addr\}|(?:binary_)?remote_addr\b)`)

// early returns an argument that does not read the client's address, if Lua copies that address
// only later. It names all its sources instead. To read $remote_addr now would also fix it to the
// address of the proxy for the rest of the request.
func (r *rendering) early(argument any) any {
	text, ok := argument.(string)
	if !ok || !r.view.Forwarded.Both {
		return argument
	}
	return clientAddress.ReplaceAllLiteralString(text, "$realip_remote_addr $proxy_protocol_addr $"+r.view.Forwarded.SentFor)
}

// watch returns the Lua file that runs at the end of a request of a location: to record its span,
// and also what the server does. It is "" for that of the server.
func (s *serverRendering) watch(l *model.Location) string {
	switch {
	case !l.Recorded:
		return ""
	case s.env.Metrics.Requests:
		return s.env.entry("log_all")
	case s.watched:
		return s.env.entry("log_both")
	}
	return s.env.entry("log_trace")
}

// watchAll returns the Lua file that runs at the end of all requests of a server: a request can
// leave the location of a watched backend for any other one. It is "" for that of the http level.
// It records no spans: a copy of a request has the variables of one that is traced.
func (s *serverRendering) watchAll() string {
	switch {
	case !s.watched:
		return ""
	case s.env.Metrics.Requests:
		return s.env.entry("log_count")
	}
	return s.env.entry("log")
}

// watched reports whether the balancer has to know when requests of a server end.
func watched(s *model.Server) bool {
	of := func(l *model.Location) bool { return l.Proxy != nil && l.Proxy.Watched }
	return slices.ContainsFunc(s.Locations, of) ||
		slices.ContainsFunc(s.Internal, func(i *model.Internal) bool { return of(i.Location) })
}
