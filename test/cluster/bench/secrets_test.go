package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/bench/measure"
)

// idle is how long a sluice that has nothing to do is looked at.
const idle = 20 * time.Second

// BenchmarkSecrets starts a sluice beside so many hosts that have a certificate
// each, with each way to read Secrets, and leaves it alone for a while.
func BenchmarkSecrets(b *testing.B) {
	for _, n := range []int{1_000, 5_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.StopTimer()
			w := newWork(b, n)
			w.each(0, n, w.createCovered)
			for _, mode := range []string{"metadata", "referenced"} {
				w.startWithSecrets(mode)
			}
		})
	}
}

// createCovered creates a unit whose host has a certificate of its own.
func (w *work) createCovered(ctx context.Context, u unit) error {
	host := u.ingress.Spec.Rules[0].Host
	u.ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{host}, SecretName: u.ingress.Name + "-tls"}}
	secret := w.cluster.TLSSecret(w.b, u.ingress.Namespace, u.ingress.Name+"-tls", host)
	if _, err := w.clients.CoreV1().Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return err
	}
	return errors.Join(w.createRest(ctx, u), w.createIngress(ctx, u))
}

func (w *work) startWithSecrets(mode string) {
	w.b.Helper()
	s := w.launch("--update-status=false", "--watch-secrets", mode)
	for i := range w.n {
		s.awaitCertificate(measure.Host(i))
	}
	served := time.Since(s.began).Seconds()
	ready := s.awaitReady()
	start := measure.AtRest(s.PID())
	time.Sleep(idle)
	rest := measure.CPUOf(s.PID()).Minus(start)
	for _, f := range []measure.Figure{
		seconds("start to ready, Secrets by "+mode, ready),
		seconds("start to every certificate presented, Secrets by "+mode, served),
		seconds("CPU of the controller for the start, Secrets by "+mode, start.Controller),
		seconds(fmt.Sprintf("CPU of the controller in %v of rest, Secrets by %s", idle, mode), rest.Controller),
		megabytes("peak memory of the controller, Secrets by "+mode, measure.Peak(s.PID())),
	} {
		f.Work = measure.Thousands(w.n)
		f.Report(w.b)
		w.b.Logf("%d: %s: %.2f %s", w.n, f.What, f.Samples[0], f.Unit)
	}
	s.end()
}

// awaitCertificate waits until a host has the certificate of its Secret.
func (s *sluice) awaitCertificate(host string) {
	s.w.b.Helper()
	config := &tls.Config{ServerName: host, RootCAs: s.w.cluster.Roots()}
	for time.Since(s.began) < measure.Patience {
		conn, err := tls.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", s.HTTPS), config)
		if err == nil {
			conn.Close()
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	s.w.b.Fatalf("%s has no certificate within %v", host, measure.Patience)
}
