//go:build image

package certmanager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
)

// testWebhook: the API server asks Sluice with the authority that the CA injector writes. No review
// fails while the certificate is renewed, and then its authority and the certificate again.
func testWebhook(t *testing.T, w *world) {
	w.Apply(t, cluster.Namespace("reviewed"))
	cluster.Eventually(t, "a refusal", w.review)
	first := w.awaitPresented(t, "")
	bundle := w.bundle(t)

	stop := w.reviewAll(t)
	w.renew(t, release, hookName)
	second := w.awaitPresented(t, first)
	if w.bundle(t) != bundle {
		t.Error("the authority has changed with the certificate")
	}
	w.renew(t, release, release+"-root-cert")
	w.renew(t, release, hookName)
	third := w.awaitPresented(t, second)
	if w.bundle(t) == bundle {
		t.Error("the API server is not told the new authority")
	}
	t.Logf("%d reviews, while the certificates were %s, %s and %s", stop(), first, second, third)
}

// review asks whether an Ingress that Sluice refuses can be stored. An error is any other answer than
// its refusal.
func (w *world) review(ctx context.Context) error {
	bad := cluster.Ingress("reviewed", "bad", cluster.Rule("bad.example", "/", "web", 80))
	bad.Annotations = map[string]string{"nginx.ingress.kubernetes.io/limit-rps": "many"}
	err := w.dryRun(ctx, bad)
	if err == nil {
		return errors.New("it was not reviewed")
	}
	if !strings.Contains(err.Error(), `admission webhook "validate.sluice.io" denied the request`) {
		return err
	}
	return nil
}

func (w *world) dryRun(ctx context.Context, ing *networkingv1.Ingress) error {
	_, err := w.Admin().NetworkingV1().Ingresses(ing.Namespace).Create(ctx, ing, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// reviewEvery leaves time to the others on the machine.
const reviewEvery = 5 * time.Millisecond

// reviewAll asks for reviews until stop is called. stop fails the test if one failed, and returns how many
// there were.
func (w *world) reviewAll(t *testing.T) (stop func() (asked int)) {
	var failed []error
	var asking sync.WaitGroup
	done, asked := make(chan struct{}), 0
	asking.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(reviewEvery):
			}
			asked++
			if err := w.review(context.WithoutCancel(t.Context())); err != nil {
				failed = append(failed, err)
			}
		}
	})
	return func() int {
		t.Helper()
		close(done)
		asking.Wait()
		if len(failed) > 0 {
			t.Errorf("%d of %d reviews failed; the first: %v", len(failed), asked, failed[0])
		}
		return asked
	}
}

// bundle is the caBundle.
func (w *world) bundle(t *testing.T) string {
	t.Helper()
	found, err := w.Admin().AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), hookName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(found.Webhooks[0].ClientConfig.CABundle)
}

// awaitPresented waits until both replicas present the same certificate, and another one than before.
// It gives its number.
func (w *world) awaitPresented(t *testing.T, before string) (now string) {
	t.Helper()
	cluster.Eventually(t, "the same new certificate of both replicas", func(ctx context.Context) error {
		now = ""
		for _, r := range w.replicas {
			number, err := presented(ctx, r.address)
			if err != nil {
				return err
			}
			if number == before || (now != "" && number != now) {
				return fmt.Errorf("%s presents %s", r.address, number)
			}
			now = number
		}
		return nil
	})
	return now
}

// presented is the number of the certificate that a replica presents.
func presented(ctx context.Context, address string) (string, error) {
	answer, err := cluster.Request{URL: "https://" + net.JoinHostPort(address, "8443")}.Do(ctx)
	if err != nil {
		return "", err
	}
	return answer.Certificate.SerialNumber.String(), nil
}
