package differential

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/internal/model"
	"sluice/internal/route"
)

// matcher answers as route.Match does.
type matcher func(servers []*model.Server, host, uri string) route.Answer

// foretold is what a matcher says of a request.
type foretold struct {
	reply
	// what tells the way in which it came about, to count them.
	what string
	// unknown is set where the matcher cannot tell.
	unknown bool
}

// foretell asks a matcher, and says what its location does with the request.
func foretell(match matcher, config *model.Config, q request) foretold {
	answer := match(config.Static.Servers, q.host, q.target)
	server := answer.Server
	switch {
	case answer.Outcome == route.Refuses:
		return foretold{reply: reply{status: http.StatusBadRequest}, what: "400"}
	case answer.Outcome != route.Missed && server.RedirectToHTTPS != nil:
		return foretold{reply: toHTTPS(q, server.RedirectToHTTPS), what: "HTTPS by the server"}
	case answer.Outcome == route.Unknown || goDiffers(server, answer.Path):
		return foretold{unknown: true, what: "unknown"}
	case answer.Outcome == route.Redirects:
		return foretold{reply: reply{status: http.StatusMovedPermanently, location: slashed(q, answer.Location.Path)}, what: "301"}
	case answer.Outcome == route.Unmatched:
		return foretold{reply: reply{status: http.StatusNotFound}, what: "unmatched"}
	}
	f := foretold{what: "location " + string(answer.Location.Modifier)}
	if answer.Outcome == route.Missed {
		f.what = "missed"
	}
	switch l := answer.Location; {
	case l.RedirectToHTTPS != nil && answer.Outcome == route.Served:
		f.reply, f.what = toHTTPS(q, l.RedirectToHTTPS), "HTTPS by a location"
	case l.Return != nil:
		f.status, f.location = l.Return.Code, sent(q, l.Return.URL)
	default:
		f.reply = passed(config, q, l)
	}
	return f
}

// goDiffers tells the paths on which the regular expressions of Go, by which
// route.Match tries patterns, are known to differ from PCRE: "$" comes before a
// final line end too, \s takes a vertical tab, and only ASCII letters have two
// cases.
func goDiffers(server *model.Server, path string) bool {
	patterns := slices.ContainsFunc(server.Locations, func(l *model.Location) bool { return l.Modifier == model.Pattern })
	return patterns && (strings.ContainsAny(path, "\n\v") || !utf8.ValidString(path) || strings.Contains(path, "\xe3"))
}

// passed is the reply of a backend.
func passed(config *model.Config, q request, l *model.Location) reply {
	for _, b := range config.Dynamic.Backends {
		if b.Key == l.Proxy.Backend {
			if len(b.Endpoints) == 0 {
				return reply{status: b.WhenEmpty}
			}
			target, known := targetOf(q, l)
			return reply{status: http.StatusOK, service: b.Key, target: target, rewritten: !known}
		}
	}
	return reply{fault: "the model has no backend " + l.Proxy.Backend}
}

// targetOf is what the Service behind a location is asked for. It is not known
// where the location rewrites it: route does not tell into what.
func targetOf(q request, l *model.Location) (target string, known bool) {
	return q.target, l.Rewrite == nil
}

// toHTTPS is the redirect to HTTPS.
func toHTTPS(q request, redirect *model.Redirect) reply {
	target := q.target
	if !redirect.KeepTrailingSlash {
		target = strings.TrimSuffix(target, "/")
	}
	return reply{status: redirect.Code, location: "https://" + nginxHost(q.host) + target}
}

// slashed is the redirect to a path with a "/" at its end, with the path decoded.
func slashed(q request, path string) string {
	target, _, _ := strings.Cut(q.target, "#")
	if _, query, _ := strings.Cut(target, "?"); query != "" {
		path += "?" + query
	}
	host := nginxHost(q.host)
	if q.form == hostless {
		host = "127.0.0.1" // where the connection came in
	}
	return "http://" + host + path
}

// sent is the redirect to a URL, or to a path of the host as the client wrote it.
func sent(q request, url string) string {
	if !strings.HasPrefix(url, "/") {
		return url
	}
	host := nginxHost(q.host)
	if q.form == ordinary && afterName.MatchString(q.host[len(host):]) {
		host = q.host
	}
	return "http://" + host + url
}

// afterName is what a Host header may have behind the name and still be believed.
var afterName = regexp.MustCompile(`^\.?(?::[0-9]*)?$`)

// nginxHost is nginx's $host.
func nginxHost(host string) string {
	name, _ := route.HostName(host)
	return cmp.Or(name, "_") // the name of the catch-all server
}

// disagree says whether nginx did something else than was foretold.
func disagree(f foretold, seen reply) bool {
	switch {
	case f.unknown || seen.gaveUp:
		return false
	case f.rewritten:
		// route tells that the target is rewritten and not into what, so that this
		// is all that can be compared: who answered, or that what the captures put
		// together was refused.
		return seen.service != f.service && seen.status != http.StatusBadRequest
	}
	return f.reply != seen
}
