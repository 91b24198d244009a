package ocsp

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"sluice/internal/model"
)

// authority signs certificates and responses.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign returns a certificate that the authority signed; a nil authority signs its own.
func (a *authority) sign(t *testing.T, template *x509.Certificate) *authority {
	t.Helper()
	key := newKey(t)
	parent, by := template, crypto.Signer(key)
	if a != nil {
		parent, by = a.certificate, a.key
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(1000*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{made, key}
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	var none *authority
	return none.sign(t, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
}

// issue returns a certificate of a namespace with a chain of its own and the authority's.
func (a *authority) issue(t *testing.T, namespace string, serial int64) *model.Certificate {
	t.Helper()
	leaf := a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "shop.example"}})
	return &model.Certificate{
		ID: fmt.Sprintf("%s%d", namespace, serial), Namespace: namespace, Name: "shop", Responder: fmt.Sprintf("http://%s.responder.example/%d", namespace, serial),
		Chain: slices.Concat(encoded(leaf.certificate), encoded(a.certificate)),
	}
}

func encoded(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// respond returns a response of a signer for the certificate with a serial number.
func (a *authority) respond(t *testing.T, by *authority, template ocsp.Response) []byte {
	t.Helper()
	if by != a {
		template.Certificate = by.certificate
	}
	text, err := ocsp.CreateResponse(a.certificate, by.certificate, template, by.key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// good is valid for so long from now.
func good(serial int64, valid time.Duration) ocsp.Response {
	return ocsp.Response{Status: ocsp.Good, SerialNumber: big.NewInt(serial), ThisUpdate: time.Now(), NextUpdate: time.Now().Add(valid)}
}

// network answers questions by connections in memory.
type network struct {
	mu     sync.Mutex
	asked  []string // the hosts, in their order
	answer func(host string, request []byte) *http.Response
}

func body(status int, text []byte) *http.Response {
	return &http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, ContentLength: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text))}
}

func (n *network) dial(_ context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer func() { _ = server.Close() }()
		request, err := http.ReadRequest(bufio.NewReader(server))
		if err != nil {
			return
		}
		text, _ := io.ReadAll(request.Body)
		n.mu.Lock()
		n.asked = append(n.asked, request.Host)
		n.mu.Unlock()
		if answer := n.answer(request.Host, text); answer != nil {
			_ = answer.Write(server)
		} else {
			_, _ = io.Copy(io.Discard, server) // hangs until the client goes
		}
	}()
	return client, nil
}

func (n *network) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.asked)
}

// run starts a Stapler in a bubble, which ends with the test.
func (n *network) run(t *testing.T) *Stapler {
	t.Helper()
	s := New(Options{Dial: n.dial, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return s
}

func using(certificates ...*model.Certificate) model.Dynamic {
	d := model.Dynamic{Stapling: true, Certificates: certificates}
	for _, c := range certificates {
		d.Names = append(d.Names, model.CertificateName{Host: c.ID + ".example", ID: c.ID})
	}
	return d
}

func signalled(s *Stapler) bool {
	select {
	case <-s.Watch():
		return true
	default:
		return false
	}
}

// wantStaples compares the serial numbers of the staples.
func wantStaples(t *testing.T, when string, d model.Dynamic, want ...string) {
	t.Helper()
	var got []string
	for _, staple := range d.Staples {
		got = append(got, staple.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: staples of %v, want %v", when, got, want)
	}
}
