package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const (
	authURL         = "auth-url"
	proxySetHeaders = "auth-proxy-set-headers"
)

// readExternalAuth reads the authentication server and the headers of questions.
func (t *translation) readExternalAuth(ing *owner, asked *annotations.ExternalAuth) *claim.Attached {
	if asked.URL == "" {
		return nil
	}
	at, ofRule, text := authTarget(asked.URL)
	if text != "" {
		return ing.refuse(authURL, model.InvalidValue, text)
	}
	at.Field = ing.field(authURL)
	auth := &claim.Authentication{Target: *at, Asked: asked, OfRule: ofRule}
	for _, header := range auth.Answered() {
		if framing(header.Name) {
			return ing.refuse("auth-response-headers", model.InvalidValue, "want no header that says where a request ends, whom it is for or how its connection goes on (got "+header.Name+")")
		}
	}
	auth.Headers = question(auth)
	size := 0
	if asked.ProxySetHeaders != "" {
		own, reason, text := t.questionHeaders(ing, asked.ProxySetHeaders)
		if text != "" {
			return ing.refuse(proxySetHeaders, reason, text)
		}
		for _, header := range own {
			auth.Set(header)
			size += len(header.Name) + len(header.Value)
		}
	}
	return &claim.Attached{Auth: auth, Size: size}
}

// authTarget parses auth-url. The variable $host may be its host.
func authTarget(asked string) (t *claim.Target, ofRule bool, text string) {
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
		t.Header = "$host"
	}
	if !strings.HasPrefix(t.URI, "/") {
		t.URI = "/" + t.URI
	}
	return t, ofRule, ""
}

// question returns the headers of all questions, which are those of ingress-nginx. It
// drops those in which a client could pretend something.
func question(a *claim.Authentication) []claim.QuestionHeader {
	originalURI, scheme := "", ""
	if a.Asked.Method != "" {
		originalURI, scheme = "$request_uri", "$pass_access_scheme"
	}
	var headers []claim.QuestionHeader
	for _, header := range [][2]string{
		{"Host", a.Header}, {"Connection", ""}, {"Upgrade", ""}, {"Content-Length", ""}, {"Transfer-Encoding", ""},
		{"X-Original-URL", "$scheme://$best_http_host$request_uri"}, {"X-Original-URI", originalURI}, {"X-Original-Method", "$request_method"},
		{"X-Auth-Request-Redirect", cmp.Or(a.Asked.RequestRedirect, "$request_uri")}, {"X-Sent-From", "nginx-ingress-controller"},
		{"X-Scheme", scheme}, {"X-Forwarded-Host", ""}, {"X-Forwarded-Port", ""}, {"X-Forwarded-Proto", ""}, {"X-Forwarded-Scheme", ""},
	} {
		headers = append(headers, claim.QuestionHeader{Name: header[0], Value: header[1]})
	}
	return headers
}

// questionHeaders reads headers of questions from a ConfigMap; text is the reason if it
// cannot.
func (t *translation) questionHeaders(ing *owner, reference string) (headers []claim.QuestionHeader, reason model.Reason, text string) {
	name, err := snapshot.ParseReference(reference, ing.Ref.Namespace)
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
			text = fmt.Sprintf("want names of headers that say nothing of the connection, of at most 46 letters, digits, - and _, as its keys (got %s)", model.Quoted(header))
		case !keys.IsHeaderText(value) || len(value) > longestValue:
			text = fmt.Sprintf("want 1 to %d printable ASCII characters, with variables such as $host, as the value of %s (got %s)", longestValue, header, model.Quoted(value))
		}
		if text != "" {
			return nil, model.InvalidValue, fmt.Sprintf("ConfigMap %s: %s", name, text)
		}
		headers = append(headers, claim.QuestionHeader{Name: header, Value: value})
	}
	return headers, "", ""
}

// framing reports whether a header frames a request, names its host, or controls its
// connection.
func framing(header string) bool {
	return strings.EqualFold(header, "Host") || slices.Contains(ofTheConnection, strings.ToLower(header))
}
