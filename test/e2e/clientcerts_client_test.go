package e2e

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"

	"sluice/test/kit"
)

// clientCA is an authority that signs certificates of clients. All have the same name.
type clientCA struct {
	certificate *x509.Certificate
	key         crypto.Signer
	pem         []byte
}

func newClientCA(t *testing.T) *clientCA {
	t.Helper()
	pair := newKeyPair(t, 1, "clients")
	signed, err := tls.X509KeyPair(pair.certificate, pair.key)
	if err != nil {
		t.Fatal(err)
	}
	return &clientCA{signed.Leaf, signed.PrivateKey.(crypto.Signer), pair.certificate}
}

// issue signs the certificate of a client.
func (c *clientCA) issue(t *testing.T, name string, serial int64) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name, Organization: []string{"Shop"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, c.certificate, &key.PublicKey, c.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// revokes makes a revocation list.
func (c *clientCA) revokes(t *testing.T, serials ...int64) []byte {
	t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(int64(len(serials) + 1)), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(time.Hour)}
	for _, serial := range serials {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: big.NewInt(serial), RevocationTime: time.Now().Add(-time.Minute)})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, c.certificate, c.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der})
}

// dataSecret gives a Secret with keys and values by turns.
func dataSecret(name string, data ...string) string {
	manifest := fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: default}\ndata:\n", name)
	for i := 0; i < len(data); i += 2 {
		manifest += fmt.Sprintf("  %s: %s\n", data[i], base64.StdEncoding.EncodeToString([]byte(data[i+1])))
	}
	return manifest + "---\n"
}

// visitor is a client over TLS that can keep its connection and its sessions.
type visitor struct {
	sni         string
	certificate *tls.Certificate
	sessions    tls.ClientSessionCache
	version     uint16
	http1       bool
}

// anySession is a cache that offers its last session to every host.
type anySession struct{ session *tls.ClientSessionState }

func (a *anySession) Get(string) (*tls.ClientSessionState, bool) { return a.session, a.session != nil }

func (a *anySession) Put(_ string, session *tls.ClientSessionState) {
	if session != nil {
		a.session = session
	}
}

// visit is what a visitor got.
type visit struct {
	status  int
	resumed bool
	backend string
	header  http.Header // of the request, as the backend got it
	proto   int
}

// transport keeps one connection to sluice.
func (s *sluice) visiting(v visitor) *http.Transport {
	config := &tls.Config{ServerName: v.sni, InsecureSkipVerify: true, ClientSessionCache: v.sessions, MinVersion: max(v.version, tls.VersionTLS12), MaxVersion: v.version}
	if v.certificate != nil {
		config.Certificates = []tls.Certificate{*v.certificate}
	}
	return &http.Transport{
		TLSClientConfig: config, ForceAttemptHTTP2: !v.http1, MaxConnsPerHost: 1,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", s.HTTPS))
		},
	}
}

// visit asks for a host over the connection of a transport.
func visitOver(transport *http.Transport, host, path string, header http.Header) (visit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), kit.RequestPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+transport.TLSClientConfig.ServerName+path, nil)
	if err != nil {
		return visit{}, err
	}
	if transport.TLSClientConfig.ServerName == "" {
		request.URL.Host = "127.0.0.1"
	}
	request.Host = host
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return visit{}, err
	}
	defer response.Body.Close()
	v := visit{status: response.StatusCode, resumed: response.TLS.DidResume, proto: response.ProtoMajor}
	var echoed struct {
		Backend string
		Header  http.Header
	}
	if json.NewDecoder(response.Body).Decode(&echoed) == nil {
		v.backend, v.header = echoed.Backend, echoed.Header
	}
	return v, nil
}

// visit asks for a host over a connection of its own.
func (s *sluice) visit(v visitor, host, path string, header http.Header) (visit, error) {
	transport := s.visiting(v)
	defer transport.CloseIdleConnections()
	return visitOver(transport, host, path, header)
}

// waitVisit waits for a status.
func (s *sluice) waitVisit(v visitor, host string, status int) {
	s.t.Helper()
	var last visit
	var err error
	defer func() {
		if s.t.Failed() {
			s.t.Logf("the last answer of %s: %+v, %v", host, last, err)
		}
	}()
	eventually(s.t, fmt.Sprintf("%s to answer %d", host, status), func() bool {
		last, err = s.visit(v, host, "/", nil)
		return err == nil && last.status == status
	})
}
