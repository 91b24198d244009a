package compare

import (
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/route"
)

// hosts makes requests for a path by the other names of a host and by names near it.
func (m *maker) hosts(s site, target string, a *annotations.Annotations) {
	by := func(round int, host, why string) {
		r := s.request(target, why)
		r.Host = host
		m.add(round, r)
	}
	root := s.request("/", "the root of the host")
	m.inAllSchemes(roundSlash, root)
	compressed := s.request(target, "a client that takes compressed answers")
	compressed.Headers = []route.Header{{Name: "Accept-Encoding", Value: "gzip, br"}}
	m.add(roundNear, compressed)
	by(roundNear, strings.ToUpper(s.host), "the host in upper case")
	by(roundFar, s.host+".", "the host with a dot behind it")
	by(roundFar, s.host+":80", "the host with a port")
	if domain, wildcard := strings.CutPrefix(s.rule, "*."); wildcard {
		by(roundSlash, "two."+stranger+"."+domain, "a name of two labels for the wildcard")
		by(roundSlash, domain, "the domain of the wildcard")
	} else if s.rule != "" {
		by(roundNear, stranger+"."+s.host, "a name below the host")
	}
	for _, alias := range a.ServerAlias.Names {
		for _, name := range m.aliasNames(alias) {
			by(roundSlash, name, "the alias "+alias)
		}
	}
	if a.WWWRedirect.Enabled {
		bare, isWWW := strings.CutPrefix(s.host, "www.")
		if !isWWW {
			bare = "www." + s.host
		}
		r := s.request(target, "from-to-www-redirect")
		r.Host = bare
		m.inAllSchemes(roundSlash, r)
	}
}

// aliasNames returns names that an alias takes.
func (m *maker) aliasNames(alias string) []string {
	if pattern, is := strings.CutPrefix(alias, "~"); is {
		var names []string
		for _, name := range m.examples(pattern, 2) {
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" {
				names = append(names, name)
			}
		}
		return names
	}
	return []string{strings.Replace(alias, "*", stranger, 1)}
}

// unknownHost makes requests for a host that no rule has.
func (m *maker) unknownHost() {
	for _, target := range []string{"/", "/" + stranger} {
		m.inAllSchemes(roundWritten, Request{Host: "unknown." + stranger + ".example", Target: target, Why: "a host that no rule has"})
	}
}
