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

// TrustFile is a file of trusted authorities that nginx.conf names. It must
// exist before nginx reads nginx.conf.
type TrustFile struct {
	// Path is absolute; the name is the hash of the content.
	Path string
	PEM  string
}

// upstreamView is what the template of an upstream block is given.
type upstreamView struct {
	Name     string
	Balancer string
	Blocks   insertion
}

// tlsView is what the template of a location says of TLS to the backend.
type tlsView struct {
	Name        string
	Verify      bool
	TrustedCA   string
	VerifyDepth int
}

// upstreamName names the upstream of a transport. Each has its own, so that a
// connection that was verified for one is never used by another.
func upstreamName(t model.Transport) string {
	if t == (model.Transport{}) {
		return "sluice"
	}
	return "sluice_" + hexHash(fmt.Sprintf("%t %t %q %d %s", t.TLS, t.Verify, t.Name, t.VerifyDepth, t.TrustedCA))[:12]
}

func hexHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func (e *Environment) trustPath(pem string) string { return e.within("trust/" + hexHash(pem) + ".pem") }

// speak sets what a location says to pass requests on with a transport.
func (v *locationView) speak(t model.Transport, e *Environment) {
	if t == (model.Transport{}) {
		v.Upstream = "http://sluice"
		return
	}
	v.Upstream = "http://" + upstreamName(t)
	if !t.TLS {
		return
	}
	v.Upstream = "https://" + upstreamName(t)
	v.TLS = &tlsView{Name: t.Name, Verify: t.Verify, VerifyDepth: t.VerifyDepth}
	if t.TrustedCA != "" {
		v.TLS.TrustedCA = e.trustPath(t.TrustedCA)
	}
}

// transports gives the different transports in use by the names of their
// upstreams; plain HTTP is always there and first.
func transports(servers []*rendered) []model.Transport {
	names := map[model.Transport]string{{}: upstreamName(model.Transport{})}
	for _, s := range servers {
		for _, t := range s.transports {
			if names[t] == "" {
				names[t] = upstreamName(t)
			}
		}
	}
	return slices.SortedFunc(maps.Keys(names), func(a, b model.Transport) int { return strings.Compare(names[a], names[b]) })
}

func (e *Environment) trustFiles(all []model.Transport) []TrustFile {
	var files []TrustFile
	for _, t := range all {
		if t.TLS && t.TrustedCA != "" {
			files = append(files, TrustFile{Path: e.trustPath(t.TrustedCA), PEM: t.TrustedCA})
		}
	}
	slices.SortFunc(files, func(a, b TrustFile) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(files)
}
