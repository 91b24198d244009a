package snippets

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// scope is where directives hold.
type scope struct {
	// path is the path of a location, or the pattern if pattern is set; empty for all
	// paths. exact is set if nothing below it belongs to it.
	path           string
	exact, pattern bool
	// where is the Ingress that has to have the annotations, as the rest of a sentence;
	// empty for that of the snippet.
	where string
}

// scopeOf reads the head of a location.
func scopeOf(n *node) (scope, bool) {
	modifier, path := n.argument(1), n.argument(2)
	if len(n.Tokens) == 2 {
		modifier, path = "", n.argument(1)
		// nginx takes "=/x" as "= /x".
		if at := strings.IndexByte(path, '/'); at > 0 && path[:at] == "=" {
			modifier, path = "=", path[at:]
		}
	}
	switch {
	case len(n.Tokens) > 3 || path == "" || path[0] == '@':
		return scope{}, false
	case modifier == "=":
		return scope{path: path, exact: true}, isPlain(path)
	case modifier == "" || modifier == "^~":
		return scope{path: path}, isPlain(path)
	case modifier == "~" || modifier == "~*":
		return ofPattern(path, modifier == "~*"), true
	}
	return scope{}, false
}

// isPlain reports whether a path can be written in a rule or in a line of an annotation.
func isPlain(path string) bool { return plainPath.MatchString(path) }

var plainPath = regexp.MustCompile(`^/[A-Za-z0-9\-._~/%@:+]*$`)

// ofPattern returns the scope of a regular expression, which may be that of a single path.
// Case is ignored only by a true pattern.
func ofPattern(pattern string, anyCase bool) scope {
	text, ok := literal(strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$"))
	if ok && strings.HasPrefix(pattern, "^/") && !anyCase && isPlain(text) {
		return scope{path: text, exact: strings.HasSuffix(pattern, "$")}
	}
	if anyCase {
		pattern = "(?i)" + pattern
	}
	return scope{path: pattern, pattern: true}
}

// literal returns the text that a pattern without operators matches.
func literal(pattern string) (string, bool) {
	var text strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch ch := pattern[i]; {
		case ch == '\\' && i+1 < len(pattern) && strings.IndexByte(`./-+?$^()[]{}|*\`, pattern[i+1]) >= 0:
			i++
			text.WriteByte(pattern[i])
		case strings.IndexByte(`\.+?$^()[]{}|*`, ch) >= 0:
			return "", false
		default:
			text.WriteByte(ch)
		}
	}
	return text.String(), true
}

// lines returns the paths of the scope as the lines of deny-paths name them. Those of the
// whole Ingress are its paths; ok is false if they cannot be named.
func (r *reader) lines(at scope) (paths []string, ok bool) {
	switch {
	case at.pattern:
		return []string{"~" + at.path}, !strings.ContainsAny(at.path, " \t\n")
	case at.exact:
		return []string{at.path}, true
	case strings.HasSuffix(at.path, "/"):
		return below(at.path), true
	case at.path != "":
		// The location also has /admins if its path is /admin.
		return []string{"~^" + regexp.QuoteMeta(at.path)}, true
	case !r.Server && at.where == "" && slices.ContainsFunc(r.Paths, func(path string) bool { return !isPlain(path) }):
		return nil, false
	}
	// The annotation is for the requests of its Ingress alone.
	return []string{"/*"}, r.Given["use-regex"] != "true" && r.Given["rewrite-target"] == ""
}

// inexact returns why no annotation of a single path refuses all that a directive in a
// location refuses, "" if one does.
func inexact(at scope, name string) string {
	if name = strings.TrimPrefix(name, OwnPrefix); !protecting[name] {
		return ""
	}
	switch {
	case at.pattern:
		return "no annotation does the same: a longer path of the host comes before a pattern in the path of an Ingress, and not before this location. " + name + " is for all paths of an Ingress"
	case at.path == "" || at.exact || strings.HasSuffix(at.path, "/"):
		return ""
	}
	return fmt.Sprintf("no annotation does the same: this location also has %sx and %s.php, but a path of type Prefix has only %s and all below it. If that is enough, want sluice.io/paths.%s and a rule for the path", at.path, at.path, at.path, name)
}

// protecting are the annotations of single paths that decide who may reach a path.
var protecting = map[string]bool{"allowlist-source-range": true, "denylist-source-range": true, "satisfy": true}

// below returns the lines for a path and all below it.
func below(path string) []string {
	switch {
	case path == "/":
		return []string{"/*"}
	case strings.HasSuffix(path, "/"):
		return []string{path + "*"}
	}
	return []string{path, path + "/*"}
}

// written is an annotation that replaces directives.
type written struct {
	name, where string
	values      []string
	nodes       []*node
	// steps are further steps that are needed.
	steps []string
}

func (w *written) also() string { return strings.Join(w.steps, ", ") }

// step adds a further step.
func (w *written) step(text string) {
	if text != "" && !slices.Contains(w.steps, text) {
		w.steps = append(w.steps, text)
	}
}

// write replaces a directive with an annotation of one value. It returns nil if there is
// another value already.
func (r *reader) write(n *node, at scope, name, value string) *written {
	bare := strings.TrimPrefix(name, OwnPrefix)
	if why := inexact(at, name); why != "" {
		r.leave(n, why)
		return nil
	}
	switch {
	case at.pattern:
		at.where = joinWhere(at.where, onlyPath(at))
	case at.path != "" && at.where == "":
		return r.writeForPath(n, at, bare, value)
	case at.path != "":
		at.where = joinWhere(at.where, onlyPath(at))
	}
	if r.Given[name] == value && at.where == "" {
		r.needlessFor(n, "the annotation "+name+" says it")
		return nil
	}
	if given, ok := r.Given[name]; ok && at.where == "" && given != value {
		r.leave(n, fmt.Sprintf("the Ingress already has %s: decide between the two values, %s here", name, strconv.Quote(value)))
		return nil
	}
	w := r.entry(name, at.where)
	if len(w.values) > 0 && w.values[0] != value {
		r.leave(n, fmt.Sprintf("another line sets %s to %s", name, strconv.Quote(w.values[0])))
		return nil
	}
	w.values = []string{value}
	return r.replaced(n, w)
}

func joinWhere(where, more string) string {
	if where == "" {
		return more
	}
	return where + ", and " + more
}

// writeForPath replaces a directive of a location with a line of an annotation for single
// paths.
func (r *reader) writeForPath(n *node, at scope, bare, value string) *written {
	name := OwnPrefix + "paths." + bare
	w := r.entry(name, "")
	r.present(w)
	if strings.Contains(value, "\n") || slices.ContainsFunc(w.values, func(line string) bool { return strings.HasPrefix(line, at.path+": ") }) {
		r.leave(n, fmt.Sprintf("an annotation gives %s one value for %s: want a copy of this Ingress with only this path", bare, at.path))
		return nil
	}
	w.values = append(w.values, at.path+": "+value)
	switch {
	case protecting[bare] && !at.exact:
		w.step("with a rule of type Prefix for the path " + at.path)
	case !slices.Contains(r.Paths, at.path):
		w.step("with a rule for the path " + at.path)
	}
	return r.replaced(n, w)
}

// add replaces a directive with a line of an annotation of several lines.
func (r *reader) add(n *node, at scope, name, line string) *written {
	w := r.entry(name, whereOf(at))
	r.present(w)
	if !slices.Contains(w.values, line) {
		w.values = append(w.values, line)
	}
	return r.replaced(n, w)
}

// whereOf says for which Ingress or path an annotation is.
func whereOf(at scope) string {
	if at.pattern || at.path != "" {
		return joinWhere(at.where, onlyPath(at))
	}
	return at.where
}

// linesOf returns the lines that an annotation has so far, with those of the Ingress.
func (r *reader) linesOf(name string, at scope) []string {
	where := whereOf(at)
	if w := r.written[name+"\n"+where]; w != nil && len(w.values) > 0 {
		return w.values
	}
	if given := strings.TrimSpace(r.Given[name]); where == "" && given != "" {
		return strings.Split(given, "\n")
	}
	return nil
}

// present begins an annotation with the lines that the Ingress has already.
func (r *reader) present(w *written) {
	if given := strings.TrimSpace(r.Given[w.name]); given != "" && len(w.values) == 0 {
		w.values = strings.Split(given, "\n")
		w.step("with the present lines in it")
	}
}

func (r *reader) entry(name, where string) *written {
	key := name + "\n" + where
	w := r.written[key]
	if w == nil {
		w = &written{name: name, where: where}
		r.written[key] = w
		r.order = append(r.order, key)
	}
	return w
}

func (r *reader) replaced(n *node, w *written) *written {
	r.done[n] = true
	all := r.Server && !strings.HasPrefix(w.name, OwnPrefix+"paths.") && !ofHost[strings.TrimPrefix(w.name, OwnPrefix)]
	switch {
	case all && w.where == "":
		w.step("in each Ingress of the host, for which the server-snippet holds")
	case all && !strings.Contains(w.where, onlyThePath):
		w.step("and the same for each Ingress of the host, for which the server-snippet holds")
	}
	w.nodes = append(w.nodes, n)
	if need := needs[strings.TrimPrefix(strings.TrimPrefix(w.name, OwnPrefix), "paths.")]; need != "" && r.Given[need] == "" {
		w.step("beside " + need)
	}
	return w
}

// needs are annotations without which others have no effect.
var needs = map[string]string{
	"auth-response-headers": "auth-url", "auth-tls-error-page": "auth-tls-secret", "auth-tls-match-cn": "auth-tls-secret", "auth-tls-verify-depth": "auth-tls-secret",
	"modsecurity-snippet": "enable-modsecurity", "modsecurity-transaction-id": "enable-modsecurity",
	"proxy-ssl-ciphers": "proxy-ssl-secret", "proxy-ssl-name": "proxy-ssl-secret", "proxy-ssl-protocols": "proxy-ssl-secret",
	"proxy-ssl-server-name": "proxy-ssl-secret", "proxy-ssl-verify": "proxy-ssl-secret", "proxy-ssl-verify-depth": "proxy-ssl-secret",
}

// ofHost are annotations that hold for a whole host, whichever Ingress has them.
var ofHost = map[string]bool{"from-to-www-redirect": true, "redirects": true, "ssl-ciphers": true, "ssl-prefer-server-ciphers": true}

const onlyThePath = " only the path "

// onlyPath is the Ingress that an annotation needs if it can be given for no single path.
// It has the protection of the present one.
func onlyPath(at scope) string {
	if at.pattern {
		return "a copy of this Ingress with use-regex: \"true\" and" + onlyThePath + quotedPath(at.path)
	}
	return "a copy of this Ingress with" + onlyThePath + at.path
}

// quotedPath returns a pattern as the path of a rule, which nginx compares from the
// beginning of a URI and in any case.
func quotedPath(pattern string) string {
	pattern = strings.TrimPrefix(pattern, "(?i)")
	if rest, ok := strings.CutPrefix(pattern, "^"); ok {
		return strconv.Quote(rest)
	}
	return strconv.Quote("/.*" + pattern)
}
