package differential

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"

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
	case answer.Outcome == route.Unknown:
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
		f.reply = passed(config, q, answer)
	}
	return f
}

// passed is the reply of a backend.
func passed(config *model.Config, q request, answer route.Answer) reply {
	for _, b := range config.Dynamic.Backends {
		if b.Key == answer.Location.Proxy.Backend {
			if len(b.Endpoints) == 0 {
				return reply{status: b.WhenEmpty}
			}
			return rewritten(q, answer, b.Key)
		}
	}
	return reply{fault: "the model has no backend " + answer.Location.Proxy.Backend}
}

// rewritten is the reply of a Service with what it is asked for. What captures put
// together must not lead up.
func rewritten(q request, answer route.Answer, service string) reply {
	r := reply{status: http.StatusOK, service: service, target: q.target}
	how := answer.Location.Rewrite
	if how == nil {
		return r
	}
	path, known := route.Rewritten(how, answer.Path)
	switch {
	case !known || path == answer.Path: // whether it was matched decides how it is written
		r.rewritten = true
	case strings.Contains(how.Target, "$") && strings.Contains(path+"/", "/../"):
		return reply{status: http.StatusBadRequest}
	default:
		r.target = route.Passed(path, q.target)
	}
	return r
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
		// It cannot be told into what the target is rewritten, so that this is all
		// that can be compared: who answered, or that what the captures put together
		// was refused.
		return seen.service != f.service && seen.status != http.StatusBadRequest
	}
	return f.reply != seen
}
