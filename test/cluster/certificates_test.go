package cluster

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// certificateIn reads the certificate of a Secret.
func certificateIn(t testing.TB, secret *corev1.Secret) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// fallback wants a certificate that is none of the cluster's authority.
func (c *Cluster) fallback(a *Answer) bool {
	if a.Certificate == nil {
		return false
	}
	_, err := a.Certificate.Verify(x509.VerifyOptions{Roots: c.Roots()})
	return err != nil
}

// A certificate of another namespace is presented as long as its Secret says that
// it may be.
func TestCertificatesOfOtherNamespaces(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"metadata", "referenced", "all"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			name, vault := "delegated-"+mode, "vault-"+mode
			s := newSite(t, Shared(t), name, "--watch-secrets", mode)
			s.web(t, "web", 1)
			host := name + ".example"
			secret := s.TLSSecret(t, vault, "shop", host)
			s.Apply(t, Namespace(vault), secret, covered(annotated(s.ingress("web", Rule(host, "/", "web", 80)), "tls-cert-namespace", vault), "shop", host))
			request := s.Request("https://" + host + "/")
			EventuallyAnswer(t, request, "the pod", from("web"))
			logged(t, s.Sluice, "msg=problem", `object="Ingress `+name+`/web"`, "delegated")
			must(t, request, "the default certificate: the Secret says nothing of this namespace", s.fallback)
			s.awaitReload(t, "servers=2 ")
			reloads := s.reloads(t)

			delegate := func(to string) func() {
				return func() {
					secret.Annotations = map[string]string{"sluice.io/tls-delegation": to}
					s.Apply(t, secret)
				}
			}
			ours := isCertificate(certificateIn(t, secret))
			takes(t, "delegated", delegate("somebody, "+name), request, ours)
			logged(t, s.Sluice, `msg="problem mended"`, `object="Ingress `+name+`/web"`)
			takes(t, "delegated to another namespace instead", delegate("somebody"), request, s.fallback)
			if got := countLogged(t, s.Sluice, "msg=problem ", `object="Ingress `+name+`/web"`); got != 2 {
				t.Errorf("the withdrawal was said %d times with the first refusal, want 2", got)
			}
			takes(t, "delegated to all", delegate("*"), request, ours)
			takes(t, "deleted", func() { s.Delete(t, secret) }, request, s.fallback)
			takes(t, "created again", func() { s.Apply(t, secret) }, request, ours)
			if got := s.reloads(t) - reloads; got != 0 {
				t.Errorf("%d reloads for changes of a Secret", got)
			}
		})
	}
}

// A certificate that is renewed is presented to the next client, without a reload
// and without a moment in which another is.
func TestCertificateIsRenewedWithoutReload(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "renewed")
	s.web(t, "web", 1)
	const host = "renewed.example"
	secrets := []*corev1.Secret{s.TLSSecret(t, "renewed", "cert", host)}
	s.Apply(t, secrets[0], covered(s.ingress("web", Rule(host, "/", "web", 80)), "cert", host))
	request := s.Request("https://" + host + "/")
	request.Roots = s.Roots()
	EventuallyAnswer(t, request, "the first certificate", isCertificate(certificateIn(t, secrets[0])))
	s.awaitReload(t, "servers=2 ")
	reloads, conf := s.reloads(t), s.conf(t)
	for i := range 5 {
		next := s.TLSSecret(t, "renewed", "cert", host)
		before, after := certificateIn(t, secrets[i]), certificateIn(t, next)
		s.Apply(t, next)
		Eventually(t, "the next certificate", func(ctx context.Context) error {
			answer, err := request.Do(ctx)
			if err != nil {
				t.Fatalf("a client that trusts both failed: %v", err)
			}
			switch {
			case isCertificate(after)(answer):
				return nil
			case !isCertificate(before)(answer):
				t.Fatal("neither the certificate before nor that after was presented")
			}
			return fmt.Errorf("it is the one before")
		})
		secrets = append(secrets, next)
	}
	if got := s.reloads(t) - reloads; got != 0 || s.conf(t) != conf {
		t.Errorf("%d reloads", got)
	}
}
