package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/model"
)

// TrustFile is a file of trusted authorities, or of their revocation lists, that nginx.conf names. It must
// exist before nginx reads nginx.conf.
type TrustFile struct {
	// Path is absolute; the name is the hash of the content.
	Path string
	PEM  string
}

// upstreamView is the data of the template of an upstream block.
type upstreamView struct {
	Name     string
	Balancer string
	Blocks   insertion
}

// tlsView is TLS to the backends in the template of a location.
type tlsView struct {
	Name        string
	Verify      bool
	TrustedCA   string
	VerifyDepth int
	Ciphers     string
	Protocols   []string
}

// presentedView is a certificate for backends, with the Lua files that return its chain
// and its key.
type presentedView struct{ ID, Chain, Key string }

// presentedKey is the variable with the private key for a backend. Snippets must not read
// it.
const presentedKey = "presented_key"

// upstream is an upstream block: a transport, and the way in which the balancer finds the
// backend of a request. Each transport has its own, so that no request uses a connection
// that was verified in another way.
type upstream struct {
	model.Transport
	by by
}

// by is the way to find the backend of a request.
type by string

// The balancer reads $route, $backend or $uri. A location sets $backend if $route does not
// name the backend. A subrequest shares all variables of its parent but $uri, the path of
// its location.
const (
	byRoute by = ""
	byKey   by = "key"
	byURI   by = "uri"
)

// name names the upstream block: "sluice", "sluice_key", "sluice_<hash>" or
// "sluice_key_<hash>".
func (u upstream) name() string {
	name := "sluice"
	if u.by != byRoute {
		name += "_" + string(u.by)
	}
	if t := u.Transport; t != (model.Transport{}) {
		text := fmt.Sprintf("%t %t %q %d %s", t.TLS, t.Verify, t.Name, t.VerifyDepth, t.TrustedCA)
		if t.Certificate+t.Ciphers+t.Protocols != "" {
			text += fmt.Sprintf(" %q %q %q", t.Certificate, t.Ciphers, t.Protocols)
		}
		name += "_" + hexHash(text)[:12]
	}
	return name
}

// entry is the file that runs the balancer.
func (u upstream) entry() string {
	if u.by == byRoute {
		return "balancer"
	}
	return "balancer_" + string(u.by)
}

func hexHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func (e *Environment) trustFile(pem string) TrustFile {
	return TrustFile{Path: e.trustPath(pem), PEM: pem}
}

func (e *Environment) trustPath(pem string) string { return e.within("trust/" + hexHash(pem) + ".pem") }

// speak sets the upstream of a location. uri replaces that of the request, unless it is
// empty.
func (v *locationView) speak(to upstream, uri string, e *Environment) {
	t := to.Transport
	scheme := "http://"
	if t.TLS {
		scheme = "https://"
		v.TLS = &tlsView{Name: t.Name, Verify: t.Verify, VerifyDepth: t.VerifyDepth, Ciphers: t.Ciphers, Protocols: strings.Fields(t.Protocols)}
		if t.TrustedCA != "" {
			v.TLS.TrustedCA = e.trustPath(t.TrustedCA)
		}
	}
	if t.Certificate != "" {
		v.Presents = &presentedView{t.Certificate, e.entry("presented_chain"), e.entry("presented_key")}
	}
	v.Upstream, v.URI = scheme+to.name(), ""
	if uri != "" {
		v.URI = v.Upstream + uri
	}
}

// upstreams returns the upstreams in use, sorted by name. The one for plain HTTP by $route
// is always the first.
func upstreams(servers []*rendered) []upstream {
	names := map[upstream]string{{}: upstream{}.name()}
	for _, s := range servers {
		for _, u := range s.upstreams {
			if names[u] == "" {
				names[u] = u.name()
			}
		}
	}
	return slices.SortedFunc(maps.Keys(names), func(a, b upstream) int { return strings.Compare(names[a], names[b]) })
}

// trustFiles returns the files of upstreams and of servers, sorted.
func (e *Environment) trustFiles(all []upstream, servers []*rendered) []TrustFile {
	var files []TrustFile
	for _, t := range all {
		if t.TLS && t.TrustedCA != "" {
			files = append(files, e.trustFile(t.TrustedCA))
		}
	}
	for _, s := range servers {
		files = append(files, s.trust...)
	}
	slices.SortFunc(files, func(a, b TrustFile) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(files)
}
