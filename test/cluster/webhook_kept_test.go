package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/admission/certificate"
)

// keptName is the name of the Secret and the Service of a webhook whose certificate Sluice keeps.
const keptName = "admission"

// kept is a webhook that two replicas answer, and whose certificate they keep.
type kept struct {
	*hook
	addresses [2]string
}

// newKept makes the Secret, which is empty, and the Service with the addresses of two replicas.
func newKept(t *testing.T, c *Cluster, name string) *kept {
	t.Helper()
	k := &kept{hook: hookFor(t, c, name), addresses: [2]string{newAddress(), newAddress()}}
	const port = 8443
	c.Apply(t, Namespace(name), classOf(name),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: keptName}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: keptName}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}}},
		&discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: name, Name: keptName, Labels: map[string]string{discoveryv1.LabelServiceName: keptName}},
			AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new(""), Port: new(int32(port)), Protocol: new(corev1.ProtocolTCP)}},
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{k.addresses[0]}}, {Addresses: []string{k.addresses[1]}}},
		})
	path := "/networking/v1/ingresses"
	k.registerAt(admissionregistrationv1.WebhookClientConfig{
		Service: &admissionregistrationv1.ServiceReference{Namespace: name, Name: keptName, Path: &path},
	}, admissionregistrationv1.Fail)
	for _, address := range k.addresses {
		runFor(t, c, name, "--validating-webhook", address+":8443", "--validating-webhook-configuration", name,
			"--validating-webhook-secret", name+"/"+keptName, "--validating-webhook-service", name+"/"+keptName)
	}
	return k
}

// presented is the number of the certificate that a replica presents.
func (k *kept) presented(ctx context.Context, address string) (string, error) {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // it is only looked at
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, "8443"))
	if err != nil {
		return "", err
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

// awaitPresented waits until both replicas present the same certificate, and another one than before.
func (k *kept) awaitPresented(before string) (now string) {
	k.t.Helper()
	Eventually(k.t, "the same new certificate of both replicas", func(ctx context.Context) error {
		first, err := k.presented(ctx, k.addresses[0])
		if err != nil {
			return err
		}
		second, err := k.presented(ctx, k.addresses[1])
		if err == nil && (first != second || first == before) {
			err = fmt.Errorf("they present %s and %s", first, second)
		}
		now = first
		return err
	})
	return now
}

// bundle is the caBundle, and secret the Secret.
func (k *kept) bundle(ctx context.Context) ([]byte, error) {
	configuration, err := k.clients.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, k.name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return configuration.Webhooks[0].ClientConfig.CABundle, nil
}

func (k *kept) secret(ctx context.Context) (*corev1.Secret, error) {
	return k.clients.CoreV1().Secrets(k.name).Get(ctx, keptName, metav1.GetOptions{})
}

// age replaces the certificate by one of 70 days ago, which is to be renewed.
func (k *kept) age() {
	k.t.Helper()
	secret, err := k.secret(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	service := keptName + "." + k.name + ".svc"
	old, err := certificate.Make([]string{service, service + ".cluster.local"}, time.Now().Add(-70*24*time.Hour), nil)
	if err != nil {
		k.t.Fatal(err)
	}
	secret.Data = old.Data()
	if _, err := k.clients.CoreV1().Secrets(k.name).Update(k.t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		k.t.Fatal(err)
	}
}

// reviews are those that were asked for until done is closed.
type reviews struct {
	asked  int
	failed []error
}

// TestKeptCertificate: two replicas make a certificate that the API server takes, and put an
// overwritten caBundle right. While the certificate is renewed, no review fails.
func TestKeptCertificate(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name = "webhook-kept"
	k := newKept(t, c, name)
	bad := annotated(ingressOf(name, name, "bad", Rule("bad.webhook-kept.example", "/", "web", 80)), "limit-rps", "many")
	denied := func(err error) bool { return refuses(err, "denied the request") }
	k.await("a refusal", bad, denied)
	first := k.awaitPresented("")

	if _, err := k.clients.AdmissionregistrationV1().ValidatingWebhookConfigurations().Patch(t.Context(), name, types.JSONPatchType,
		[]byte(`[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the caBundle that was removed", func(ctx context.Context) error {
		bundle, err := k.bundle(ctx)
		if err != nil {
			return err
		}
		secret, err := k.secret(ctx)
		if err == nil && !bytes.Equal(bundle, secret.Data["ca.crt"]) {
			err = errors.New("it is not that of the Secret")
		}
		return err
	})
	k.await("a refusal", bad, denied)

	var all reviews
	var asking sync.WaitGroup
	done := make(chan struct{})
	asking.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			all.asked++
			if err := k.dryRun(bad.DeepCopy()); !denied(err) {
				all.failed = append(all.failed, err)
			}
		}
	})
	k.age()
	second := k.awaitPresented(first)
	k.age()
	third := k.awaitPresented(second)
	close(done)
	asking.Wait()
	if len(all.failed) > 0 {
		t.Errorf("%d of %d reviews failed; the first: %v", len(all.failed), all.asked, all.failed[0])
	}
	if third == first || all.asked < 50 {
		t.Errorf("%d reviews while the certificates were %s, %s and %s", all.asked, first, second, third)
	}
	t.Logf("%d reviews during two renewals", all.asked)
}
