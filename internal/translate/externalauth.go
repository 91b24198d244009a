package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const (
	externalAuth    = "external-auth"
	authURL         = "auth-url"
	proxySetHeaders = "auth-proxy-set-headers"
)

// authentication is how another server says which requests may pass.
type authentication struct {
	target
	asked *annotations.ExternalAuth
	// ofRule is set if the host of the target is that of the rule.
	ofRule bool
	// headers are those of the question.
	headers []questionHeader
}

// What the blocks print: in the location that is protected, and in the internal one of
// the questions.
type (
	externalAuthBlock struct {
		To      string           `json:"to"`
		Headers []answeredHeader `json:"headers,omitempty"`
		// SignIn is the name of the internal location that redirects clients, empty for none.
		SignIn          string `json:"signIn,omitempty"`
		AlwaysSetCookie bool   `json:"alwaysSetCookie,omitempty"`
	}
	questionBlock struct {
		Method  string           `json:"method,omitempty"`
		Headers []questionHeader `json:"headers"`
	}
	// questionHeader may have variables in its value.
	questionHeader struct{ Name, Value string }
	// answeredHeader is one that backends get: From is the variable of the answer,
	// Variable what keeps its value.
	answeredHeader struct{ Name, From, Variable string }
	signInBlock    struct{ AlwaysSetCookie bool }
)

// readExternalAuth reads whom to ask, and how.
func (t *translation) readExternalAuth(ing *owner, asked *annotations.ExternalAuth) *attached {
	if asked.URL == "" {
		return nil
	}
	at, ofRule, text := authTarget(asked.URL)
	if text != "" {
		return ing.refuse(authURL, model.InvalidValue, text)
	}
	for _, header := range answered(asked) {
		if framing(header.Name) {
			return ing.refuse("auth-response-headers", model.InvalidValue, "want no header that says where a request ends, whom it is for or how its connection goes on (got "+header.Name+")")
		}
	}
	auth := &authentication{target: *at, asked: asked, ofRule: ofRule}
	auth.headers = auth.question()
	size := 0
	if asked.ProxySetHeaders != "" {
		own, reason, text := t.questionHeaders(ing, asked.ProxySetHeaders)
		if text != "" {
			return ing.refuse(proxySetHeaders, reason, text)
		}
		for _, header := range own {
			auth.set(header)
			size += len(header.Name) + len(header.Value)
		}
	}
	return &attached{auth: auth, size: size}
}

// authTarget takes auth-url apart. The variable $host may stand for its host.
func authTarget(asked string) (t *target, ofRule bool, text string) {
	const stand = "host.invalid"
	scheme, rest, _ := strings.Cut(asked, "://")
	for _, variable := range []string{"${host}", "$host"} {
		if after, found := strings.CutPrefix(rest, variable); found {
			ofRule, asked = true, scheme+"://"+stand+after
		}
	}
	if t, text = targetOf(asked); text != "" {
		return nil, false, text
	}
	if ofRule {
		t.header = "$host"
	}
	if !strings.HasPrefix(t.uri, "/") {
		t.uri = "/" + t.uri
	}
	return t, ofRule, ""
}

// question are the headers of all questions, as those of ingress-nginx. What a client
// could say of itself by them is dropped.
func (a *authentication) question() []questionHeader {
	originalURI, scheme := "", ""
	if a.asked.Method != "" {
		originalURI, scheme = "$request_uri", "$pass_access_scheme"
	}
	return []questionHeader{
		{"Host", a.header}, {"Connection", ""}, {"Upgrade", ""}, {"Content-Length", ""}, {"Transfer-Encoding", ""},
		{"X-Original-URL", "$scheme://$best_http_host$request_uri"}, {"X-Original-URI", originalURI}, {"X-Original-Method", "$request_method"},
		{"X-Auth-Request-Redirect", cmp.Or(a.asked.RequestRedirect, "$request_uri")}, {"X-Sent-From", "nginx-ingress-controller"},
		{"X-Scheme", scheme}, {"X-Forwarded-Host", ""}, {"X-Forwarded-Port", ""}, {"X-Forwarded-Proto", ""}, {"X-Forwarded-Scheme", ""},
	}
}

// set puts a header in the place of that of the same name.
func (a *authentication) set(header questionHeader) {
	at := slices.IndexFunc(a.headers, func(h questionHeader) bool { return strings.EqualFold(h.Name, header.Name) })
	if at < 0 {
		a.headers = append(a.headers, header)
		return
	}
	a.headers[at] = header
}

// questionHeaders reads headers of questions from a ConfigMap; text says why that
// cannot be done.
func (t *translation) questionHeaders(ing *owner, reference string) (headers []questionHeader, reason model.Reason, text string) {
	name, err := snapshot.ParseReference(reference, ing.ref.Namespace)
	if err != nil {
		return nil, model.InvalidValue, err.Error()
	}
	configMap, text := t.configMapFor(ing, name)
	if configMap == nil {
		return nil, model.NotFound, text
	}
	for _, header := range slices.Sorted(maps.Keys(configMap.Data)) {
		value := strings.TrimSpace(configMap.Data[header])
		switch {
		case !headerName.MatchString(header) || framing(header) && !strings.EqualFold(header, "Host"):
			text = fmt.Sprintf("want names of headers that say nothing of the connection, of at most 46 letters, digits, - and _, as its keys (got %s)", quoted(header))
		case !keys.IsHeaderText(value) || len(value) > longestValue:
			text = fmt.Sprintf("want 1 to %d printable ASCII characters, with variables such as $host, as the value of %s (got %s)", longestValue, header, quoted(value))
		}
		if text != "" {
			return nil, model.InvalidValue, fmt.Sprintf("ConfigMap %s: %s", name, text)
		}
		headers = append(headers, questionHeader{header, value})
	}
	return headers, "", ""
}

// framing tells the headers that say where a request ends, whom it is for, or how its
// connection goes on.
func framing(header string) bool {
	return strings.EqualFold(header, "Host") || slices.Contains(ofTheConnection, strings.ToLower(header))
}

// answered are the headers that backends get of the answer; none for nil. The numbers
// of their variables are those of the list, so that few variables do for all Ingresses.
func (a *authentication) answered() []answeredHeader {
	if a == nil {
		return nil
	}
	return answered(a.asked)
}

func answered(asked *annotations.ExternalAuth) []answeredHeader {
	var headers []answeredHeader
	for name := range strings.SplitSeq(asked.ResponseHeaders, ",") {
		name = strings.TrimSpace(name)
		same := func(h answeredHeader) bool { return strings.EqualFold(h.Name, name) }
		if name == "" || slices.ContainsFunc(headers, same) {
			continue
		}
		from := "upstream_http_" + strings.ReplaceAll(strings.ToLower(name), "-", "_")
		headers = append(headers, answeredHeader{name, from, "external_auth_" + strconv.Itoa(len(headers)+1)})
	}
	return headers
}

// authentication is that of the path of a claim, nil for none.
func (c *claim) authentication() *authentication {
	return c.owner.attachedTo(c.annotations.ExternalAuth).auth
}

// authenticate has another server asked about the requests of a location, if its
// annotations say so.
func (b *builder) authenticate(l *model.Location, c *claim) {
	auth := c.authentication()
	if auth == nil {
		return
	}
	at := auth.target
	if auth.ofRule {
		if b.host.name == "" || b.host.wildcard() {
			b.refuseOfRule(l, c)
			return
		}
		at.host = b.host.name
	}
	to := b.subrequest(l, &at, "auth", model.Block{Name: "external-auth-question", Data: questionBlock{auth.asked.Method, auth.headers}})
	block := externalAuthBlock{To: to, Headers: auth.answered(), AlwaysSetCookie: auth.asked.AlwaysSetCookie}
	if auth.asked.SignIn != "" {
		block.SignIn = b.signIn(l, auth.asked)
	}
	if escapes(at.uri) || slices.ContainsFunc(auth.headers, func(h questionHeader) bool { return escapes(h.Value) }) {
		b.print(l, model.EscapedURI, nil)
	}
	b.print(l, externalAuth, block)
}

// refuseOfRule closes a location whose host has no name to ask.
func (b *builder) refuseOfRule(l *model.Location, c *claim) {
	l.Return, l.Blocks = &model.Return{Code: 503}, nil
	problem := model.Problem{Object: c.owner.ref, Field: c.owner.prefixKey + authURL, Reason: model.InvalidValue, Denies: true,
		Text: fmt.Sprintf("want a host in place of $host on %s, which stands for many", hostWords(b.host.name))}
	if !slices.Contains(b.out.problems, problem) {
		b.out.problems = append(b.out.problems, problem)
	}
}

// signIn gives the name of the internal location that sends clients to sign in. It
// says what else the answers of the location say.
func (b *builder) signIn(l *model.Location, asked *annotations.ExternalAuth) string {
	redirect := &model.Location{Rule: l.Rule, Return: &model.Return{Code: 302, URL: signInURL(asked)}}
	for _, block := range l.Blocks {
		if block.Name == "cors" || block.Name == customHeaders {
			redirect.Blocks = append(redirect.Blocks, block)
		}
	}
	b.print(redirect, "external-auth-signin", signInBlock{asked.AlwaysSetCookie})
	if escapes(redirect.Return.URL) {
		b.print(redirect, model.EscapedURI, nil)
	}
	return b.internals.add(model.Named, "sign-in", "", redirect)
}

// signInURL adds what the client asked for, unless the URL says that itself.
func signInURL(asked *annotations.ExternalAuth) string {
	url, query, _ := strings.Cut(asked.SignIn, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); name == asked.RedirectParam && value != "" {
			return asked.SignIn
		}
	}
	if query != "" {
		query += "&"
	}
	return url + "?" + query + asked.RedirectParam + "=$pass_access_scheme://$best_http_host$escaped_request_uri"
}

func escapes(text string) bool { return strings.Contains(text, model.EscapedURI) }
