package diff

import (
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"slices"
	"strings"
	"time"

	"sluice/internal/model"
)

// Certificate is a server name with another certificate.
type Certificate struct {
	Change Kind `json:"change"`
	// Host is "*" for the default certificate.
	Host string `json:"host"`
	// Old and New are null for the default certificate.
	Old *Presented `json:"old"`
	New *Presented `json:"new"`
}

// Presented is a certificate, without its key.
type Presented struct {
	// SHA256 is the fingerprint in hexadecimal.
	SHA256   string    `json:"sha256"`
	Names    []string  `json:"names"`
	Issuer   string    `json:"issuer"`
	NotAfter time.Time `json:"notAfter"`
}

// certificates compares the certificates of all names.
func (c *comparison) certificates() []Certificate {
	before, after := newWallet(c.before), newWallet(c.after)
	var all []Certificate
	for _, host := range hostsOf(c.before, c.after) {
		old, now := before.of(host), after.of(host)
		if old == now {
			continue
		}
		r := Certificate{Change: Changed, Host: cmp.Or(host, "*"), Old: before.presented(old), New: after.presented(now)}
		switch {
		case r.Old == nil && r.New == nil:
			continue
		case r.Old == nil:
			r.Change = Gained
		case r.New == nil:
			r.Change = Lost
		}
		all = append(all, r)
	}
	return all
}

// hostsOf returns the names with certificates of both sides, and their hosts, sorted. The
// default certificate is "".
func hostsOf(sides ...*side) []string {
	hosts := []string{""}
	for _, s := range sides {
		for _, n := range s.Config.Dynamic.Names {
			hosts = append(hosts, n.Host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// wallet holds the certificates of a side.
type wallet struct {
	ids  map[string]string // by name
	held []*model.Certificate
}

func newWallet(s *side) *wallet {
	w := &wallet{ids: map[string]string{}, held: s.Config.Dynamic.Certificates}
	for _, n := range s.Config.Dynamic.Names {
		w.ids[n.Host] = n.ID
	}
	return w
}

// of returns the ID of the certificate that clients of a host get, "" for the default one.
// As in certificate.lua it is that of the name, else that of the wildcard above it.
func (w *wallet) of(host string) string {
	if id, ok := w.ids[host]; ok {
		return id
	}
	if _, parent, ok := strings.Cut(host, "."); ok {
		return w.ids["*."+parent]
	}
	return ""
}

func (w *wallet) presented(id string) *Presented {
	at, found := slices.BinarySearchFunc(w.held, id, func(c *model.Certificate, id string) int { return strings.Compare(c.ID, id) })
	if !found {
		return nil
	}
	block, _ := pem.Decode(w.held[at].Chain)
	if block == nil {
		return nil
	}
	fingerprint := sha256.Sum256(block.Bytes)
	p := &Presented{SHA256: hex.EncodeToString(fingerprint[:])}
	if leaf, err := x509.ParseCertificate(block.Bytes); err == nil {
		p.Names, p.Issuer, p.NotAfter = leaf.DNSNames, leaf.Issuer.String(), leaf.NotAfter.In(time.UTC)
	}
	return p
}
