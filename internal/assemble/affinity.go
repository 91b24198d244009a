package assemble

import (
	"fmt"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// balancingOf returns the balancing of the backend of a path, nil for picking in turn.
func balancingOf(c *claim.Claim) *model.Balancing {
	b := ownBalancing(c, transportOf(c))
	if a := c.Annotations.Affinity; a.Type != "" {
		b.follow(model.Affinity(a.Mode))
	}
	return b.orNil()
}

// balancingOfShare returns the balancing of the backend of a canary: the affinity of the
// path that it shares, unless the canary declines it, and otherwise its own.
func balancingOfShare(can, main *claim.Claim) *model.Balancing {
	b := ownBalancing(can, transportOf(main))
	if a := main.Annotations.Affinity; a.Type != "" && !can.Annotations.Canary.IsLegacy() {
		b.follow(model.Affinity(a.Mode))
	}
	return b.orNil()
}

// balancing is a Balancing that is being made.
type balancing model.Balancing

// ownBalancing returns what a claim asks for besides affinity. A hash takes precedence over
// an algorithm. The transport is that of the requests to the backend.
func ownBalancing(c *claim.Claim, to model.Transport) *balancing {
	a := c.Annotations
	b := &balancing{Hash: a.Hash.Key(), Ejection: a.Ejection.Limits(), ServiceAddress: a.ServiceUpstream.Enabled, Check: checkOf(a.HealthCheck, to)}
	if b.Hash == nil {
		b.Algorithm, b.SlowStart = a.LoadBalance.Work(), a.SlowStart.Seconds
	}
	return b
}

// transportOf returns the connection to the backend of a claim.
func transportOf(c *claim.Claim) model.Transport {
	return c.Owner.AttachedTo(c.Annotations.Transport).Transport
}

// remarkUnchecked reports the health check of a claim that its endpoints cannot get. main is
// the claim whose requests they answer: that of a canary is another one.
func (b *builder) remarkUnchecked(c, main *claim.Claim) {
	to := transportOf(main)
	if c.Annotations.HealthCheck.Path == "" || checkOf(c.Annotations.HealthCheck, to) != nil {
		return
	}
	b.tellOnce(model.Problem{Object: c.Owner.Ref, Field: c.Annotations.Field(c.Owner.PrefixKey, "health-check-path"), Reason: model.Unsupported,
		Text: fmt.Sprintf("want a port on which the endpoints answer by HTTP in %s, because their own port has backend-protocol: %s (got none): they are not checked",
			annotations.FieldOf(c.Owner.PrefixKey, "health-check-port"), strings.ToUpper(main.Annotations.Transport.Protocol))})
}

// checkOf returns the health check of endpoints with a transport, nil for none.
func checkOf(asked *annotations.HealthCheck, to model.Transport) *model.Check {
	if asked.Path == "" || asked.Port == 0 && !annotations.Checkable(to.Protocol) {
		return nil
	}
	c := &model.Check{Path: asked.Path, Host: asked.Host, Port: asked.Port, From: asked.Status.From, To: asked.Status.To,
		Interval: asked.Interval, Timeout: asked.Timeout, Healthy: asked.Healthy, Unhealthy: asked.Unhealthy}
	if c.Port == 0 && to.TLS && to.Protocol == "" {
		c.TLS, c.Name = true, to.Name
	}
	return c
}

// follow lets clients stay with their endpoints, which takes precedence.
func (b *balancing) follow(a model.Affinity) {
	b.Affinity, b.Hash, b.Algorithm = a, nil, ""
}

func (b *balancing) orNil() *model.Balancing {
	if *b == (balancing{}) {
		return nil
	}
	return (*model.Balancing)(b)
}

// cookieOf returns the cookie that clients of a path get, nil for none.
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

// withCookie gives the clients of a claim a cookie. Claims with the same cookie and
// backend share a split.
func (b *builder) withCookie(c *claim.Claim, id BackendID, main *model.Proxy) *model.Proxy {
	cookie := cookieOf(c)
	if cookie == nil {
		return main
	}
	split := &model.Split{Main: main.Backend, Total: 1, Cookie: cookie}
	id.variant = "cookie-" + hashOf(split)
	return b.passSplit(id, main, split, c)
}

// remarkCookiePath reports a cookie whose path would be a pattern.
func (b *builder) remarkCookiePath(c *claim.Claim) {
	a := c.Annotations.Affinity
	if a.Type == "" || a.Path != "" || c == c.Owner.Fallback || !b.isPattern(c) || !strings.ContainsAny(c.Path, `\^$.|?*+()[]{}`) {
		return
	}
	b.tell(model.Problem{Object: c.Owner.Ref, Field: c.Owner.PrefixKey + "session-cookie-path", Reason: model.NotFound,
		Text: "want it beside the path " + claim.Shown(c.Path) + ": browsers compare the path of a cookie letter by letter, so that they send none for a pattern"})
}

// titled writes an attribute as browsers expect it, such as "Lax".
func titled(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + strings.ToLower(word[1:])
}

// cookiePath turns the path of a rule into the attribute Path. A character that would
// end the attribute ends the path, so that browsers send the cookie for more paths.
func cookiePath(path string) string {
	end := strings.IndexFunc(path, func(r rune) bool { return r < ' ' || r == ';' || r == ',' || r >= 0x7f })
	if end >= 0 {
		path = path[:end]
	}
	return path[:min(len(path), mostCookiePath)]
}

// mostCookiePath is the longest attribute, in bytes, that browsers accept.
// Source: https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis, 5.6
const mostCookiePath = 1024
