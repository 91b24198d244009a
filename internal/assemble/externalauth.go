package assemble

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/syntax"
)

// The data of the blocks: in the protected location, and in the internal ones of
// questions and of sign-in.
type (
	externalAuthBlock struct {
		To      string                 `json:"to"`
		Headers []claim.AnsweredHeader `json:"headers,omitempty"`
		// SignIn is the name of the internal location that redirects clients, empty for none.
		SignIn          string `json:"signIn,omitempty"`
		AlwaysSetCookie bool   `json:"alwaysSetCookie,omitempty"`
	}
	questionBlock struct {
		Method  string                 `json:"method,omitempty"`
		Headers []claim.QuestionHeader `json:"headers"`
		Cache   authCache              `json:"cache,omitzero"`
		Snippet keys.QuestionSnippet   `json:"snippet,omitempty"`
		// Hashed is set if the snippet does not size the hash of the headers.
		Hashed bool `json:"hashed,omitempty"`
		// Logged is set if the access log has the questions.
		Logged bool `json:"logged,omitempty"`
		// TakesBodies is set if the snippet does not limit bodies.
		TakesBodies bool `json:"takesBodies,omitempty"`
	}
	// authCache is where answers are kept. Its Zone is empty for no cache. Keys and Size
	// bound it in memory and on disk.
	authCache struct {
		Zone, Keys, Size string
		Times            keys.CacheTimes
		// Bodies is set if answers can have bodies.
		Bodies bool
	}
	signInBlock struct{ AlwaysSetCookie bool }
	// takenBlock has directives that take headers of the answer.
	takenBlock struct {
		Text keys.Snippet `json:"text"`
		// Reset empties the variables before, as nobody is asked where another protection suffices.
		Reset keys.Snippet `json:"reset,omitempty"`
	}
)

// hashBucketSize is the directive by which nginx finds room for many long names.
const hashBucketSize = "proxy_headers_hash_bucket_size"

// TellsCookies implements model.Asking.
func (questionBlock) TellsCookies() bool { return true }

var _ model.Asking = questionBlock{}

// authenticate adds external authentication to a location, if its annotations ask for
// it.
func (b *builder) authenticate(l *model.Location, c *claim.Claim) {
	auth := c.Authentication()
	if auth == nil {
		return
	}
	at := auth.Target
	if auth.OfRule {
		if b.host.name == "" || b.host.wildcard() {
			b.refuseOfRule(l, c)
			return
		}
		at.Host = b.host.name
		if at.Transport.TLS {
			at.Transport.Name = at.Host
		}
	}
	snippet := keys.Snippet(auth.Question)
	question := questionBlock{
		Method: auth.Asked.Method, Headers: auth.Headers, Cache: cacheOf(l, auth), Snippet: auth.Question,
		Hashed: !snippet.Contains(hashBucketSize), Logged: b.Settings.Auth.AccessLog,
		TakesBodies: !snippet.Contains("client_max_body_size"),
	}
	use := forQuestions
	if snippet.Contains("proxy_buffer_size", "proxy_buffers", "proxy_busy_buffers_size", "proxy_max_temp_file_size") {
		use.blocks = nil // nginx takes each of these once
	}
	to := b.subrequest(l, c, &at, use, model.Block{Name: "external-auth-question", Data: question})
	block := externalAuthBlock{To: to, Headers: auth.Answered(), AlwaysSetCookie: auth.Asked.AlwaysSetCookie}
	if auth.Asked.SignIn != "" {
		block.SignIn = b.signIn(l, auth)
	}
	if escapes(at.URI) || slices.ContainsFunc(auth.Headers, func(h claim.QuestionHeader) bool { return escapes(h.Value) }) {
		l.Computed = append(l.Computed, escapedURI)
	}
	if auth.Keeps() {
		l.Computed = append(l.Computed, cacheKey(l, auth, to))
	}
	b.addBlock(l, claim.ExternalAuth, block)
	if auth.Takes != "" {
		b.addBlock(l, "external-auth-taken", takenBlock{auth.Takes, reset(auth.Takes.TakenFromAnswer())})
	}
}

// cacheOf returns the cache of the answers about a location. Each namespace has its own, so
// that none can drop the answers of others. The server of the settings has one, as large as
// that of ingress-nginx.
func cacheOf(l *model.Location, auth *claim.Authentication) authCache {
	switch asked := auth.Asked; {
	case !auth.Keeps():
		return authCache{}
	case asked.OfSettings():
		return authCache{"auth_cache", "10m", "128m", asked.CacheDuration, asked.Method != "HEAD"}
	default:
		return authCache{"auth_cache_" + l.Rule.Object.Namespace, "1m", "16m", asked.CacheDuration, asked.Method != "HEAD"}
	}
}

// cacheKey is a hash of the texts that an answer holds for: besides those that the user chose,
// all in which the questions of two requests can differ, except the URI. An answer must
// not hold for another client, so the credentials that every server may look at are among
// them. A user who names a cookie knows which of the cookies counts.
func cacheKey(l *model.Location, auth *claim.Authentication, to string) model.Computed {
	chosen := auth.Asked.CacheKey
	of := hashOf([]string{l.Rule.Object.String(), l.Rule.PathType, l.Rule.Path, to})
	texts := []string{of, "$host", "$request_method", "$ssl_client_fingerprint", "$http_authorization", chosen}
	if !claim.NamesCookie(chosen) {
		texts = append(texts, "$http_cookie")
	}
	texts = append(texts, auth.Varying...)
	key := model.Computed{Variable: "external_auth_key", By: "auth_cache_key", Arguments: []any{len(texts)}}
	for _, text := range texts {
		key.Arguments = append(key.Arguments, text)
	}
	return key
}

// refuseOfRule closes a location if the authentication server is the host of the rule
// and that is not one name.
func (b *builder) refuseOfRule(l *model.Location, c *claim.Claim) {
	l.Return, l.Blocks = &model.Return{Code: 503}, nil
	b.tellOnce(model.Problem{Object: c.Owner.Ref, Field: c.Authentication().Field, Reason: model.InvalidValue, Denies: true,
		Text: fmt.Sprintf("want a host in place of $host on %s, which stands for many", hostWords(b.host.name))})
}

// signIn adds the internal location that redirects clients to sign in, and returns its
// name.
func (b *builder) signIn(l *model.Location, auth *claim.Authentication) string {
	asked := auth.Asked
	redirect := derive(l, forSignIn)
	redirect.Return = &model.Return{Code: 302, URL: signInURL(asked)}
	b.addBlock(redirect, "external-auth-signin", signInBlock{asked.AlwaysSetCookie})
	if own := auth.TakenIn(asked.SignIn); len(own) > 0 {
		redirect.Return.Own = strings.Join(own, " ")
		b.addBlock(redirect, "external-auth-taken", takenBlock{Text: declared(own)})
	}
	if escapes(redirect.Return.URL) {
		redirect.Computed = append(redirect.Computed, escapedURI)
	}
	return b.internals.add(model.Named, "sign-in", "", redirect)
}

// declared makes variables known to nginx, also if the snippet that sets them is not printed: a
// path has another, or it is refused. Where nothing is asked, the directives do nothing. A snippet
// may also set them to a decoded path, in which a line end would begin another header of the redirect.
func declared(names []string) keys.Snippet {
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "auth_request_set $%s $upstream_http_%s;\nif ($%s ~ \"[[:cntrl:]]\") { return 400; }\n", name, name, name)
	}
	return keys.Snippet(text.String())
}

// reset empties variables. An X-Accel-Redirect can lead to a location from one of another Ingress,
// whose snippet has set them.
func reset(names []string) keys.Snippet {
	var text strings.Builder
	for _, name := range names {
		if ownName.MatchString(name) && !syntax.MaySet(name) {
			fmt.Fprintf(&text, "set $%s \"\";\n", name)
		}
	}
	return keys.Snippet(text.String())
}

// ownName matches what nginx reads as the name of a variable.
var ownName = regexp.MustCompile(`^[a-z0-9_]+$`)

// signInURL adds the requested URL as a parameter, unless the configured URL has that
// parameter.
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

// escapedURI is there for texts that escapes is true of.
var escapedURI = model.Computed{Variable: model.EscapedURI, By: "escaped_uri"}

func escapes(text string) bool { return strings.Contains(text, model.EscapedURI) }
