package render

import (
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
	// Pool is set for a pool of its own; Blocks print that of the settings.
	Pool   model.Pool
	Blocks insertion
}

// tlsView is TLS to the backends in the template of a location.
type tlsView struct {
	Name        string
	Verify      bool
	TrustedCA   string
	VerifyDepth int
	Ciphers     string
	Protocols   []string
	// Presents is set if nginx presents a certificate to the backend.
	Presents bool
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
	pool model.Pool
	by   by
	// share names the pool of the settings that a backend belongs to (see shareOf); empty for a
	// pool of its own, and if no connection is kept.
	share string
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

// name names the upstream block: "sluice_0", "sluice_key_0", "sluice_<hash>_0" or
// "sluice_key_<hash>_0".
func (u upstream) name() string {
	name := "sluice"
	if u.by != byRoute {
		name += "_" + string(u.by)
	}
	if t := u.Transport; t != (model.Transport{}) {
		text := fmt.Sprintf("%t %t %q %d %s%s", t.TLS, t.Verify, t.Name, t.VerifyDepth, t.TrustedCA, t.Protocol)
		if t.Certificate+t.Ciphers+t.Protocols != "" {
			text += fmt.Sprintf(" %q %q %q", t.Certificate, t.Ciphers, t.Protocols)
		}
		name += "_" + model.SHA256(text)[:12]
	}
	if p := u.pool; p != (model.Pool{}) {
		name += fmt.Sprintf("_keep_%d_%d_%d", p.Connections, p.Requests, p.Timeout)
	}
	if u.share != "" {
		name += "_" + u.share
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

func (e *Environment) trustFile(pem string) TrustFile {
	return TrustFile{Path: e.trustPath(pem), PEM: pem}
}

func (e *Environment) trustPath(pem string) string {
	return e.within("trust/" + model.SHA256(pem) + ".pem")
}

// names are the names of the upstream blocks: for AutoHTTP one for each scheme, so that kept
// connections never mix.
func (u upstream) names() []string {
	if u.Protocol == model.AutoHTTP {
		return []string{u.name() + "_http", u.name() + "_https"}
	}
	return []string{u.name()}
}

// speak sets the upstream of a location. uri replaces that of the request, unless it is
// empty.
func (v *locationView) speak(to upstream, uri string, e *Environment) {
	t := to.Transport
	if t.TLS {
		v.tls = &tlsView{Name: t.Name, Verify: t.Verify, VerifyDepth: t.VerifyDepth, Ciphers: t.Ciphers, Protocols: strings.Fields(t.Protocols), Presents: t.Certificate != ""}
		if t.TrustedCA != "" {
			v.tls.TrustedCA = e.trustPath(t.TrustedCA)
		}
	}
	if t.Certificate != "" {
		v.Presents = &presentedView{t.Certificate, e.entry("presented_chain"), e.entry("presented_key")}
	}
	scheme := map[bool]string{false: "", true: "s"}[t.TLS] + "://"
	v.Upstream, v.URI, v.GRPC, v.FastCGI, v.Auto = "", "", "", "", ""
	switch t.Protocol {
	case model.GRPC:
		v.GRPC, v.Unavailable = "grpc"+scheme+to.name(), e.entry(to.unavailable())
	case model.FastCGI:
		v.FastCGI, v.Unavailable = to.name(), e.entry(to.unavailable())
	case model.AutoHTTP:
		v.Auto = "$scheme://" + to.name() + "_$scheme"
	default:
		v.Upstream = "http" + scheme + to.name()
		if uri != "" {
			v.URI = v.Upstream + uri
		}
	}
}

// unavailable is the file that answers requests for which there is no endpoint. Our servers
// for that speak HTTP, so the balancer can only use them for HTTP.
func (u upstream) unavailable() string {
	if u.by == byRoute {
		return "unavailable"
	}
	return "unavailable_" + string(u.by)
}

// upstreams returns the upstreams in use, sorted by name. If there is none, it returns least, so
// that nginx tests what the settings print in it.
func upstreams(servers []*rendered, least upstream) []upstream {
	names := map[upstream]string{}
	for _, s := range servers {
		for _, u := range s.upstreams {
			if names[u] == "" {
				names[u] = u.name()
			}
		}
	}
	if len(names) == 0 {
		return []upstream{least}
	}
	return slices.SortedFunc(maps.Keys(names), func(a, b upstream) int { return strings.Compare(names[a], names[b]) })
}

// trustFiles returns the files of upstreams and of servers, and that of Diffie-Hellman
// parameters, sorted.
func (e *Environment) trustFiles(all []upstream, servers []*rendered, parameters string) []TrustFile {
	var files []TrustFile
	if parameters != "" {
		files = append(files, e.trustFile(parameters))
	}
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
