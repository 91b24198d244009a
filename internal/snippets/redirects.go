package snippets

import (
	"regexp"
	"strings"
)

// answer replaces return CODE [URL].
func (r *reader) answer(n *node, at scope) {
	code, target := n.argument(1), r.variables.expand(n.argument(2))
	if isURL(code) && target == "" {
		code, target = "302", code
	}
	switch {
	case redirects[code] && target != "":
		r.redirect(n, at, code, target)
	case code == "403" || code == "404":
		r.deny(n, at, code)
	case target == "" && (code == "401" || code == "405" || code == "410" || code == "444"):
		r.deny(n, at, "403")
	default:
		r.leave(n, "no annotation answers with "+code)
	}
}

var redirects = map[string]bool{"301": true, "302": true, "303": true, "307": true, "308": true}

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "$scheme://")
}

// deny refuses the requests of a scope.
func (r *reader) deny(n *node, at scope, code string) {
	lines, ok := r.lines(at)
	switch {
	case at.pattern && losesWithoutCase(at.path):
		r.leave(n, "sluice.io/deny-paths ignores case, with which this pattern may match less")
		return
	case !ok:
		r.leave(n, "want sluice.io/deny-paths with these paths")
		return
	}
	for _, line := range lines {
		if code != "403" {
			line += " " + code
		}
		w := r.add(n, scope{where: at.where}, OwnPrefix+"deny-paths", line)
		if given := n.argument(1); n.Name() == "return" && given != code {
			w.step("which answers " + code + " in place of " + given)
		}
	}
}

// losesWithoutCase reports whether a pattern that ignores case may match less than one that
// does not: deny-paths ignores case.
func losesWithoutCase(pattern string) bool {
	return !strings.HasPrefix(pattern, "(?i)") && loses.MatchString(pattern)
}

// loses finds negations, and parts that give nothing back.
var loses = regexp.MustCompile(`\[\^\]?[^\]]*[A-Za-z\\]|\(\?<?!|\(\?[>(]|\[:|\\P|[*+?}]\+|\(\*`)

// ownHost matches a redirect to the same URL by HTTPS.
var ownHost = regexp.MustCompile(`^https://\$\{?(?:host|http_host|server_name|best_http_host)\}?\$\{?request_uri\}?$`)

// redirect answers the requests of a scope with a redirect.
func (r *reader) redirect(n *node, at scope, code, target string) {
	target = strings.NewReplacer("$http_host", "$host", "$best_http_host", "$host", "$server_name", "$host").Replace(target)
	switch {
	case at.path == "" && ownHost.MatchString(target):
		r.leave(n, "this redirects every request to itself: for plain HTTP want force-ssl-redirect: \"true\"")
	case at.path == "":
		r.redirectAll(n, at, code, target)
	case at.pattern:
		r.leave(n, "sluice.io/redirects takes paths, and no patterns")
	default:
		r.redirectPath(n, at, code, target)
	}
}

// redirectAll redirects all paths of an Ingress.
func (r *reader) redirectAll(n *node, at scope, code, target string) {
	if !redirectTarget.MatchString(target) {
		r.leave(n, "permanent-redirect takes a URL with $request_uri, $uri, $args, $is_args, $host and $scheme")
		return
	}
	name := "permanent-redirect"
	if code == "302" || code == "303" || code == "307" {
		name = "temporal-redirect"
	}
	if r.write(n, at, name, target) != nil && code != map[string]string{"permanent-redirect": "301", "temporal-redirect": "302"}[name] {
		r.write(n, at, name+"-code", code)
	}
}

var redirectTarget = regexp.MustCompile(`^(?:https?|\$scheme|\$\{scheme\})://(?:[A-Za-z0-9\-._~/:,?&=]|\$\{?(?:request_uri|uri|args|is_args|host|scheme)\}?)+$`)

// lineTarget matches a target in a line of sluice.io/redirects.
var lineTarget = regexp.MustCompile(`^(?:https?://[A-Za-z0-9.-]+(?::[0-9]+)?)?/?[A-Za-z0-9\-._~/:?&=%#]*\*?$`)

// redirectPath redirects a path, and all below it unless the scope is exact.
func (r *reader) redirectPath(n *node, at scope, code, target string) {
	target = strings.TrimSuffix(strings.TrimSuffix(target, "$is_args$args"), "?$args")
	target = strings.NewReplacer("$scheme://$host", "", "https://$host", "").Replace(target)
	from := []string{at.path}
	if rest, ok := strings.CutSuffix(target, "$request_uri"); ok {
		target = rest + at.path
		if !at.exact {
			from, target = []string{strings.TrimSuffix(at.path, "/") + "/*"}, rest+strings.TrimSuffix(at.path, "/")+"/*"
		}
	} else if !at.exact {
		from = append(from, strings.TrimSuffix(at.path, "/")+"/*")
	}
	if target == "" || !lineTarget.MatchString(target) || target == at.path {
		r.leave(n, "sluice.io/redirects takes a path or a URL without variables")
		return
	}
	for _, path := range from {
		r.redirectLine(n, at, path, target, code)
	}
}

func (r *reader) redirectLine(n *node, at scope, from, to, code string) {
	w := r.add(n, scope{where: at.where}, OwnPrefix+"redirects", from+" "+to+" "+code)
	if lead, all := strings.CutSuffix(from, "/*"); all && lead == at.path {
		w.step("for " + lead + " and all below it")
	}
}

// rewrite replaces rewrite PATTERN TARGET [FLAG].
func (r *reader) rewrite(n *node, at scope) {
	pattern, target, flag := n.argument(1), r.variables.expand(n.argument(2)), n.argument(3)
	code := map[string]string{"permanent": "301", "redirect": "302"}[flag]
	if code == "" && isURL(target) {
		code = "302"
	}
	if code == "" {
		r.leave(n, "for a path within the Ingress want rewrite-target, with what the path of the rule captures: path /x/(.*) and rewrite-target: \"/$1\" drop /x")
		return
	}
	target, bare := strings.CutSuffix(strings.NewReplacer("$scheme://$host", "", "https://$host", "", "$scheme://$http_host", "").Replace(target), "?")
	from, to, ok := asLine(pattern, target)
	switch {
	case ok && bare && !strings.Contains(n.argument(2), "$request_uri"):
		r.leave(n, "this takes the query away, and sluice.io/redirects keeps it: if that is no harm, want the same without the ? at the end")
	case ok && from == "/*" && isURL(to) && at.path == "":
		rest, below := strings.CutSuffix(to, "/*")
		r.redirectAll(n, at, code, rest+map[bool]string{true: "$request_uri", false: "$is_args$args"}[below])
	case ok && lineTarget.MatchString(to) && from != to:
		r.redirectLine(n, at, from, to, code)
	default:
		r.leave(n, "sluice.io/redirects takes paths, and no patterns")
	}
}

// captures matches a capture of the rest of a path at the end of a pattern.
var captures = regexp.MustCompile(`/?\((?:\.\*|\.\+|/\.\*|\.\*\?)\)\$?$`)

// asLine converts a pattern and its target to a line of sluice.io/redirects: the path that
// is redirected, which may end in *, and its target.
func asLine(pattern, target string) (from, to string, ok bool) {
	if (pattern == "^" || pattern == ".*" || pattern == "^.*$") && !strings.Contains(strings.TrimSuffix(target, "$request_uri"), "$") {
		if rest, all := strings.CutSuffix(target, "$request_uri"); all {
			return "/*", rest + "/*", true
		}
		return "/*", target, true
	}
	anchored, ok := strings.CutPrefix(pattern, "^")
	if !ok {
		return "", "", false
	}
	if at := captures.FindString(anchored); at != "" {
		lead, literal := pathOf(strings.TrimSuffix(anchored, at))
		rest, single := strings.CutSuffix(target, "$1")
		return lead + "/*", strings.TrimSuffix(rest, "/") + "/*", literal && single && !strings.Contains(rest, "$") && !strings.HasSuffix(lead, "/")
	}
	exact, ok := strings.CutSuffix(anchored, "$")
	if !ok {
		return "", "", false
	}
	exact = strings.TrimSuffix(exact, "/?")
	if inner, group := strings.CutPrefix(exact, "("); group && strings.HasSuffix(inner, ")") {
		inner = strings.TrimSuffix(inner, ")")
		target, exact = strings.Replace(target, "$1", inner, 1), inner
	}
	from, ok = pathOf(exact)
	return from, target, ok && from != "" && !strings.Contains(target, "$")
}

// pathOf returns the path that a pattern stands for. A point is meant as one.
func pathOf(pattern string) (string, bool) {
	pattern = strings.ReplaceAll(strings.ReplaceAll(pattern, `\.`, "."), ".", `\.`)
	text, ok := literal(pattern)
	return text, ok && (text == "" || isPlain(text))
}
