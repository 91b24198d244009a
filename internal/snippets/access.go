package snippets

import (
	"net/netip"
	"strings"
)

// access replaces the allow and deny of a block. nginx goes by the first one that matches,
// and Sluice asks the deny list first.
func (r *reader) access(nodes []*node, at scope) {
	rules, returns := accessRules(nodes)
	if len(rules) == 0 {
		return
	}
	if returns {
		for _, n := range rules {
			r.needlessFor(n, "nginx answers the return first")
		}
		return
	}
	lists, ok := listsOf(rules)
	ok = ok && r.Given["whitelist-source-range"]+r.Given["allowlist-source-range"]+r.Given["denylist-source-range"] == ""
	switch {
	case !ok:
		for _, n := range rules {
			r.leave(n, "want allowlist-source-range and denylist-source-range, of which the deny list comes first")
		}
	case len(lists.allowed) == 0 && lists.rest:
		for _, n := range rules {
			r.deny(n, at, "403")
		}
	case inexact(at, lists.name()) != "":
		for _, n := range rules {
			r.leave(n, inexact(at, lists.name()))
		}
	default:
		r.list(lists.denied, at, "denylist-source-range")
		if len(lists.allowed) > 0 {
			r.list(append(lists.allowed, lists.all...), at, "allowlist-source-range")
		}
	}
}

// accessRules returns the allow and deny of a block, and whether it has a return.
func accessRules(nodes []*node) (rules []*node, returns bool) {
	for _, n := range nodes {
		switch n.Name() {
		case "allow", "deny":
			rules = append(rules, n)
		case "return":
			returns = true
		}
	}
	return rules, returns
}

// lists are the addresses of allow and deny.
type lists struct {
	denied, allowed []*node
	// rest is set if all others are denied. all are the rules for all.
	rest bool
	all  []*node
}

// name returns the annotation that matters most.
func (l lists) name() string {
	if len(l.allowed) > 0 {
		return "allowlist-source-range"
	}
	return "denylist-source-range"
}

// listsOf reports false if a deny list and an allow list would not do the same.
func listsOf(rules []*node) (l lists, ok bool) {
	for _, n := range rules {
		address := n.argument(1)
		switch {
		case l.rest:
			return l, false
		case n.Name() == "deny" && address == "all":
			l.rest, l.all = true, append(l.all, n)
		case n.Name() == "allow" && address == "all":
			return l, false
		case !isNetwork(address) || len(n.Tokens) != 2:
			return l, false
		case n.Name() == "allow":
			l.allowed = append(l.allowed, n)
		case len(l.allowed) > 0:
			return l, false
		default:
			l.denied = append(l.denied, n)
		}
	}
	return l, l.rest || len(l.allowed) == 0
}

func isNetwork(text string) bool {
	_, err := netip.ParseAddr(text)
	_, netErr := netip.ParsePrefix(text)
	return err == nil || netErr == nil
}

// list replaces directives with one list of addresses.
func (r *reader) list(nodes []*node, at scope, name string) {
	var addresses []string
	for _, n := range nodes {
		if n.argument(1) != "all" {
			addresses = append(addresses, n.argument(1))
		}
	}
	for _, n := range nodes {
		if at.path != "" && !at.pattern && at.where == "" && n != nodes[0] {
			// A line for a path is written once.
			r.replaced(n, r.entry(OwnPrefix+"paths."+name, ""))
			continue
		}
		r.write(n, at, name, strings.Join(addresses, ","))
	}
}

// authRequest is for auth_request.
func (r *reader) authRequest(n *node, at scope) {
	switch {
	case n.argument(1) != "off":
		r.leave(n, "want auth-url, the URL of the server that authenticates")
	case r.Server || at.path != "" || r.Given["auth-url"] != "":
		r.leave(n, "this opens paths: give those an Ingress of their own without auth-url, or with enable-global-auth: \"false\"")
	default:
		r.write(n, at, "enable-global-auth", "false")
	}
}

// authBasic is for auth_basic.
func (r *reader) authBasic(n *node, _ scope) {
	if n.argument(1) == "off" {
		r.leave(n, "this opens paths: give those an Ingress of their own without auth-type")
		return
	}
	r.leave(n, "want auth-type: \"basic\" with the users in a Secret (auth-secret) and the text in auth-realm")
}

// accessLog is for access_log.
func (r *reader) accessLog(n *node, at scope) {
	if n.arguments() == "off" {
		r.write(n, at, "enable-access-log", "false")
		return
	}
	r.leave(n, "want the settings access-log-path and log-format-upstream of the controller, which hold for all hosts")
}
