package controller

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/nginx"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/selfsigned"
	"sluice/internal/snapshot"
)

// trusting returns an Ingress that verifies its backend with the authorities of a
// Secret, and that Secret.
func trusting(t *testing.T) (*networkingv1.Ingress, *corev1.Secret) {
	t.Helper()
	certificate, err := selfsigned.Certificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ing := form("tls", "tls.example")
	ing.Spec.Rules[0].HTTP = servedBy("web")
	ing.Annotations = map[string]string{}
	for key, value := range map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "shop/ca", "proxy-ssl-verify": "on", "proxy-ssl-name": "web"} {
		ing.Annotations["nginx.ingress.kubernetes.io/"+key] = value
	}
	return ing, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "ca"}, Data: map[string][]byte{"ca.crt": certificate.Chain}}
}

// trustful returns an idle controller with a state directory.
func trustful(t *testing.T, source Source) (c *Controller, there func() []string) {
	t.Helper()
	c = idle(t, source)
	c.Environment.StateDir = c.StateDir
	o := nginx.Options{StateDir: c.StateDir}
	if err := os.Mkdir(filepath.Join(c.StateDir, "users"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.Process = nginx.New(nginx.Install{}, o, nil)
	return c, func() []string {
		files, _ := filepath.Glob(filepath.Join(c.StateDir, "trust", "*"))
		return files
	}
}

// TestOldTrustGoes: files of authorities are removed once nginx runs without them, the
// last one when its Ingress is gone. The file of a trial stays.
func TestOldTrustGoes(t *testing.T) {
	t.Parallel()
	source := &objects{}
	ing, first := trusting(t)
	_, second := trusting(t)
	source.Ingresses = []*networkingv1.Ingress{ing}
	c, there := trustful(t, source)
	step := func(want int, confirm bool) {
		t.Helper()
		c.sync(t.Context())
		p := c.submitted()
		if err := writeTrust(p.file.Trust()); err != nil {
			t.Fatal(err)
		}
		if confirm {
			c.applied(t.Context(), outcome{plan: p})
		}
		long := time.Now().Add(-time.Minute)
		for key, gone := range c.retired.trust {
			if !gone.since.IsZero() {
				gone.since = long
				c.retired.trust[key] = gone
			}
		}
		c.retain(t.Context())
		if files := there(); len(files) != want {
			t.Errorf("there are %q, want %d", files, want)
		}
	}
	source.Secrets = []*corev1.Secret{first}
	step(1, true)
	source.Secrets = []*corev1.Secret{second}
	step(2, false)
	c.trials.tested["shop"] = true
	source.Ingresses = []*networkingv1.Ingress{form("tls", "tls.example")}
	step(2, true)
	c.trials.tested = map[string]bool{}
	c.trialEnded(t.Context(), &trial{})
	if files := there(); len(files) != 0 {
		t.Errorf("there are %q after the trial", files)
	}
}

// present rejects a file that names a missing file.
type present struct{ tests int }

func (p *present) Test(ctx context.Context, conf io.WriterTo) error { return p.TestApart(ctx, conf) }

func (p *present) TestApart(_ context.Context, conf io.WriterTo) error {
	for _, trust := range conf.(*render.File).Trust() {
		p.tests++
		if _, err := os.Stat(trust.Path); err != nil {
			return &nginx.TestError{Text: fmt.Sprint("cannot load certificate: ", err)}
		}
	}
	return nil
}

// TestATrialHasTheTrustThatItNames: no plan has written the file of a waiting Ingress.
func TestATrialHasTheTrustThatItNames(t *testing.T) {
	t.Parallel()
	source := &objects{}
	ing, secret := trusting(t)
	source.Ingresses, source.Secrets = []*networkingv1.Ingress{ing}, []*corev1.Secret{secret}
	c, _ := trustful(t, source)
	c.sync(t.Context())
	f, _ := c.latest.finding(culprit{object: refOf(snapshot.Name{Namespace: "shop", Name: "tls"}), undecided: true}, c.good)
	c.quarantine.Refuse(c.latest.turn, f)
	c.trials.begin(c.quarantine, c.latest, c.latest.runsIn(nil))
	next, process := <-c.trials.due, &present{}
	next.test(t.Context(), process)
	if process.tests == 0 || slices.ContainsFunc(slices.Collect(maps.Values(next.verdicts)), func(v quarantine.Verdict) bool { return !v.Passed }) {
		t.Errorf("after %d files found %v", process.tests, next.verdicts)
	}
}
