package explain

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
)

// refusal returns the answer that nginx gives before it looks for a location; its Kind
// is empty if there is none.
func (x *explainer) refusal() Answer {
	passed := x.passedThrough()
	switch {
	case passed != nil:
		s := passed.Service
		return Answer{Kind: PassedOn, Service: s.Namespace + "/" + s.Name + ":" + s.Port, Why: "the TLS of the host is passed through, as " + passed.Source.String() + " asks for"}
	case x.request.Scheme == "https" && x.settings.TLS.RejectHandshake && x.choice.Server != nil && x.choice.Server.Host == "":
		return Answer{Kind: NoHandshake, Why: "no rule has the host, and the setting ssl-reject-handshake is on"}
	case x.choice.Outcome == route.Refuses:
		return Answer{Kind: ToStatus, Status: 400, Why: "nginx refuses the request: " + x.choice.Refusal.Error()}
	case x.request.Method == "TRACE" || x.request.Method == "CONNECT":
		return Answer{Kind: ToStatus, Status: 405, Why: "nginx does not take the method " + x.request.Method}
	}
	if why := x.blocked(); why != "" {
		return Answer{Kind: ToStatus, Status: 403, Why: why}
	}
	return Answer{}
}

// passedThrough returns the host by which an HTTPS request is passed through, nil for
// none. Precise hosts come last in the list and win.
func (x *explainer) passedThrough() *model.Passthrough {
	if x.request.Scheme != "https" {
		return nil
	}
	for _, p := range slices.Backward(x.Config.Static.Passthroughs) {
		if p.Takes(strings.ToLower(x.request.Host)) {
			return &p
		}
	}
	return nil
}

// answer returns the answer, with its cases in nginx's order.
func (x *explainer) answer(e *Explanation) Answer {
	l := x.choice.Location
	switch {
	case x.serverRedirect() != nil && x.request.Scheme == "http":
		how, why := x.serverRedirect(), cmp.Or(l, x.choice.Server.Locations[0]).PlainHTTP
		return Answer{Kind: ToRedirect, Status: how.Code, Location: x.overHTTPS(how), Why: why}
	case x.choice.Outcome == route.Redirects:
		return Answer{Kind: ToRedirect, Status: 301, Location: x.slashed(l), Why: "nginx adds the / at the end, as trailing-slash-redirect asks for"}
	case x.choice.Outcome == route.Unknown:
		return Answer{Kind: ToUnknown, Why: "it depends on the pattern " + l.Path + " of " + l.Rule.Object.String() + rejected(l, ", which nginx rejects: %s")}
	case !x.taken() && x.choice.Server.InternalFor(x.choice.Path) != nil:
		return Answer{Kind: ToStatus, Status: 404, Why: "the location of the path is for subrequests of nginx only"}
	case !x.taken():
		return Answer{Kind: ToStatus, Status: 404, Why: "no location takes the path"}
	case x.refusedPath(l, e.Applied.Redirect.Redirects).Kind != "":
		return x.refusedPath(l, e.Applied.Redirect.Redirects)
	case sends(l):
		return Answer{Kind: ToRedirect, Status: l.Return.Code, Location: x.sent(*l.Return), Why: x.whySent(l)}
	case e.Applied.Redirect.Redirects:
		r := e.Applied.Redirect
		return Answer{Kind: ToRedirect, Status: r.Status, Location: r.Location, Why: r.Why}
	case l.Return != nil:
		return Answer{Kind: ToStatus, Status: l.Return.Code, Why: x.whyReturned(e.Applied.Denied)}
	}
	return e.Applied.Backend.answer()
}

// whyReturned returns the reason why a location returns a status.
func (x *explainer) whyReturned(d *Denied) string {
	switch {
	case x.choice.Location.Rule.Kind == model.RuleHealth:
		return "load balancers ask for it"
	case x.choice.Location.Rule.Kind == model.RuleStatus:
		return "nginx answers with its counters, and with 403 where the settings nginx-status-ipv4-whitelist and nginx-status-ipv6-whitelist do not allow the client"
	case d == nil:
		return "no rule takes the path, and there is no default backend"
	case len(d.Problems) == 0:
		return "its Ingress is held back"
	}
	p := d.Problems[0]
	if p.Object == x.choice.Location.Rule.Object && p.Field != "" {
		return p.Field + ": " + p.Text
	}
	if p.Field != "" {
		return p.Object.String() + ": " + p.Field + ": " + p.Text
	}
	return p.Object.String() + ": " + p.Text
}

// answer returns the answer of a backend.
func (b *Backend) answer() Answer {
	if b.Why != "" {
		return Answer{Kind: ToStatus, Status: b.Status, Why: b.Why}
	}
	a := Answer{Kind: ToService, Service: b.name(), Why: b.Drawn}
	for _, s := range b.Shares {
		if s.Possible && s.Service != a.Service {
			a.Canaries = append(a.Canaries, s.Service)
		}
	}
	return a
}

// name returns "namespace/name:port"; the default backend has no port.
func (b *Backend) name() string {
	name := b.Service.Namespace + "/" + b.Service.Name
	if b.Default {
		return name
	}
	return name + ":" + b.Service.Port
}

// serverRedirect returns the redirect of the whole server. It does not apply to a name
// with too many labels for the server's wildcard.
func (x *explainer) serverRedirect() *model.Redirect {
	if x.choice.Outcome == route.Missed {
		return nil
	}
	return x.choice.Server.RedirectToHTTPS
}

// overHTTPS returns the header Location of a redirect to HTTPS.
func (x *explainer) overHTTPS(r *model.Redirect) string {
	host, uri := x.choice.Name, x.request.URI
	if r.Port != 0 {
		host += ":" + strconv.Itoa(r.Port)
	}
	if !r.KeepTrailingSlash {
		uri = strings.TrimSuffix(uri, "/")
	}
	return "https://" + host + uri
}

// sent returns the header Location of a redirect of an Ingress. Variables that are not
// known here stay as written.
func (x *explainer) sent(r model.Return) string {
	to := r.URL
	if strings.HasPrefix(to, "/") && !r.Relative {
		to = x.request.Scheme + "://" + x.request.Host + to
	}
	path, args, asks := strings.Cut(x.request.URI, "?")
	values := map[string]string{"scheme": x.request.Scheme, "host": x.choice.Name, "request_uri": x.request.URI, "uri": path, "args": args, "is_args": "",
		"redirect_scheme": x.request.Scheme, "redirect_uri": strings.TrimSuffix(x.request.URI, "/")}
	if asks && args != "" {
		values["is_args"] = "?"
	}
	for _, block := range x.choice.Location.Blocks {
		if below, ok := block.Data.(interface{ Rest(uri string) string }); ok {
			values[model.RedirectRest] = below.Rest(x.request.URI)
		}
	}
	return redirectVariable.ReplaceAllStringFunc(to, func(written string) string {
		value, known := values[strings.Trim(written, "${}")]
		if !known {
			return written
		}
		return value
	})
}

var redirectVariable = regexp.MustCompile(`\$(?:[a-z_]+\b|\{[a-z_]+\})`)

// whySent returns the annotation that redirects.
func (x *explainer) whySent(l *model.Location) string {
	if l.Rule.Kind == model.RuleRedirect || l.Rule.Field == redirectsField {
		return l.Rule.Field
	}
	if x.annotationsAt(l).Redirect.Temporal != "" {
		return x.Options.AnnotationsPrefix + "/temporal-redirect"
	}
	return x.Options.AnnotationsPrefix + "/permanent-redirect"
}

// slashed returns the header Location of nginx's redirect to the path with a "/".
func (x *explainer) slashed(l *model.Location) string {
	to := x.request.Scheme + "://" + x.choice.Name + (&url.URL{Path: l.Path}).EscapedPath()
	uri, _, _ := strings.Cut(x.request.URI, "#")
	if _, query, _ := strings.Cut(uri, "?"); query != "" {
		to += "?" + query
	}
	return to
}
