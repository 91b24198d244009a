package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"sluice/test/kit"
)

// hook is a webhook configuration of a test, for the namespaces with its name.
type hook struct {
	t         *testing.T
	c         *Cluster
	name      string
	authority []byte
	port      int
	told      warnings
	clients   kubernetes.Interface
}

// warnings are those of the API server, as kubectl prints them.
type warnings struct {
	mutex sync.Mutex
	all   []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.all = append(w.all, text)
}

func (w *warnings) take() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	defer func() { w.all = nil }()
	return strings.Join(w.all, "\n")
}

// newHook writes a certificate for localhost, and gives flags for a sluice.
func newHook(t *testing.T, c *Cluster, name string) (h *hook, flags []string) {
	t.Helper()
	secret := c.TLSSecret(t, name, "webhook", "localhost")
	dir := t.TempDir()
	for file, content := range secret.Data {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h = hookFor(t, c, name)
	return h, []string{
		"--validating-webhook", fmt.Sprintf("127.0.0.1:%d", h.port),
		"--validating-webhook-certificate", filepath.Join(dir, "tls.crt"), "--validating-webhook-key", filepath.Join(dir, "tls.key"),
	}
}

// hookFor is a hook that is not registered yet.
func hookFor(t *testing.T, c *Cluster, name string) *hook {
	t.Helper()
	h := &hook{t: t, c: c, name: name, port: kit.Port(t), authority: c.authority.pem}
	config := c.Config()
	config.WarningHandler = &h.told
	var err error
	if h.clients, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	return h
}

// register has the API server ask, at a path and with a policy, until the end of the test.
func (h *hook) register(path string, policy admissionregistrationv1.FailurePolicyType) {
	h.t.Helper()
	url := fmt.Sprintf("https://localhost:%d%s", h.port, path)
	h.registerAt(admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: h.authority}, policy)
}

// registerAt is register for a webhook that is reached in another way.
func (h *hook) registerAt(at admissionregistrationv1.WebhookClientConfig, policy admissionregistrationv1.FailurePolicyType) {
	h.t.Helper()
	none, seconds := admissionregistrationv1.SideEffectClassNone, int32(2)
	wanted := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: h.name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate." + h.name + ".sluice.io", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, TimeoutSeconds: &seconds, FailurePolicy: &policy,
			ClientConfig:      at,
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": h.name}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"networking.k8s.io"}, APIVersions: []string{"v1"}, Resources: []string{"ingresses"}},
			}},
		}},
	}
	configurations := h.clients.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	ctx := context.WithoutCancel(h.t.Context())
	_ = configurations.Delete(ctx, h.name, metav1.DeleteOptions{})
	if _, err := configurations.Create(ctx, wanted, metav1.CreateOptions{}); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = configurations.Delete(ctx, h.name, metav1.DeleteOptions{}) })
}

// dryRun asks for an Ingress without storing it.
func (h *hook) dryRun(ing *networkingv1.Ingress) error {
	_, err := h.clients.NetworkingV1().Ingresses(h.name).Create(h.t.Context(), ing, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// await waits until the API server gives an answer for an Ingress, because it takes a while to
// know of a webhook.
func (h *hook) await(what string, ing *networkingv1.Ingress, done func(error) bool) {
	h.t.Helper()
	Eventually(h.t, what, func(context.Context) error {
		err := h.dryRun(ing.DeepCopy())
		if done(err) {
			return nil
		}
		return fmt.Errorf("the answer is: %w", errors.Join(err, errors.New("not yet")))
	})
	h.told.take()
}

func refuses(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

// TestWebhook: the API server asks before it stores an Ingress, and kubectl shows what it is told.
func TestWebhook(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	name := "webhook"
	h, flags := newHook(t, c, name)
	s := newSite(t, c, name, append(flags, "--enable-metrics")...)
	s.web(t, "web", 1)
	rule := func(host, path string) networkingv1.IngressRule { return Rule(host, path, "web", 80) }
	old := s.ingress("old", rule("a.webhook.example", "/cart"))
	c.Apply(t, old)
	EventuallyAnswer(t, s.get("a.webhook.example", "/cart"), "the pod", from("web"))
	h.register("/networking/v1/ingresses", admissionregistrationv1.Fail)
	bad := annotated(s.ingress("bad", rule("b.webhook.example", "/")), "limit-rps", "many", "no-such-thing", "x")
	h.await("a refusal", bad, func(err error) bool { return refuses(err, "denied the request") })

	err := h.dryRun(bad.DeepCopy())
	if !refuses(err, `admission webhook "validate.webhook.sluice.io" denied the request: nginx.ingress.kubernetes.io/limit-rps: want`) {
		t.Errorf("%v", err)
	}
	if told := h.told.take(); !strings.Contains(told, "nginx.ingress.kubernetes.io/no-such-thing: ") {
		t.Errorf("warnings: %s", told)
	}
	if err := h.dryRun(s.ingress("twice", rule("a.webhook.example", "/cart"))); !refuses(err, "Ingress webhook/old already has Prefix /cart") {
		t.Errorf("a path of another: %v", err)
	}
	if err := h.dryRun(s.ingress("sound", rule("c.webhook.example", "/"))); err != nil {
		t.Errorf("a sound one: %v", err)
	}
	other := s.ingress("other", rule("a.webhook.example", "/cart"))
	other.Spec.IngressClassName = new("somebody-elses")
	if err := h.dryRun(other); err != nil {
		t.Errorf("another class: %v", err)
	}

	h.register("/networking/v1/ingresses/warn", admissionregistrationv1.Fail)
	h.await("no refusal", bad, func(err error) bool { return err == nil })
	if err := h.dryRun(bad.DeepCopy()); err != nil {
		t.Errorf("warn: %v", err)
	}
	if told := h.told.take(); !strings.Contains(told, "would be rejected: nginx.ingress.kubernetes.io/limit-rps: want") {
		t.Errorf("warnings: %s", told)
	}
	hookMetrics(t, s)
}

// hookMetrics: reviews are counted.
func hookMetrics(t *testing.T, s *site) {
	t.Helper()
	Eventually(t, "metrics of reviews", func(ctx context.Context) error {
		answer, err := Request{URL: fmt.Sprintf("http://127.0.0.1:%d/metrics", s.Healthz)}.Do(ctx)
		if err != nil {
			return err
		}
		text := string(answer.Body)
		for _, part := range []string{`nginx_ingress_controller_check_errors{`, `ingress="bad",namespace="webhook"} `, `nginx_ingress_controller_check_success{`, "nginx_ingress_controller_admission_roundtrip_duration{"} {
			if !strings.Contains(text, part) {
				return fmt.Errorf("no %s in\n%s", part, text)
			}
		}
		return nil
	})
}

// TestWebhookOfAPodThatEnds: it answers on while it fails its readiness, because the API server hears of
// that later, and the next pod answers.
func TestWebhookOfAPodThatEnds(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	name := "webhook-ends"
	h, flags := newHook(t, c, name)
	s := newSite(t, c, name, append(flags, "--shutdown-grace-period", "60")...)
	h.register("/networking/v1/ingresses", admissionregistrationv1.Fail)
	bad := annotated(s.ingress("bad", Rule("bad.webhook-ends.example", "/", "web", 80)), "limit-rps", "many")
	denied := func(err error) bool { return refuses(err, "denied the request") }
	h.await("a refusal", bad, denied)
	if err := s.Command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	EventuallyStatus(t, Request{URL: fmt.Sprintf("http://127.0.0.1:%d/readyz", s.Healthz)}, http.StatusServiceUnavailable)
	if err := h.dryRun(bad.DeepCopy()); !denied(err) {
		t.Errorf("the answer is %v", err)
	}
	s.Stop(syscall.SIGTERM, kit.Patience) // the second one ends the waiting
}

// TestWebhookIsDown: then the failurePolicy decides, and what is stored is served all the same.
func TestWebhookIsDown(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	name := "webhook-down"
	h, _ := newHook(t, c, name)
	s := newSite(t, c, name)
	s.web(t, "web", 1)
	sound := s.ingress("sound", Rule("sound.webhook-down.example", "/", "web", 80))
	h.register("/networking/v1/ingresses", admissionregistrationv1.Fail)
	h.await("a failure", sound, func(err error) bool { return refuses(err, "failed calling webhook") })
	h.register("/networking/v1/ingresses", admissionregistrationv1.Ignore)
	h.await("success", sound, func(err error) bool { return err == nil })
	c.Apply(t, sound)
	EventuallyAnswer(t, s.get("sound.webhook-down.example", "/"), "the pod", from("web"))
}

// TestWebhookUnderLoad: many Ingresses at a time are reviewed and stored while others are.
func TestWebhookUnderLoad(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	name := "webhook-load"
	h, flags := newHook(t, c, name)
	s := newSite(t, c, name, flags...)
	s.web(t, "web", 1)
	h.register("/networking/v1/ingresses", admissionregistrationv1.Fail)
	bad := annotated(s.ingress("bad", Rule("bad.webhook-load.example", "/", "web", 80)), "limit-rps", "many")
	h.await("a refusal", bad, func(err error) bool { return refuses(err, "denied the request") })
	var failed []error
	var mutex sync.Mutex
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			_, err := h.clients.NetworkingV1().Ingresses(name).Create(t.Context(), s.ingress(fmt.Sprintf("i-%d", i), Rule(fmt.Sprintf("h%d.webhook-load.example", i%10), fmt.Sprintf("/p%d", i), "web", 80)), metav1.CreateOptions{})
			mutex.Lock()
			defer mutex.Unlock()
			failed = append(failed, err)
		})
	}
	group.Wait()
	if failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil }); len(failed) > 0 {
		t.Errorf("%d of 50 failed; the first: %v", len(failed), failed[0])
	}
	EventuallyAnswer(t, s.get("h9.webhook-load.example", "/p49"), "the pod", from("web"))
}
