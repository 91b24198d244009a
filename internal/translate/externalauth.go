package translate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/syntax"
)

const (
	authURL         = "auth-url"
	globalAuthURL   = "global-auth-url"
	globalAuthCA    = "global-auth-ca"
	proxySetHeaders = "auth-proxy-set-headers"
)

// readExternalAuth reads the authentication server and the headers of questions.
func (t *translation) readExternalAuth(ing *owner, asked *annotations.ExternalAuth) *claim.Attached {
	if asked.URL == "" {
		return nil
	}
	at, ofRule, text := authTarget(asked.URL)
	switch {
	case text != "" && asked.OfSettings():
		return &claim.Attached{Denied: true} // remarkGlobalAuth reports it
	case text != "":
		return ing.refuse(authURL, model.InvalidValue, text)
	}
	at.Field = ing.field(authURL)
	if !asked.OfSettings() {
		if text := t.ownService(ing.Ref.Namespace, asked.URL, at); text != "" {
			return ing.refuse(authURL, model.Unsupported, text)
		}
	} else {
		at.Settings, _ = ing.Settings.Origin(globalAuthURL)
		at.Field = globalAuthURL
	}
	if refused := t.verifyAuth(ing, asked, at); refused != nil {
		return refused
	}
	at.Pool = poolOf(asked)
	auth := &claim.Authentication{Target: *at, Asked: asked, OfRule: ofRule, Varying: varying(at.URI, asked.RequestRedirect)}
	auth.Question, auth.Takes = asked.Snippet.Split()
	auth.Taken = slices.Concat(auth.Takes.TakenFromAnswer(), ing.Annotations.ConfigurationSnippet.Text.TakenFromAnswer())
	t.checkSignIn(ing, auth)
	ofSnippet, uncacheable := snippetVariables(string(auth.Question))
	auth.Varying, auth.Uncacheable = append(auth.Varying, ofSnippet...), uncacheable
	if uncacheable != "" && asked.CacheKey != "" && !asked.OfSettings() {
		ing.report(ing.field("auth-cache-key"), model.InvalidValue, uncacheableText("auth-snippet", uncacheable))
	}
	for _, header := range auth.Answered() {
		if framing(header.Name) {
			return ing.refuse("auth-response-headers", model.InvalidValue, "want no header that says where a request ends, whom it is for or how its connection goes on (got "+header.Name+")")
		}
	}
	auth.Headers = question(auth)
	size := 0
	if asked.ProxySetHeaders != "" {
		own, fault := t.entriesAt(ing, proxySetHeaders, asked.ProxySetHeaders, wrongQuestionHeader)
		if fault != nil {
			return ing.refused(fault)
		}
		for _, header := range own {
			auth.Set(claim.QuestionHeader(header))
			auth.Varying = append(auth.Varying, varying(header.Value)...)
			size += len(header.Name) + len(header.Value)
		}
	}
	return &claim.Attached{Auth: auth, Size: size}
}

// checkSignIn leaves out a sign-in page with a variable that nobody sets. nginx reads the names of
// variables in any case, so they are in lower case for all that follows.
func (t *translation) checkSignIn(ing *owner, auth *claim.Authentication) {
	for _, name := range syntax.Variables([]byte(auth.Asked.SignIn)) {
		if !keys.IsAuthVariable(name) && !slices.Contains(auth.Taken, name) {
			ing.report(ing.field("auth-signin"), model.InvalidValue, fmt.Sprintf("want variables such as $host and $escaped_request_uri, and those that auth_request_set sets to $upstream_http_NAME in a snippet of this Ingress (got $%s): clients get 401", name))
			without := *auth.Asked
			without.SignIn, auth.Asked = "", &without
			return
		}
	}
	if lower := snippetVariable.ReplaceAllStringFunc(auth.Asked.SignIn, strings.ToLower); lower != auth.Asked.SignIn {
		page := *auth.Asked
		page.SignIn, auth.Asked = lower, &page
	}
}

// poolOf returns the pool of connections that annotations ask for.
func poolOf(asked *annotations.ExternalAuth) model.Pool {
	switch {
	case asked.Keepalive == 0:
		return model.Pool{}
	case asked.KeepaliveRequests == 0 || asked.KeepaliveTimeout == 0:
		return model.Pool{Own: true}
	}
	return model.Pool{Own: true, Connections: asked.Keepalive, Requests: asked.KeepaliveRequests, Timeout: asked.KeepaliveTimeout}
}

var snippetVariable = regexp.MustCompile(`\$(?:\{[A-Za-z0-9_]+\}|[A-Za-z0-9_]+)`)

// snippetVariables returns the variables in a snippet that can be a part of the key of kept
// answers, each once, and the first one that cannot, empty for none.
func snippetVariables(snippet string) (variables []string, uncacheable string) {
	for _, variable := range snippetVariable.FindAllString(snippet, -1) {
		switch {
		case !keys.IsCacheKey(variable):
			return variables, variable
		case !slices.Contains(variables, variable):
			variables = append(variables, variable)
		}
	}
	return variables, ""
}

// ofQuestion is the part of a snippet that is in the question.
func ofQuestion(s keys.QuestionSnippet) string {
	question, _ := s.Split()
	return string(question)
}

// uncacheableText says that answers are not kept because of a variable of a snippet.
func uncacheableText(snippet, variable string) string {
	return fmt.Sprintf("want only variables of the request such as $http_x_user in %s beside it (got %s): answers are not kept", snippet, variable)
}

// varying returns the texts that have variables.
func varying(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return !strings.Contains(text, "$") })
}

// verifyAuth makes Sluice verify the certificate of an authentication server. It returns
// nil, or closed paths if it cannot.
func (t *translation) verifyAuth(ing *owner, asked *annotations.ExternalAuth, at *claim.Target) *claim.Attached {
	const key = "auth-ssl-secret"
	switch values := ing.Settings; {
	case asked.OfSettings() && (values.Broken(globalAuthCA) || values.Auth.Authorities != "" && !verifiable(at)):
		return &claim.Attached{Denied: true} // settings or remarkGlobalAuth report it
	case asked.OfSettings() && values.Auth.Authorities != "":
		at.Transport.Verify, at.Transport.TrustedCA = true, string(values.Auth.Authorities)
		return nil
	case asked.TrustSecret == "":
		return nil
	}
	if !verifiable(at) {
		return ing.refuse(key, model.InvalidValue, fmt.Sprintf("want an %s that begins with https:// and has the name of a host (got %s)", authURL, model.Quoted(asked.URL)))
	}
	name, err := snapshot.ParseReference(asked.TrustSecret, ing.Ref.Namespace)
	secret, fault := t.secretAt(ing, key, name, err)
	if fault != nil {
		return ing.refused(fault)
	}
	authorities, err := authoritiesOf(secret)
	if err != nil {
		return ing.refuse(key, model.InvalidValue, fmt.Sprintf("Secret %s: %v", name, err))
	}
	at.Transport.Verify, at.Transport.TrustedCA = true, authorities
	return nil
}

// verifiable reports whether the certificate of a target can be checked for its host.
func verifiable(at *claim.Target) bool { return at.Transport.TLS && at.Transport.Name != "" }

// remarkGlobalAuth reports settings of the server that cannot hold, once for all Ingresses.
func (t *translation) remarkGlobalAuth(s *settings.Settings) { t.report(globalAuthProblems(s)...) }

// globalAuthProblems returns the Problems of settings of the server that are valid one by one.
func globalAuthProblems(s *settings.Settings) []model.Problem {
	object, given := s.Origin(globalAuthURL)
	if !given || s.Auth.URL == "" {
		return nil
	}
	var problems []model.Problem
	if _, uncacheable := snippetVariables(ofQuestion(s.Auth.Snippet)); uncacheable != "" && s.Auth.CacheKey != "" {
		problems = append(problems, model.Problem{Object: object, Field: "global-auth-cache-key", Reason: model.InvalidValue, Text: uncacheableText("global-auth-snippet", uncacheable)})
	}
	switch at, _, text := authTarget(s.Auth.URL); {
	case text != "":
		problems = append(problems, model.Problem{Object: object, Field: globalAuthURL, Reason: model.InvalidValue, Denies: true, Text: text})
	case s.Auth.Authorities != "" && !verifiable(at):
		problems = append(problems, model.Problem{Object: object, Field: globalAuthURL, Reason: model.InvalidValue, Denies: true,
			Text: fmt.Sprintf("want a URL that begins with https:// and has the name of a host beside %s (got %s)", globalAuthCA, model.Quoted(s.Auth.URL))})
	}
	return problems
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

// wrongQuestionHeader returns the fault of a header of questions, "" for none.
func wrongQuestionHeader(header entry) string {
	switch {
	case !syntax.IsHeaderName(header.Name, syntax.LongestHeaderName) || framing(header.Name) && !strings.EqualFold(header.Name, "Host"):
		return fmt.Sprintf("want names of headers that say nothing of the connection, of at most 46 letters, digits, - and _, as its keys (got %s)", model.Quoted(header.Name))
	case !keys.IsHeaderText(header.Value) || len(header.Value) > syntax.LongestHeaderValue:
		return fmt.Sprintf("want 1 to %d printable ASCII characters, with variables such as $host, as the value of %s (got %s)", syntax.LongestHeaderValue, header.Name, model.Quoted(header.Value))
	}
	return ""
}

// framing reports whether a header frames a request, names its host, or controls its
// connection.
func framing(header string) bool {
	return strings.EqualFold(header, "Host") || keys.FramesResponse(header)
}
