package golden

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/settings"
)

// A request of a case is a line
//
//	METHOD URL [{Header: value}] -> LOCATION  ANSWER
//
// possibly followed by indented lines "Header: value" with headers of the answer
// ("certificate: NAME" is the name in the certificate that was presented,
// "Got-Header: value" a header as the service got it, and "status: 404" the status
// that the service gave).
//
// URL is host/path for plain HTTP, or https://host/path; it is sent as it is
// written. With http://host/path the request line has the whole URL, and the
// header Host, if one is given, another host. {PROXY-protocol: TCP4 192.0.2.1
// 192.0.2.2 4444 80} is sent as the line of that protocol, before all else. The
// service answers with a body only if the headers Want-Length and Want-Type ask
// for one of that many bytes and that type, and with the header NAME if there is
// one called Answer-NAME. LOCATION is the nginx location that
// nginx, by its own debug log, chose for it: "= /foo", "^~ /foo/", "~* ^/foo", or
// only "/" for a plain prefix; it is left out where nginx redirects to HTTPS
// before it looks for one. ANSWER is
//
//	namespace/service:port             that service answered
//	namespace/service:port as /other   it was asked for another path
//	404                                a status without a service
//	308 https://host/path              a redirect
type request struct {
	method, scheme, host, uri string
	header                    http.Header
	// announced is what a PROXY header says before the request, "" for none.
	announced string
	// absolute is set if the request line has the whole URL.
	absolute bool
	// underscores is set if nginx takes headers with _ in their names.
	underscores bool
	// left is the line up to the arrow, as written.
	left string
	// headers of the answer that the case is about.
	wanted []string
}

var (
	requestLine = regexp.MustCompile(`^([A-Z]+) (https?://)?([^/ ]*)(/[^ ]*)(?: \{([^}]*)\})? -> `)
	headerLine  = regexp.MustCompile(`^\s+([A-Za-z_.-]+):`)
)

// requests reads the section of that name.
func (c *testCase) requests(t *testing.T) []request {
	t.Helper()
	text, _ := c.section("requests")
	list, err := parseRequests(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func parseRequests(text string) ([]request, error) {
	var list []request
	for line := range strings.Lines(text) {
		header, m := headerLine.FindStringSubmatch(line), requestLine.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "":
		case header != nil && len(list) > 0:
			last := &list[len(list)-1]
			last.wanted = append(last.wanted, header[1])
		case m != nil:
			r := request{method: m[1], scheme: "http", absolute: m[2] == "http://", host: m[3], uri: m[4], header: parseHeaders(m[5]), left: strings.TrimSuffix(m[0], "-> ")}
			if m[2] == "https://" {
				r.scheme = "https"
			}
			r.announced = r.header.Get(announcing)
			r.header.Del(announcing)
			list = append(list, r)
		default:
			return nil, fmt.Errorf("requests: want METHOD host/path -> LOCATION  ANSWER (got %q)", line)
		}
	}
	return list, nil
}

// announcing is no header of the request but what is sent before it.
const announcing = "PROXY-protocol"

// parseHeaders reads "A: 1; B: 2".
func parseHeaders(text string) http.Header {
	header := http.Header{}
	for pair := range strings.SplitSeq(text, "; ") {
		if name, value, ok := strings.Cut(pair, ": "); ok {
			header.Add(name, value)
		}
	}
	return header
}

// answer is what came of a request.
type answer struct {
	// location is as in nginx.conf, without quotes; "" if none was looked for.
	location string
	// status is 0 where route.Match was asked and a service would answer.
	status int
	// service is namespace/service:port if one answered.
	service string
	// path is what the service was asked for.
	path string
	// redirect is the header Location.
	redirect string
	// refusable is set where the location holds what behaviours printed, which
	// route.Match does not know: they may refuse the request.
	refusable bool
	// blockable is set if the settings have a block list.
	blockable bool
	// limited is set where the location limits its clients.
	limited bool
	// asks is set if clients have to say who they are.
	asks bool
	// authenticated is set if another server says which requests may pass.
	authenticated bool
	// replaced is set if another service answers in place of errors.
	replaced bool
	// hides is set if some paths may be answered with 404.
	hides  bool
	header http.Header
}

// String gives the right side of a request's line.
func (a answer) String() string {
	text := strconv.Itoa(a.status)
	switch {
	case a.redirect != "":
		return text + " " + a.redirect
	case a.service != "":
		text = a.service
		if a.path != "" {
			text += " as " + a.path
		}
	}
	if a.location == "" {
		return text
	}
	return a.location + "  " + text
}

// disagrees says where nginx did something else than route.Match foretold.
func disagrees(foretold, seen answer) string {
	if seen.location != "" && seen.location != foretold.location {
		return fmt.Sprintf("route.Match says location %q, nginx took %q", foretold.location, seen.location)
	}
	if foretold.blockable && seen.location == "" && seen.status == http.StatusForbidden {
		return "" // a block list comes before every location
	}
	if foretold.refusable && seen.redirect == "" && seen.status == http.StatusNoContent {
		return "" // a preflight request comes before every redirect
	}
	if foretold.authenticated && (seen.status == http.StatusFound || seen.status == http.StatusUnauthorized || seen.status == http.StatusInternalServerError) {
		return ""
	}
	if foretold.replaced {
		return ""
	}
	if foretold.redirect != seen.redirect {
		return fmt.Sprintf("route.Match says redirect %q, nginx gave %q", foretold.redirect, seen.redirect)
	}
	if foretold.service == seen.service && (seen.service != "" || foretold.status == seen.status) {
		return ""
	}
	refused := seen.status == http.StatusForbidden || seen.status == http.StatusBadRequest || seen.status == http.StatusRequestEntityTooLarge
	over := seen.status == http.StatusServiceUnavailable || seen.status == http.StatusTooManyRequests
	stranger := seen.status == http.StatusUnauthorized
	if foretold.refusable && refused || foretold.limited && over || foretold.asks && stranger || foretold.hides && seen.status == http.StatusNotFound {
		return ""
	}
	return fmt.Sprintf("route.Match says %s, nginx answered %s", foretold, seen)
}

// foretell asks route.Match, and says what its location does.
func (o *outcome) foretell(r request) answer {
	r.underscores = bytes.Contains(o.file.Bytes(), []byte("underscores_in_headers on;"))
	match := route.Choose(o.config.Static.Servers, r.known())
	switch match.Outcome {
	case route.Served, route.Missed:
		return o.foretellLocation(r, match)
	case route.Redirects:
		return answer{location: notation(match.Server, match.Location), status: http.StatusMovedPermanently, redirect: r.scheme + "://" + r.host + match.Location.Path}
	case route.Refuses:
		return answer{status: http.StatusBadRequest}
	case route.Unmatched:
		return answer{status: http.StatusNotFound}
	}
	return answer{location: string(match.Outcome)}
}

// known is what nginx knows of a request when it looks for a location.
func (r request) known() route.Request {
	known := route.Request{Method: r.method, Host: r.host, URI: r.uri, Underscores: r.underscores}
	for name, values := range r.header {
		for _, value := range values {
			known.Headers = append(known.Headers, route.Header{Name: name, Value: value})
		}
	}
	return known
}

func (o *outcome) foretellLocation(r request, match route.Choice) answer {
	r = o.believed(r)
	server, location := match.Server, match.Location
	a := answer{location: notation(server, cmp.Or(match.Dispatched, location)), refusable: len(location.Blocks)+len(server.Blocks)+len(o.config.Static.Blocks) > 0,
		blockable: o.blocks()}
	a.asks = slices.ContainsFunc(location.Blocks, func(b model.Block) bool { return b.Name == "basic-auth" })
	a.authenticated = slices.ContainsFunc(location.Blocks, func(b model.Block) bool { return b.Name == "external-auth" })
	a.hides = slices.ContainsFunc(location.Blocks, func(b model.Block) bool { return b.Name == "deny-paths" })
	a.limited = slices.ContainsFunc(location.Blocks, func(b model.Block) bool { return b.Name == "limits" })
	a.replaced = slices.ContainsFunc(location.Blocks, func(b model.Block) bool { return b.Name == "custom-errors" || b.Name == "no-endpoints" })
	redirect := cmp.Or(server.RedirectToHTTPS, location.RedirectToHTTPS)
	switch {
	case redirect != nil && r.scheme == "http" && match.Outcome == route.Served:
		a.status, a.redirect = redirect.Code, target(r, redirect)
	case location.Return != nil:
		a.status, a.redirect = location.Return.Code, location.Return.URL
		if strings.HasPrefix(a.redirect, "/") && !location.Return.Relative {
			a.redirect = r.scheme + "://" + r.host + a.redirect
		}
		a.redirect = strings.ReplaceAll(r.written(a.redirect), "$"+model.RedirectRest, rest(r, location))
	default:
		o.foretellBackend(&a, r, location.Proxy)
	}
	return a
}

// rest gives the path below that of a redirect.
func rest(r request, location *model.Location) string {
	for _, b := range location.Blocks {
		if pattern := reflect.ValueOf(b.Data); b.Name == "redirects" {
			if m := regexp.MustCompile("(?i)" + pattern.Field(0).String()).FindStringSubmatch(r.uri); m != nil {
				return m[1]
			}
		}
	}
	return ""
}

// written gives a URL with the values of the variables that a redirect may name. That
// of $uri is the path as it was sent.
func (r request) written(url string) string {
	path, args, found := strings.Cut(r.uri, "?")
	mark := ""
	if found && args != "" {
		mark = "?"
	}
	var pairs []string
	for name, value := range map[string]string{"request_uri": r.uri, "uri": path, "args": args, "is_args": mark, "host": r.host, "scheme": r.scheme, "redirect_scheme": r.scheme, "redirect_uri": strings.TrimSuffix(r.uri, "/")} {
		pairs = append(pairs, "${"+name+"}", value, "$"+name, value)
	}
	return strings.NewReplacer(pairs...).Replace(url)
}

// believed gives a request as a proxy in front says that the client made it,
// where the settings believe 127.0.0.1.
func (o *outcome) believed(r request) request {
	for _, b := range o.config.Static.Blocks {
		f, ok := b.Data.(settings.Forwarded)
		if !ok {
			continue
		}
		if f.Use && (f.Everybody() || slices.Contains(f.Trusted, "127.0.0.0/8")) {
			scheme, _, _ := strings.Cut(r.header.Get("X-Forwarded-Proto"), ",")
			r.scheme = cmp.Or(scheme, r.scheme)
			r.host = cmp.Or(r.header.Get("X-Forwarded-Host"), r.host)
		}
		if f.ProxyProtocol && strings.HasSuffix(r.announced, " 443") {
			r.scheme = "https"
		}
	}
	return r
}

// foretellBackend says what a backend does: answer, or not for want of endpoints.
func (o *outcome) foretellBackend(a *answer, r request, proxy *model.Proxy) {
	for _, b := range o.config.Dynamic.Backends {
		if b.Key != proxy.Backend {
			continue
		}
		if b.Split != nil {
			o.foretellBackend(a, r, &model.Proxy{Backend: shareOf(b.Split, r)})
			return
		}
		if len(b.Endpoints) == 0 && b.ExternalName == "" {
			a.status = b.WhenEmpty
			return
		}
		a.service = serviceName(proxy.Backend)
		return
	}
	a.status = -1
}

// shareOf is the backend of a split that gets a request, for those whose weights leave
// no choice.
func shareOf(s *model.Split, r request) string {
	holds := func(rule model.ShareRule) bool {
		if rule.Pattern != "" {
			return regexp.MustCompile(rule.Pattern).MatchString(valueOf(rule.Variable, r))
		}
		return valueOf(rule.Variable, r) == rule.Value
	}
	_, tag, _ := strings.Cut(r.header.Get("Cookie"), "|")
	for i, share := range s.Shares {
		switch {
		case s.Cookie != nil && tag == tagOf(s.Tags[0]):
			return s.Main
		case s.Cookie != nil && s.Tags[i+1] != "" && tag == tagOf(s.Tags[i+1]):
			return share.Backend
		}
		takes := share.Weight >= s.Total
		if at := slices.IndexFunc(share.Rules, holds); at >= 0 {
			takes = share.Rules[at].Takes
		}
		if takes {
			return share.Backend
		}
	}
	return s.Main
}

// valueOf is the value of a variable http_NAME or cookie_NAME in a request.
func valueOf(variable string, r request) string {
	known := r.known()
	value, _ := known.Variable(variable)
	return value
}

// tagOf is what marks the cookies of a backend.
func tagOf(name string) string {
	return fmt.Sprintf("%x", md5.Sum(fmt.Appendf(nil, "%x%s", md5.Sum([]byte(name)), name)))
}

// serviceName turns the key "ns/name/80", or one of another balancing, into
// "ns/name:80".
func serviceName(key string) string {
	key, _, _ = strings.Cut(key, "~")
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		return key[:i] + ":" + key[i+1:]
	}
	return key
}

// notation is a location as nginx.conf has it.
func notation(server *model.Server, l *model.Location) string {
	if l.Modifier == model.Named {
		return "@" + l.Path
	}
	return strings.TrimSpace(string(l.Modifier) + " " + l.Path)
}

// target is where a redirect to HTTPS leads.
func target(r request, redirect *model.Redirect) string {
	port := ""
	if redirect.Port != 0 && redirect.Port != 443 {
		port = ":" + strconv.Itoa(redirect.Port)
	}
	uri := r.uri
	if !redirect.KeepTrailingSlash {
		uri = strings.TrimSuffix(uri, "/")
	}
	return "https://" + r.host + port + uri
}

// blocks reports whether the settings have a block list.
func (o *outcome) blocks() bool {
	return slices.ContainsFunc(o.config.Static.Blocks, func(b model.Block) bool {
		lists, is := b.Data.(settings.BlockLists)
		return is && lists.On()
	})
}
