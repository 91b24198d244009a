package debug

import (
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/debugapi"
	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// certificates answers with the certificates of nginx, or the one for a host.
func (q *question) certificates() (body, error) {
	host, given, err := q.values.host()
	if err != nil {
		return nil, err
	}
	held, id := q.state.held(), ""
	if given {
		if id, err = q.presented(held, host); err != nil {
			return nil, err
		}
	}
	var found []debugapi.Certificate
	secrets, hosts := q.state.secrets(), hostsOf(held.Names)
	for _, c := range held.Certificates {
		if given && c.ID != id {
			continue
		}
		v := viewCertificate(c, hosts[c.ID])
		v.Secrets = filled(secrets[string(certificatesIn(c.Chain))])
		if fallback := q.state.Confirmed.Options.FallbackCertificate; fallback != nil && fallback.ID == c.ID {
			v.From, v.Secrets = debugapi.SelfSigned, filled[model.ObjectRef](nil)
		}
		found = append(found, v)
	}
	slices.SortFunc(found, compareCertificates)
	return list(found)
}

// compareCertificates orders by hosts, with the default certificate first.
func compareCertificates(a, b debugapi.Certificate) int {
	if a.Default != b.Default {
		if a.Default {
			return -1
		}
		return 1
	}
	return cmp.Or(slices.Compare(a.Hosts, b.Hosts), strings.Compare(a.SHA256, b.SHA256))
}

// presented returns the ID of the certificate for a server name, chosen as in
// certificate.lua: that of the name, of the wildcard for its first label, or the default.
func (q *question) presented(held model.Dynamic, host string) (id string, err error) {
	static := q.state.Confirmed.Config.Static
	for _, p := range slices.Backward(static.Passthroughs) { // precise hosts come last
		if p.Takes(host) {
			return "", notFound("host: the TLS of %s is passed through to Service %s/%s, as %s asks for: no certificate of nginx is presented",
				model.Quoted(host), p.Service.Namespace, p.Service.Name, p.Source)
		}
	}
	if q.refusesHandshake(host) {
		return "", notFound("host: no rule has the host %s, and the setting ssl-reject-handshake is on: no certificate is presented", model.Quoted(host))
	}
	_, parent, _ := strings.Cut(host, ".")
	for _, name := range []string{host, "*." + parent, ""} {
		if at := slices.IndexFunc(held.Names, func(n model.CertificateName) bool { return n.Host == name }); at >= 0 {
			return held.Names[at].ID, nil
		}
	}
	return "", notFound("host: nginx holds no certificate for %s, and no default one", model.Quoted(host))
}

// refusesHandshake reports whether nginx rejects the handshake for a host.
func (q *question) refusesHandshake(host string) bool {
	c := q.state.Confirmed
	values, _ := settings.Read(c.Snapshot.ConfigMap(c.Options.ConfigMap))
	if !values.TLS.RejectHandshake {
		return false
	}
	server := route.Match(c.Config.Static.Servers, host, "/").Server
	return server != nil && server.Host == ""
}

// secrets returns the Secrets with certificates, by these. It includes those of the newer
// Snapshot, because nginx may have got them already.
func (s *State) secrets() map[string][]model.ObjectRef {
	found := map[string][]model.ObjectRef{}
	seen := map[snapshot.Name]bool{}
	look := func(snap *snapshot.Snapshot, name snapshot.Name) {
		secret := snap.Secret(name)
		if secret == nil || seen[name] {
			return
		}
		seen[name] = true
		if chain := certificatesIn(secret.Data[corev1.TLSCertKey]); len(chain) > 0 {
			ref := model.ObjectRef{Kind: "Secret", Namespace: shown(name.Namespace), Name: shown(name.Name)}
			found[string(chain)] = append(found[string(chain)], ref)
		}
	}
	options := s.Confirmed.Options
	for _, snap := range []*snapshot.Snapshot{s.Snapshot, s.Confirmed.Snapshot} {
		look(snap, options.DefaultCertificate)
		of := translate.Settings(snap, options)
		for _, ing := range snap.Ingresses() {
			for _, ref := range translate.References(ing, of(ing), options) {
				if ref.Kind == "Secret" {
					look(snap, snapshot.Name{Namespace: ref.Namespace, Name: ref.Name})
				}
			}
		}
	}
	for _, refs := range found {
		slices.SortFunc(refs, model.ObjectRef.Compare)
	}
	return found
}

// certificatesIn returns only the certificates of a PEM text.
func certificatesIn(text []byte) []byte {
	var chain []byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...)
		}
	}
	return chain
}

// hostsOf returns the hosts of each certificate by its ID: there can be thousands of both.
func hostsOf(names []model.CertificateName) map[string][]string {
	hosts := map[string][]string{}
	for _, n := range names {
		hosts[n.ID] = append(hosts[n.ID], n.Host)
	}
	return hosts
}

func viewCertificate(c *model.Certificate, hosts []string) debugapi.Certificate {
	v := debugapi.Certificate{Hosts: []string{}, From: debugapi.FromSecret, DNSNames: []string{}, Chain: string(certificatesIn(c.Chain))}
	for _, host := range hosts {
		if host == "" {
			v.Default = true
		} else {
			v.Hosts = append(v.Hosts, shown(host))
		}
	}
	block, _ := pem.Decode(c.Chain)
	if block == nil {
		return v
	}
	fingerprint := sha256.Sum256(block.Bytes)
	v.SHA256 = hex.EncodeToString(fingerprint[:])
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return v // translate rejects such certificates
	}
	v.Subject, v.Issuer, v.DNSNames = shown(leaf.Subject.String()), shown(leaf.Issuer.String()), shownAll(leaf.DNSNames)
	v.NotBefore, v.NotAfter, v.Serial = leaf.NotBefore.In(time.UTC), leaf.NotAfter.In(time.UTC), leaf.SerialNumber.String()
	return v
}
