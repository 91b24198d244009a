package snippets

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// condition replaces an if whose block answers the request.
func (r *reader) condition(n *node, at scope) {
	c, ok := conditionOf(n)
	if !strings.HasSuffix(c.operator, "~") && !strings.HasSuffix(c.operator, "~*") {
		c.value = r.variables.expand(c.value) // nginx expands no variables in a pattern
	}
	family, _, _ := strings.Cut(c.variable, "_")
	switch {
	case !ok:
		r.leave(n, "")
	case c.variable == "request_uri" || c.variable == "uri" || c.variable == "document_uri":
		r.ifPath(n, c, at)
	case c.variable == "scheme" || c.variable == "https" || c.variable == "http_x_forwarded_proto" || c.variable == "http_x_forwarded_scheme":
		r.ifPlain(n, c, at)
	case c.variable == "host" || c.variable == "http_host" || c.variable == "server_name":
		r.ifHost(n, c, at)
	case c.variable == "remote_addr":
		r.ifAddress(n, c, at)
	case c.variable == "ssl_client_s_dn" || c.variable == "ssl_client_verify":
		r.ifCertificate(n, c, at)
	case c.variable == "request_method":
		r.leave(n, "no annotation tells methods apart")
	case family == "http":
		r.ifMatch(n, c, at, match{"match-headers", headerName(strings.TrimPrefix(c.variable, "http_"))})
	case family == "arg":
		r.ifMatch(n, c, at, match{"match-query", strings.TrimPrefix(c.variable, "arg_")})
	default:
		r.leave(n, "no annotation goes by $"+c.variable)
	}
}

// ifPath is for conditions about the path.
func (r *reader) ifPath(n *node, c condition, at scope) {
	inner := scope{path: c.value, exact: true}
	switch {
	case at.path != "" || c.operator == "=" && !isPlain(c.value):
		r.leave(n, "")
		return
	case c.operator == "~" || c.operator == "~*":
		inner = ofPattern(c.value, c.operator == "~*")
	case c.operator != "=":
		r.leave(n, "no annotation holds for all paths but some: want rules for these paths in an Ingress of its own")
		return
	}
	if c.variable == "request_uri" && mayRefuse(n.block) && (!inner.exact || !isDecoded(inner.path)) {
		r.leave(n, "$request_uri is as the client sent it, with /../, %2F and the query, and sluice.io/deny-paths compares the decoded path: it would let requests in that this refuses")
		return
	}
	r.done[n], inner.where = true, at.where
	r.block(n.block, inner)
}

// isDecoded reports whether nginx decodes a path as sent to the same path.
func isDecoded(sent string) bool {
	clean := path.Clean(sent)
	return !strings.Contains(sent, "%") && (sent == clean || sent == clean+"/")
}

// mayRefuse reports whether a block has an answer that is no redirect.
func mayRefuse(block []*node) bool {
	return slices.ContainsFunc(block, func(n *node) bool {
		return n.Name() == "return" && !redirects[n.argument(1)] && !isURL(n.argument(1))
	})
}

// ifPlain is for redirects of plain HTTP to HTTPS.
func (r *reader) ifPlain(n *node, c condition, at scope) {
	code, target := redirectOf(n.block)
	isPlain := c.operator == "=" && c.value == "http" || c.operator == "!=" && c.value == "https" || c.operator == "~" && strings.Trim(c.value, "^$") == "http"
	if c.variable == "https" {
		isPlain = c.operator == "!=" && c.value == "on" || c.operator == "=" && c.value == ""
	}
	target = strings.ReplaceAll(target, "$uri$is_args$args", "$request_uri")
	if code == "" || !isPlain || !ownHost.MatchString(target) {
		r.leave(n, "for a redirect to HTTPS want force-ssl-redirect: \"true\"")
		return
	}
	w := r.write(n, at, "force-ssl-redirect", "true")
	if w != nil && strings.HasPrefix(c.variable, "http_") {
		w.step("with the setting use-forwarded-headers of the controller, as a proxy in front of it ends TLS")
	}
}

// redirectOf returns the redirect that is all that a block does.
func redirectOf(block []*node) (code, target string) {
	if len(block) != 1 {
		return "", ""
	}
	n := block[0]
	switch {
	case n.Name() == "return" && redirects[n.argument(1)]:
		return n.argument(1), n.argument(2)
	case n.Name() == "rewrite" && n.argument(3) == "permanent":
		code = "301"
	case n.Name() == "rewrite" && n.argument(3) == "redirect":
		code = "302"
	}
	target = strings.TrimSuffix(n.argument(2), "?")
	switch n.argument(1) {
	case "^", "^.*$", ".*", "^(.*)$", "^/(.*)$", "^(.*)":
		return code, strings.NewReplacer("/$1", "$request_uri", "$1", "$request_uri").Replace(target)
	}
	return "", ""
}

// www matches the pattern of all hosts that begin with www, and finds the name of its group.
var www = regexp.MustCompile(`^\^www\\\.\((?:\?P?<(\w+)>)?\.[*+]\)\$?$`)

// ifHost is for redirects of hosts.
func (r *reader) ifHost(n *node, c condition, at scope) {
	code, target := redirectOf(n.block)
	rest, own := strings.CutSuffix(target, "$request_uri")
	_, to, _ := strings.Cut(rest, "://")
	group := www.FindStringSubmatch(c.value)
	pattern := strings.HasPrefix(c.operator, "~")
	switch {
	case at.path != "" || c.negated():
		r.leave(n, "want an Ingress of its own for each other host, with permanent-redirect")
	case code != "" && own && (pattern && group != nil && (to == "$1" || group[1] != "" && to == "$"+group[1]) || !pattern && (c.value == "www."+to || to == "www."+c.value)):
		if w := r.write(n, at, "from-to-www-redirect", "true"); w != nil {
			w.step("with a rule for only one of the two hosts")
		}
	case pattern || !hostPattern.MatchString(c.value) || !r.answers(n.block):
		r.leave(n, "want an Ingress of its own for this host")
	default:
		r.done[n] = true
		r.block(n.block, scope{where: joinWhere(at.where, "a copy of this Ingress with only the host "+c.value)})
	}
}

// answers reports whether all that a block does is to answer.
func (r *reader) answers(block []*node) bool {
	for _, n := range block {
		flag := n.argument(3)
		if n.Name() != "return" && (n.Name() != "rewrite" || flag != "permanent" && flag != "redirect") {
			return false
		}
	}
	return len(block) > 0
}

// refuses reports whether all that a block does is to refuse.
func refuses(block []*node) bool {
	return len(block) == 1 && block[0].Name() == "return" && len(block[0].argument(1)) == 3 && block[0].argument(1)[0] == '4'
}

func (r *reader) ifAddress(n *node, c condition, at scope) {
	name := map[string]string{"=": "denylist-source-range", "!=": "allowlist-source-range"}[c.operator]
	if name == "" || !refuses(n.block) || !isNetwork(c.value) || strings.Contains(c.value, "/") || r.Given["whitelist-source-range"] != "" {
		r.leave(n, "want allowlist-source-range or denylist-source-range")
		return
	}
	r.write(n, at, name, c.value)
}

// ifCertificate is for conditions about the certificate of the client.
func (r *reader) ifCertificate(n *node, c condition, at scope) {
	switch {
	case !refuses(n.block) || at.path != "" || r.Server:
		r.leave(n, "want auth-tls-verify-client or auth-tls-match-cn beside auth-tls-secret")
	case c.variable == "ssl_client_s_dn" && c.operator == "!~" && strings.HasPrefix(c.value, "CN="):
		r.write(n, at, "auth-tls-match-cn", c.value)
	default:
		r.leave(n, "want auth-tls-verify-client: \"on\" beside auth-tls-secret, which asks all clients of the host for a certificate")
	}
}

// match is a header or a parameter that an annotation goes by.
type match struct{ annotation, name string }

// line returns the line for a condition that is not negated, "" for none. Its pattern
// is for the whole value, that of an if for any part of it.
func (m match) line(c condition) string {
	switch {
	case strings.ContainsAny(c.value, "$\n") && !strings.HasSuffix(c.operator, "~") && !strings.HasSuffix(c.operator, "~*"), strings.Contains(c.value, "\n"):
		return ""
	case c.operator == "":
		return m.name + ": ~.+"
	case strings.HasSuffix(c.operator, "~*"):
		return m.name + ": ~(?i).*(?:" + c.value + ").*"
	case strings.HasSuffix(c.operator, "~"):
		return m.name + ": ~.*(?:" + c.value + ").*"
	case c.value == "":
		return m.name + ": ~.+"
	case strings.HasPrefix(c.value, "~"):
		return ""
	}
	return m.name + ": " + c.value
}

// ifMatch is for conditions about a header or a parameter. Requests that must have it stay
// with the Ingress; those that must not go to a second one.
func (r *reader) ifMatch(n *node, c condition, at scope, m match) {
	line := m.line(c)
	must := c.negated() != (c.value == "" && c.operator != "")
	own := OwnPrefix + m.annotation
	switch {
	case m.name == "Origin" && len(n.block) > 0 && r.onlyCORS(n.block):
		r.leave(n, wantCORS)
	case refuses(n.block) && m.differs(c, must) != "":
		r.leave(n, m.differs(c, must))
	case line == "" || at.path != "" || !r.answers(n.block):
		r.leave(n, "for another backend want a copy of this Ingress with "+own)
	case must && refuses(n.block):
		if w := r.add(n, at, own, line); w != nil {
			w.step(otherRequests(n.block[0].argument(1)))
		}
	case must:
		r.leave(n, "want "+own+" for the requests that have it, and a copy of this Ingress without it for the others")
	default:
		r.done[n] = true
		if given := strings.TrimSpace(r.Given[own]); given != "" {
			line = given + "\n" + line
		}
		r.block(n.block, scope{where: joinWhere(at.where, "a copy of this Ingress with "+own+": "+strconv.Quote(line))})
	}
}

// otherRequests is the step for the requests that a match does not take.
func otherRequests(code string) string {
	line, instead := "/*", ""
	switch code {
	case "403":
	case "404":
		line = "/* 404"
	default:
		instead = " with 403 in place of " + code
	}
	return fmt.Sprintf("and a copy of this Ingress without it and with sluice.io/deny-paths: %q, which refuses the other requests%s (not beside a canary: it would share that copy, and get no requests)", line, instead)
}

// differs returns why a match does not decide as a condition that refuses requests, "" if
// it does. must is set if the condition refuses requests without the match.
func (m match) differs(c condition, must bool) string {
	isPattern := strings.HasSuffix(c.operator, "~") || strings.HasSuffix(c.operator, "~*")
	switch {
	case m.annotation == "match-query":
		return "sluice.io/match-query does not refuse the same requests: $" + c.variable + " ignores the case of the name and takes the value as sent; match-query goes by the name as written and by the decoded value"
	case c.value != strings.TrimSpace(c.value):
		return "sluice.io/match-headers takes no value with a space at its beginning or end"
	case isPattern && !must && matchesEmpty(c.value):
		return "the pattern also matches a missing header, which sluice.io/match-headers never matches"
	}
	return ""
}

// matchesEmpty reports whether a pattern may match the empty text.
func matchesEmpty(pattern string) bool {
	compiled, err := regexp.Compile(pattern)
	return err != nil || compiled.MatchString("")
}
