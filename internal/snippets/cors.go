package snippets

import (
	"regexp"
	"strings"
)

// cors are the headers for scripts of other origins in a block, by their names in lower
// case without access-control-.
type cors struct {
	values map[string]string
	nodes  []*node
	// preflight is set if the block answers OPTIONS.
	preflight bool
}

// crossOrigin replaces the answers to preflight requests with enable-cors. Headers alone
// stay headers.
func (r *reader) crossOrigin(nodes []*node, at scope) {
	c := cors{values: map[string]string{}}
	for _, n := range nodes {
		condition, ok := conditionOf(n)
		switch {
		case n.Name() == "if" && ok && condition.variable == "request_method" && !condition.negated() && r.onlyCORS(n.block):
			c.nodes = append(c.nodes, n)
			c.preflight = c.preflight || strings.Contains(condition.value, "OPTIONS") && returns(n.block)
			for _, inner := range n.block {
				c.read(inner)
			}
		case c.read(n):
			c.nodes = append(c.nodes, n)
		}
	}
	if !c.preflight {
		return
	}
	annotations, ok := c.annotations()
	for _, n := range c.nodes {
		if !ok {
			r.leave(n, wantCORS)
			continue
		}
		r.done[n] = true
	}
	for _, a := range annotations {
		if ok {
			if w := r.write(c.nodes[0], at, a[0], a[1]); w != nil {
				w.nodes = c.nodes
			}
		}
	}
}

const wantCORS = "want enable-cors: \"true\" with lists in cors-allow-origin, cors-allow-methods and cors-allow-headers"

const corsPrefix = "access-control-"

// read takes a header for scripts; it reports false for other directives.
func (c *cors) read(n *node) bool {
	name, value := n.argument(1), n.argument(2)
	switch n.Name() {
	case "more_set_headers":
		if len(n.Tokens) != 2 {
			return false
		}
		name, value, _ = strings.Cut(name, ":")
	case "add_header":
	default:
		return false
	}
	key, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(name)), corsPrefix)
	if ok && c.values[key] == "" {
		c.values[key] = strings.TrimSpace(value)
	}
	return ok
}

// onlyCORS reports whether a block does nothing but answer a preflight request.
func (r *reader) onlyCORS(nodes []*node) bool {
	for _, n := range nodes {
		name := strings.ToLower(n.argument(1))
		header := n.Name() == "add_header" || n.Name() == "more_set_headers"
		switch {
		case header && (strings.HasPrefix(name, corsPrefix) || strings.HasPrefix(name, "content-")):
		case n.Name() == "return" && (name == "204" || name == "200") && n.argument(2) == "":
		default:
			return false
		}
	}
	return true
}

func returns(nodes []*node) bool {
	for _, n := range nodes {
		if n.Name() == "return" {
			return true
		}
	}
	return false
}

var (
	originPattern = regexp.MustCompile(`^(?:\*|https?://[A-Za-z0-9.*-]+(?::[0-9]+)?)$`)
	wordsPattern  = regexp.MustCompile(`^[A-Za-z0-9_-]+(?:, ?[A-Za-z0-9_-]+)*$`)
	agePattern    = regexp.MustCompile(`^[0-9]{1,9}$`)
)

// annotations returns the names and values that do the same. What a value leaves out must
// not get the default, which admits more.
func (c *cors) annotations() (found [][2]string, ok bool) {
	origin, methods, headers := c.values["allow-origin"], c.values["allow-methods"], c.values["allow-headers"]
	if !originPattern.MatchString(origin) || !wordsPattern.MatchString(methods) || !wordsPattern.MatchString(headers) {
		return nil, false
	}
	credentials := "false"
	if c.values["allow-credentials"] == "true" && origin != "*" {
		credentials = "true" // Browsers refuse credentials for all origins.
	}
	found = [][2]string{{"enable-cors", "true"}, {"cors-allow-origin", origin}, {"cors-allow-methods", methods}, {"cors-allow-headers", headers}, {"cors-allow-credentials", credentials}}
	if exposed := c.values["expose-headers"]; wordsPattern.MatchString(exposed) {
		found = append(found, [2]string{"cors-expose-headers", exposed})
	}
	if age := c.values["max-age"]; agePattern.MatchString(age) {
		found = append(found, [2]string{"cors-max-age", age})
	}
	return found, true
}
