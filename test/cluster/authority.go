package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority vouches for the API server, for the users, and for whoever else
// needs a certificate in the tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// pem is the authority's own certificate, and file the path that it is at.
	pem  []byte
	file string
	// The paths of the API server's certificate and key, and of the key that
	// signs the tokens of service accounts.
	serverCert, serverKey, accountKey string
	// Those of the certificate and key by which kubelets know the API server.
	kubeletCert, kubeletKey string
}

// kubernetesService is the address of the API server's Service, by which pods know it.
const kubernetesService = "10.96.0.1"

// newAuthority makes an authority with what the API server at an address needs,
// in files of a folder.
func newAuthority(dir, address string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the test cluster's authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	a := &authority{key: key, pem: encodePEM("CERTIFICATE", der)}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	server, err := a.serving([]string{"kubernetes.default.svc", "localhost"}, address, kubernetesService)
	if err != nil {
		return nil, err
	}
	account, err := a.issue(&x509.Certificate{}) // for its key
	if err != nil {
		return nil, err
	}
	kubelet, err := a.user("kube-apiserver-kubelet-client")
	if err != nil {
		return nil, err
	}
	return a, a.write(dir, server, account, kubelet)
}

func (a *authority) write(dir string, server, account, kubelet *pair) error {
	a.kubeletCert, a.kubeletKey = filepath.Join(dir, "kubelet-client.crt"), filepath.Join(dir, "kubelet-client.key")
	a.file, a.accountKey = filepath.Join(dir, "ca.crt"), filepath.Join(dir, "accounts.key")
	a.serverCert, a.serverKey = filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key")
	for path, content := range map[string][]byte{
		a.file: a.pem, a.serverCert: server.cert, a.serverKey: server.key, a.accountKey: account.key, a.kubeletCert: kubelet.cert, a.kubeletKey: kubelet.key,
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// pair is a certificate and its key, as PEM.
type pair struct{ cert, key []byte }

func (p *pair) tls() (tls.Certificate, error) { return tls.X509KeyPair(p.cert, p.key) }

// user gives the certificate by which the API server knows a user.
func (a *authority) user(name string, groups ...string) (*pair, error) {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: name, Organization: groups}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// serving gives a certificate for names, and for addresses.
func (a *authority) serving(names []string, addresses ...string) (*pair, error) {
	template := &x509.Certificate{DNSNames: names, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	return a.issue(template)
}

// issue signs a template with a new key, valid for as long as the authority.
func (a *authority) issue(template *x509.Certificate) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return nil, err
	}
	template.NotBefore, template.NotAfter = a.certificate.NotBefore, a.certificate.NotAfter
	template.KeyUsage = x509.KeyUsageDigitalSignature
	cert, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &pair{cert: encodePEM("CERTIFICATE", cert), key: encodePEM("EC PRIVATE KEY", private)}, nil
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
