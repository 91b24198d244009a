package certificate

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

const foreign = "not ours"

// cluster is an API server with the two objects.
type cluster struct {
	mutex         sync.Mutex
	version       int
	secret        *corev1.Secret
	configuration *admissionregistrationv1.ValidatingWebhookConfiguration
	// forbidden are verbs and resources, such as "update secrets".
	forbidden map[string]bool
	// before is called once, before the next request of a verb and resource.
	before map[string]func()
}

func newCluster() *cluster {
	hook := func(name, service string) admissionregistrationv1.ValidatingWebhook {
		return admissionregistrationv1.ValidatingWebhook{Name: name, ClientConfig: admissionregistrationv1.WebhookClientConfig{
			CABundle: []byte(foreign), Service: &admissionregistrationv1.ServiceReference{Namespace: "sluice", Name: service},
		}}
	}
	return &cluster{
		secret: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "admission", ResourceVersion: "1"}},
		configuration: &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "sluice", ResourceVersion: "1"},
			Webhooks:   []admissionregistrationv1.ValidatingWebhook{hook("other.example", "other"), hook("validate.sluice.io", "webhook")},
		},
		version: 1, forbidden: map[string]bool{}, before: map[string]func(){},
	}
}

// ask is what each request begins with.
func (c *cluster) ask(verb string, r kube.Resource, name string) error {
	what := verb + " " + r.Plural
	c.mutex.Lock()
	first := c.before[what]
	delete(c.before, what)
	c.mutex.Unlock()
	if first != nil {
		first()
	}
	if c.forbidden[what] {
		return apierrors.NewForbidden(schema.GroupResource{Resource: r.Plural}, name, nil)
	}
	return nil
}

func (c *cluster) Get(_ context.Context, r kube.Resource, name snapshot.Name, into runtime.Object) error {
	if err := c.ask("get", r, name.Name); err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch into := into.(type) {
	case *corev1.Secret:
		c.secret.DeepCopyInto(into)
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		c.configuration.DeepCopyInto(into)
	}
	return nil
}

func (c *cluster) Update(_ context.Context, r kube.Resource, object kube.Object, _ ...string) error {
	if err := c.ask("update", r, object.GetName()); err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if object.GetResourceVersion() != c.secret.ResourceVersion {
		return apierrors.NewConflict(schema.GroupResource{Resource: r.Plural}, object.GetName(), nil)
	}
	c.version++
	c.secret = object.(*corev1.Secret).DeepCopy()
	c.secret.ResourceVersion = strconv.Itoa(c.version)
	return nil
}

func (c *cluster) Patch(_ context.Context, r kube.Resource, p kube.Patch, _ runtime.Object) error {
	if err := c.ask("patch", r, p.Name.Name); err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	was, _ := json.Marshal(c.configuration)
	is, err := strategicpatch.StrategicMergePatch(was, p.Body, admissionregistrationv1.ValidatingWebhookConfiguration{})
	if err != nil {
		return err
	}
	next := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := json.Unmarshal(is, next); err != nil {
		return err
	}
	if next.ResourceVersion != c.configuration.ResourceVersion {
		return apierrors.NewConflict(schema.GroupResource{Resource: r.Plural}, p.Name.Name, nil)
	}
	c.version++
	next.ResourceVersion = strconv.Itoa(c.version)
	c.configuration = next
	return nil
}

// world is a cluster with a clock and replicas.
type world struct {
	*testing.T
	*cluster
	clock time.Time
	log   bytes.Buffer
}

func newWorld(t *testing.T) *world {
	return &world{T: t, cluster: newCluster(), clock: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
}

func (w *world) replica() *Keeper {
	k := New(Options{
		Client: w.cluster, Secret: snapshot.Name{Namespace: "sluice", Name: "admission"}, Service: snapshot.Name{Namespace: "sluice", Name: "webhook"},
		Configuration: "sluice", Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
	k.now = func() time.Time { return w.clock }
	return k
}

func (w *world) look(replicas ...*Keeper) {
	w.Helper()
	for _, k := range replicas {
		if err := k.look(w.Context()); err != nil {
			w.Fatal(err)
		}
		w.wantTrusted(k)
	}
}

// wantTrusted: the API server takes the certificate that a replica presents, for the name that it
// asks for, and other webhooks are as they were.
func (w *world) wantTrusted(k *Keeper) {
	w.Helper()
	presented, err := k.Certificate(nil)
	if err != nil {
		w.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.configuration.Webhooks[1].ClientConfig.CABundle)
	for _, name := range []string{"webhook.sluice.svc", "webhook.sluice.svc.cluster.local"} {
		if _, err := presented.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: w.clock}); err != nil {
			w.Fatalf("the API server does not take it: %v", err)
		}
	}
	if got := string(w.configuration.Webhooks[0].ClientConfig.CABundle); got != foreign {
		w.Fatalf("the webhook of others has the bundle %q", got)
	}
}

// presentedAuthority is the authority of the certificate that a replica presents.
func (w *world) presentedAuthority(k *Keeper) []byte {
	return encode(authoritiesIn(k.presented().authorities, w.clock)[0])
}

func serial(k *Keeper) string { return k.presented().served.Leaf.SerialNumber.String() }

// TestAllPresentTheSame: the first replica fills the empty Secret, and the second reads it.
func TestAllPresentTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.replica(), w.replica()
	if _, err := a.Certificate(nil); err == nil {
		t.Error("there is a certificate before the first look")
	}
	w.look(a, b, a, b)
	if serial(a) != serial(b) {
		t.Error("they present different certificates")
	}
	if expires, ok := a.Expires(); !ok || !expires.Equal(w.clock.Add(life)) {
		t.Errorf("it expires at %v, %v", expires, ok)
	}
	if w.version != 3 {
		t.Errorf("the objects were written %d times, want 2", w.version-1)
	}
}

// TestAnotherReplicaIsFaster: its certificate counts and stays trusted, and nobody is told of an error.
func TestAnotherReplicaIsFaster(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"update secrets", "get validatingwebhookconfigurations", "patch validatingwebhookconfigurations"} {
		w := newWorld(t)
		a, b := w.replica(), w.replica()
		w.before[moment] = func() { w.look(b) }
		if err := a.look(t.Context()); err != nil {
			t.Errorf("%s: %v", moment, err)
		}
		if !a.overtaken {
			t.Errorf("%s: it does not look again soon", moment)
		}
		w.wantTrusted(b)
		w.look(a, b, a, b)
		if serial(a) != serial(b) {
			t.Errorf("%s: they present different certificates", moment)
		}
	}
}

// TestRotation: a certificate is renewed after two thirds of its life. Whatever a replica presents
// meanwhile is trusted, and the former authority goes when nothing of it is valid any more.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.replica(), w.replica()
	w.look(a, b)
	first := serial(a)
	w.clock = w.clock.Add(life * 65 / 100)
	w.look(a, b)
	if serial(a) != first || serial(b) != first {
		t.Fatal("it is renewed too early")
	}
	w.clock = w.clock.Add(life * 2 / 100)
	w.look(a)
	if serial(a) != first || a.next == nil {
		t.Error("the new certificate is presented before API servers can know of it")
	}
	if n := len(authoritiesIn(w.configuration.Webhooks[1].ClientConfig.CABundle, w.clock)); n != 2 {
		t.Errorf("the bundle has %d authorities, want 2", n)
	}
	w.look(b)
	w.configuration.Webhooks[1].ClientConfig.CABundle = w.presentedAuthority(a)
	w.look(a)
	if serial(a) != first {
		t.Error("the new certificate is presented although its authority was not in the bundle")
	}
	w.look(a)
	fresh := w.replica()
	w.look(fresh)
	if serial(a) == first || serial(b) != first || serial(fresh) != serial(a) {
		t.Error("the replica that has waited, and a fresh one, present the new certificate; the other does not yet")
	}
	w.wantTrusted(b)
	w.look(b)
	if serial(b) != serial(a) {
		t.Error("the other never does")
	}
	w.clock = w.clock.Add(life * 67 / 100)
	w.look(a, b, a, b)
	if n := len(authoritiesIn(w.secret.Data[authoritiesKey], w.clock)); n != 2 || bytes.Count(w.secret.Data[authoritiesKey], []byte("BEGIN")) != 2 {
		t.Errorf("the Secret has %d authorities that are valid:\n%s", n, w.secret.Data[authoritiesKey])
	}
}

// TestOverwrittenBundle: it is put right, also if two replicas do so at a time.
func TestOverwrittenBundle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.replica(), w.replica()
	w.look(a, b)
	for _, text := range []string{"", foreign} {
		w.configuration.Webhooks[1].ClientConfig.CABundle = []byte(text)
		w.before["patch validatingwebhookconfigurations"] = func() { w.look(b) }
		w.look(a)
	}
	if got := w.configuration.Webhooks[1].ClientConfig.CABundle; !bytes.Equal(got, w.secret.Data[authoritiesKey]) {
		t.Errorf("the bundle is %s", got)
	}
}

// TestRubbish: whatever a Secret holds that cannot be presented is replaced, the log says why, and
// what is presented meanwhile stays trusted.
func TestRubbish(t *testing.T) {
	t.Parallel()
	other := newWorld(t)
	other.look(other.replica())
	strange, err := Make([]string{"another.sluice.svc"}, other.clock, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(data map[string][]byte)
		says   string
	}{
		"no PEM":              {func(data map[string][]byte) { data[chainKey] = []byte("rubbish") }, "want a certificate in tls.crt"},
		"no key":              {func(data map[string][]byte) { delete(data, privateKey) }, "its key in tls.key"},
		"another's key":       {func(data map[string][]byte) { data[privateKey] = other.secret.Data[privateKey] }, "does not match"},
		"no authority":        {func(data map[string][]byte) { delete(data, authoritiesKey) }, "an authority in ca.crt"},
		"rubbish beside it":   {func(data map[string][]byte) { data[authoritiesKey] = bytes.Repeat([]byte("-----BEGIN "), 1000) }, "an authority in ca.crt"},
		"another's authority": {func(data map[string][]byte) { data[authoritiesKey] = other.secret.Data[authoritiesKey] }, "unknown authority"},
		"another's name": {func(data map[string][]byte) {
			for key, value := range strange.Data() {
				data[key] = value
			}
		}, "another.sluice.svc"},
		"nothing": {func(data map[string][]byte) { clear(data) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a, b := w.replica(), w.replica()
			w.look(a, b)
			first := serial(a)
			w.secret.Data["of others"] = []byte("x")
			c.change(w.secret.Data)
			if c.says == "" { // as by helm upgrade --force
				w.configuration.Webhooks[1].ClientConfig.CABundle = nil
			}
			w.look(a, b, a, b)
			if serial(a) == first || serial(a) != serial(b) {
				t.Error("they do not present the same new certificate")
			}
			if told := w.log.String(); !strings.Contains(told, c.says) || strings.Contains(told, "cannot be used") != (c.says != "") {
				t.Errorf("the log has\n%s", told)
			}
		})
	}
}

// TestExpired: a replica that starts after the end of the stored certificate makes a new one.
func TestExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.replica()
	w.look(a)
	w.clock = w.clock.Add(life + time.Hour)
	w.look(w.replica())
	w.look(a)
}

// TestMissingRights: the error names verb, resource and object, it is logged once, as is its end, and what
// is there is presented on.
func TestMissingRights(t *testing.T) {
	t.Parallel()
	for right, says := range map[string]string{
		"get secrets":                           "get Secret sluice/admission",
		"update secrets":                        "update Secret sluice/admission",
		"get validatingwebhookconfigurations":   "get ValidatingWebhookConfiguration sluice",
		"patch validatingwebhookconfigurations": "patch ValidatingWebhookConfiguration sluice",
	} {
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.replica()
			w.look(a)
			first := serial(a)
			w.clock = w.clock.Add(life * 7 / 10)
			w.forbidden[right] = true
			for range 3 {
				err := a.look(t.Context())
				if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "forbidden") {
					t.Fatalf("the error is %v", err)
				}
				a.logOnce(err)
			}
			if n := strings.Count(w.log.String(), "is not kept"); n != 1 {
				t.Errorf("it is logged %d times:\n%s", n, w.log.String())
			}
			if serial(a) != first {
				t.Error("another certificate is presented")
			}
			w.wantTrusted(a)
			if stored, err := Parse(w.secret.Data, a.names(), w.clock); err != nil || !stored.is(a.presented()) {
				t.Errorf("a certificate is stored that API servers cannot be told of (%v)", err)
			}
			delete(w.forbidden, right)
			for range 3 {
				a.logOnce(a.look(t.Context()))
			}
			if n := strings.Count(w.log.String(), "is kept again"); n != 1 {
				t.Errorf("the end of the trouble is logged %d times:\n%s", n, w.log.String())
			}
			if serial(a) == first {
				t.Error("it is not renewed when the right is there")
			}
		})
	}
}

// TestNoWebhookOfOurs: the error says which Service is wanted.
func TestNoWebhookOfOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configuration.Webhooks = w.configuration.Webhooks[:1]
	if err := w.replica().look(t.Context()); err == nil || !strings.Contains(err.Error(), "want a webhook with the Service sluice/webhook") {
		t.Errorf("%v", err)
	}
}
