package assemble

import (
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// balancingOf is how the requests of a path are spread over the endpoints of its
// backend; nil for in turn.
func balancingOf(c *claim.Claim) *model.Balancing {
	a := c.Annotations.Affinity
	if a.Type == "" {
		return nil
	}
	return &model.Balancing{Affinity: model.Affinity(a.Mode)}
}

// cookieOf is the cookie that the clients of a path get; nil for none.
func cookieOf(c *claim.Claim) *model.Cookie {
	a := c.Annotations.Affinity
	if a.Type == "" {
		return nil
	}
	cookie := &model.Cookie{
		Name: a.Cookie, ChangeOnFailure: a.OnFailure,
		Expires: string(a.Expires), MaxAge: string(a.MaxAge), Domain: a.Domain, Path: a.Path,
		SameSite: titled(a.SameSite), Conditional: a.Conditional, Secure: a.Secure,
	}
	if cookie.Path == "" {
		cookie.Path = cookiePath(c.Path)
	}
	return cookie
}

// withCookie has the clients of a claim get a cookie. The claims that want the same of a
// backend share what nginx is told.
func (b *builder) withCookie(c *claim.Claim, id BackendID, main *model.Proxy) *model.Proxy {
	cookie := cookieOf(c)
	if cookie == nil {
		return main
	}
	split := &model.Split{Main: main.Backend, Total: 1, Cookie: cookie}
	id.variant = "cookie-" + hashOf(split)
	return b.passSplit(id, main, split)
}

// remarkCookiePath reports a cookie for a path that is a pattern.
func (b *builder) remarkCookiePath(c *claim.Claim) {
	a := c.Annotations.Affinity
	if a.Type == "" || a.Path != "" || c == c.Owner.Fallback || !b.isPattern(c) || !strings.ContainsAny(c.Path, `\^$.|?*+()[]{}`) {
		return
	}
	b.out.problems = append(b.out.problems, model.Problem{Object: c.Owner.Ref, Field: c.Owner.PrefixKey + "session-cookie-path", Reason: model.NotFound,
		Text: "want it beside the path " + claim.Shown(c.Path) + ": browsers compare the path of a cookie letter by letter, so that they send none for a pattern"})
}

// titled writes an attribute as browsers do: "Lax".
func titled(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + strings.ToLower(word[1:])
}

// cookiePath is the path of a rule for the attribute Path. What would end the
// attribute ends the path: the cookie is then sent for more.
func cookiePath(path string) string {
	end := strings.IndexFunc(path, func(r rune) bool { return r < ' ' || r == ';' || r == ',' || r >= 0x7f })
	if end >= 0 {
		path = path[:end]
	}
	return path[:min(len(path), mostCookiePath)]
}

// mostCookiePath is more than browsers take of an attribute.
// Source: https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis, 5.6
const mostCookiePath = 1024
