package snippets

import (
	"encoding"
	"regexp"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/syntax"
)

// addHeader replaces add_header NAME VALUE [always].
func (r *reader) addHeader(n *node, at scope) {
	if len(n.Tokens) < 3 || len(n.Tokens) == 4 && n.argument(3) != "always" || len(n.Tokens) > 4 {
		r.leave(n, "")
		return
	}
	r.answerHeader(n, at, n.argument(1), n.argument(2))
}

// answerHeader sets a header of answers; an empty value removes it.
func (r *reader) answerHeader(n *node, at scope, name, value string) {
	value = strings.TrimSpace(r.variables.expand(value))
	switch auth := r.ofAuth(value); {
	case strings.EqualFold(name, "Set-Cookie") && auth == "Set-Cookie":
		r.needlessFor(n, "with auth-url, clients get the cookies of the server that authenticates")
	case strings.EqualFold(name, "Set-Cookie"):
		r.leave(n, "no annotation adds cookies: let the backend do it")
	case auth != "":
		r.leave(n, "no annotation gives clients a header of the server that authenticates")
	case !syntax.IsHeaderName(name, 200) || strings.ContainsAny(value, "\r\n") || framing[strings.ToLower(name)]:
		r.leave(n, "this is no header that an annotation can set")
	case strings.Contains(value, "$"):
		r.leave(n, "the value has a variable, which response-headers does not take")
	case strings.EqualFold(name, "Cache-Control") && value != "":
		r.write(n, at, OwnPrefix+"cache-control", value)
	case strings.EqualFold(name, "Server") && value == "":
		r.leave(n, "want the setting server-tokens of the controller: without it, nginx does not tell its version")
	default:
		r.header(n, at, "response-headers", name, value)
	}
}

// lines are how the annotations of headers read their lines.
var lines = map[string]func() encoding.TextUnmarshaler{
	"response-headers": func() encoding.TextUnmarshaler { return new(keys.ResponseHeaders) },
	"request-headers":  func() encoding.TextUnmarshaler { return new(keys.RequestHeaders) },
}

// header adds a line of an annotation of headers, which takes each header once.
func (r *reader) header(n *node, at scope, annotation, name, value string) {
	line := strings.TrimSpace(name + ": " + value)
	if lines[annotation]().UnmarshalText([]byte(line)) != nil {
		r.leave(n, "this is no header that an annotation can set")
		return
	}
	for _, other := range r.linesOf(OwnPrefix+annotation, at) {
		if before, _, _ := strings.Cut(other, ":"); other != line && strings.EqualFold(before, name) {
			r.leave(n, "the annotation sets a header once, and there is another line for "+name)
			return
		}
	}
	r.add(n, at, OwnPrefix+annotation, line)
}

// pairs calls set with the headers in the arguments of a directive of headers-more. It
// reports false if there is an option.
func pairs(n *node, set func(name, value string)) bool {
	for _, argument := range n.Tokens[1:] {
		if strings.HasPrefix(argument, "-") {
			return false
		}
	}
	for _, argument := range n.Tokens[1:] {
		name, value, _ := strings.Cut(argument, ":")
		set(strings.TrimSpace(name), value)
	}
	return len(n.Tokens) > 1
}

const withOptions = "no annotation sets a header for some statuses or types only"

func (r *reader) moreSetHeaders(n *node, at scope) {
	if !pairs(n, func(name, value string) { r.answerHeader(n, at, name, value) }) {
		r.leave(n, withOptions)
	}
}

func (r *reader) moreClearHeaders(n *node, at scope) { r.clear(n, at, "response-headers") }

// clear removes headers.
func (r *reader) clear(n *node, at scope, annotation string) {
	ok := pairs(n, func(name, _ string) {
		switch {
		case !syntax.IsHeaderName(name, 200):
			r.leave(n, "an annotation removes headers by their whole names")
		case annotation == "response-headers":
			r.answerHeader(n, at, name, "")
		default:
			r.requestHeader(n, at, name, "")
		}
	})
	if !ok {
		r.leave(n, withOptions)
	}
}

func (r *reader) moreSetInputHeaders(n *node, at scope) {
	if !pairs(n, func(name, value string) { r.requestHeader(n, at, name, value) }) {
		r.leave(n, withOptions)
	}
}

func (r *reader) setHeader(n *node, at scope) {
	if len(n.Tokens) != 3 {
		r.leave(n, "")
		return
	}
	r.requestHeader(n, at, n.argument(1), n.argument(2))
}

// framing are headers on which the form of a message or its connection depends, in lower
// case.
var framing = map[string]bool{
	"connection": true, "content-length": true, "keep-alive": true, "proxy-connection": true, "te": true, "trailer": true,
	"transfer-encoding": true, "upgrade": true, "content-encoding": true, "x-accel-redirect": true,
}

// guarded matches headers that tell backends who the client is, in lower case.
var guarded = regexp.MustCompile(`^(?:ssl-client-|x-original-|x-auth-request-)`)

// sent are the headers that Sluice sends itself, in lower case, with the variables that
// say the same.
var sent = map[string]string{
	"host":               "$host $http_host $best_http_host",
	"x-real-ip":          "$remote_addr $the_real_ip",
	"x-request-id":       "$req_id $request_id",
	"x-forwarded-for":    "$proxy_add_x_forwarded_for $remote_addr $full_x_forwarded_for $http_x_forwarded_for",
	"x-forwarded-host":   "$host $http_host $best_http_host $server_name",
	"x-forwarded-port":   "$server_port $pass_port $pass_server_port $http_x_forwarded_port",
	"x-forwarded-proto":  "$scheme $pass_access_scheme $http_x_forwarded_proto",
	"x-forwarded-scheme": "$scheme $pass_access_scheme",
	"x-scheme":           "$scheme $pass_access_scheme",
}

// requestHeader sets a header for backends; an empty value removes it.
func (r *reader) requestHeader(n *node, at scope, name, value string) {
	value = strings.TrimSpace(r.variables.expand(value))
	lower := strings.ToLower(name)
	switch {
	case !syntax.IsHeaderName(name, 200) || strings.ContainsAny(value, "\r\n"):
		r.leave(n, "this is no header that an annotation can set")
	case lower == "connection" && value == "":
		r.needlessFor(n, "Sluice keeps connections to backends open itself")
	case lower == "l5d-dst-override":
		r.leave(n, "want service-upstream: \"true\", with which a mesh sees the Service")
	case r.isWebSocket(lower, value):
		r.needlessFor(n, "Sluice passes WebSockets on to every backend")
	case value == "$http_"+strings.ReplaceAll(lower, "-", "_"):
		r.needlessFor(n, "backends get the headers of clients")
	case value != "" && containsWord(sent[lower], value):
		r.needlessFor(n, "Sluice sends this header itself")
	case lower == "host":
		r.hostHeader(n, at, value)
	case lower == "connection" && (value == "close" || value == "keep-alive"):
		r.write(n, at, "connection-proxy-header", value)
	case lower == "accept-encoding" && value == "" && r.mentions("sub_filter"):
		r.needlessFor(n, "sluice.io/sub-filter does it")
	case strings.HasPrefix(lower, "x-forwarded-"), lower == "forwarded", sent[lower] != "":
		r.leave(n, "this header tells of the client, so that Sluice sets it: behind a proxy that sets it, want the settings use-forwarded-headers and proxy-real-ip-cidr of the controller")
	case strings.Contains(value, "$ssl_client_") && strings.Contains(value, "cert"):
		r.leave(n, "want auth-tls-pass-certificate-to-upstream: \"true\", with which backends get the certificate in ssl-client-cert")
	case r.ofAuth(value) != "":
		r.authHeader(n, at, name, r.ofAuth(value))
	default:
		r.plainRequestHeader(n, at, name, value)
	}
}

// isWebSocket reports whether a header is one of those that open a WebSocket.
func (r *reader) isWebSocket(lower, value string) bool {
	switch lower {
	case "upgrade":
		return value == "$http_upgrade" || strings.EqualFold(value, "websocket")
	case "connection":
		return strings.EqualFold(value, "upgrade") || value == "$connection_upgrade" || value == "$http_connection"
	}
	return false
}

func containsWord(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word || "${"+strings.TrimPrefix(w, "$")+"}" == word {
			return true
		}
	}
	return false
}

var hostValue = regexp.MustCompile(`^(?:[A-Za-z0-9\-._:]|\$(?:service_name|namespace|service_port)\b)+$`)

func (r *reader) hostHeader(n *node, at scope, value string) {
	if !hostValue.MatchString(value) {
		r.leave(n, "the annotation upstream-vhost takes a host name")
		return
	}
	r.write(n, at, "upstream-vhost", value)
}

// authHeader passes a header of the server that authenticates to backends.
func (r *reader) authHeader(n *node, at scope, name, of string) {
	if !strings.EqualFold(name, of) {
		r.leave(n, "auth-response-headers: \""+of+"\" passes this header on under its own name")
		return
	}
	value := r.Given["auth-response-headers"]
	if w := r.entry("auth-response-headers", at.where); len(w.values) > 0 {
		value = w.values[0]
	}
	w := r.entry("auth-response-headers", at.where)
	w.values = []string{strings.TrimPrefix(value+", "+of, ", ")}
	r.replaced(n, w)
}

// taken matches the variables that request-headers takes.
var taken = regexp.MustCompile(`^(?:remote_addr|host|scheme|request_id|request_uri|request_method|ssl_protocol|ssl_cipher|ssl_client_(?:s_dn|i_dn|verify|fingerprint|serial)|(?:http|cookie|arg)_\w+)$`)

func (r *reader) plainRequestHeader(n *node, at scope, name, value string) {
	if lower := strings.ToLower(name); framing[lower] || guarded.MatchString(lower) {
		r.leave(n, "this is no header that an annotation can set")
		return
	}
	value = strings.ReplaceAll(strings.ReplaceAll(value, "$req_id", "$request_id"), "$the_real_ip", "$remote_addr")
	for _, found := range anyVariable.FindAllString(value, -1) {
		if !taken.MatchString(strings.Trim(found, "${}")) {
			r.leave(n, "the value has the variable "+found+", which request-headers does not take")
			return
		}
	}
	r.header(n, at, "request-headers", name, value)
}

// ofAuth returns the header of the server that authenticates which is the value, "" if it
// is another text.
func (r *reader) ofAuth(value string) string {
	return r.variables.ofAuth[strings.Trim(value, "${}")]
}

// passHeader is for proxy_pass_header.
func (r *reader) passHeader(n *node, _ scope) {
	switch strings.ToLower(n.argument(1)) {
	case "server", "date", "x-pad", "x-accel-expires", "x-accel-redirect", "x-accel-limit-rate", "x-accel-buffering", "x-accel-charset":
		r.leave(n, "nginx keeps this header of backends to itself, and no annotation changes that")
	default:
		r.needlessFor(n, "clients get this header of backends anyway")
	}
}

// mentions reports whether the snippet has a directive of this name.
func (r *reader) mentions(name string) bool { return strings.Contains(r.Text, name) }
