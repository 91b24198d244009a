package translate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"sluice/internal/model"
)

// revocations is a list in PEM, with the time of its next update.
func revocations(t *testing.T, next time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	issuer := &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}, KeyUsage: x509.KeyUsageCRLSign, SubjectKeyId: []byte{1}}
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: next.Add(-time.Hour), NextUpdate: next,
		RevokedCertificateEntries: []x509.RevocationListEntry{{SerialNumber: big.NewInt(7), RevocationTime: next.Add(-time.Hour)}}}
	der, err := x509.CreateRevocationList(rand.Reader, list, issuer, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
}

// endless is a list without a next update, which RFC 5280 forbids and OpenSSL accepts.
func endless(t *testing.T) string {
	t.Helper()
	type list struct {
		Signature  pkix.AlgorithmIdentifier
		Issuer     pkix.RDNSequence
		ThisUpdate time.Time
		Revoked    []pkix.RevokedCertificate
	}
	algorithm := pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}}
	der, err := asn1.Marshal(struct {
		List      list
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}{list{algorithm, nil, time.Unix(1000, 0).UTC(), []pkix.RevokedCertificate{{SerialNumber: big.NewInt(7), RevocationTime: time.Unix(1000, 0).UTC()}}}, algorithm, asn1.BitString{}})
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
}

func TestTheFirstListLapses(t *testing.T) {
	t.Parallel()
	early, late := time.Unix(2_000_000_000, 0), time.Unix(2_600_000_000, 0)
	for name, test := range map[string]struct {
		lists string
		want  int64
	}{
		"one":                     {revocations(t, early), early.Unix()},
		"the first of two":        {revocations(t, late) + revocations(t, early), early.Unix()},
		"a time after 2050":       {revocations(t, late), late.Unix()},
		"one without next update": {endless(t), 0},
		"one of two without":      {endless(t) + revocations(t, late), late.Unix()},
	} {
		if _, until, err := readRevoked([]byte(test.lists)); err != nil || until != test.want {
			t.Errorf("%s: %d, %v, want %d", name, until, err, test.want)
		}
	}
}

// Nobody gets in with a list that has lapsed, so its owner is told.
func TestLapsedListsAreReported(t *testing.T) {
	t.Parallel()
	server := func(name string, until int64) *model.Server {
		of := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: name}
		return &model.Server{Host: name + ".example", TLS: &model.ServerTLS{Clients: &model.ClientTrust{ClientCA: model.ClientCA{Until: until}, Source: of}}}
	}
	servers := []*model.Server{{Host: "plain.example"}, server("first", 1000), server("first", 1000), server("later", 3000), server("last", 4000), server("never", 0)}
	for now, want := range map[int64]int{999: 0, 1000: 1, 3500: 2, 5000: 3} {
		if problems := Lapsed(servers, Options{AnnotationsPrefix: "nginx.ingress.kubernetes.io"}, time.Unix(now, 0)); len(problems) != want {
			t.Errorf("at %d: %v, want %d", now, problems, want)
		}
	}
	problems := Lapsed(servers, Options{AnnotationsPrefix: "nginx.ingress.kubernetes.io"}, time.Unix(1000, 0))
	if got := problems[0].String(); !strings.Contains(got, "Ingress shop/first: nginx.ingress.kubernetes.io/auth-tls-secret: want a newer revocation list in ca.crl of the Secret (got one that was to be replaced by 1970-01-01T00:16:40Z)") {
		t.Error(got)
	}
}
