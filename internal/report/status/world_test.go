package status

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
	"sluice/test/kubetest"
)

// world is an API server, and replicas that write to it, in a bubble where time
// is simulated.
type world struct {
	*testing.T
	api *kubetest.Server

	mu sync.Mutex
	// known is what informers know; it is as old as the last call of inform.
	known map[snapshot.Name]*networkingv1.Ingress
	log   strings.Builder
}

func inBubble(t *testing.T, test func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		test(&world{T: t, api: kubetest.New(t), known: map[snapshot.Name]*networkingv1.Ingress{}})
	})
}

// Write takes the log.
func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log.Write(line)
	return w.Output().Write(line)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// inform has informers know what the API server has.
func (w *world) inform() {
	w.Helper()
	known := map[snapshot.Name]*networkingv1.Ingress{}
	w.api.All(kube.Ingresses, func(decode func(kube.Object)) {
		ing := &networkingv1.Ingress{}
		decode(ing)
		ing.ManagedFields, ing.Annotations = nil, nil
		known[snapshot.Name{Namespace: ing.Namespace, Name: ing.Name}] = ing
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = known
}

func (w *world) ingress(name snapshot.Name) *networkingv1.Ingress {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known[name]
}

// lead is a leadership that a test gives and takes.
type lead struct {
	leads   atomic.Bool
	changes chan struct{}
}

func (l *lead) IsLeader() bool           { return l.leads.Load() }
func (l *lead) Changes() <-chan struct{} { return l.changes }

// replica is one process that writes.
type replica struct {
	*Statuses
	lead
	addresses atomic.Pointer[[]Address]
	problems  atomic.Int32 // how often they were said to have changed
}

// setLeads gives or takes the leadership.
func (r *replica) setLeads(leads bool) {
	r.leads.Store(leads)
	r.changes <- struct{}{}
	synctest.Wait()
}

// start runs a replica that leads, and serves what is there.
func (w *world) start(addresses ...string) *replica {
	w.Helper()
	r := w.prepare(w.api.Client(), addresses...)
	r.leads.Store(true)
	go r.Run(w.Context(), &r.lead)
	w.serve(r)
	return r
}

func (w *world) prepare(client *kube.Client, addresses ...string) *replica {
	r := &replica{lead: lead{changes: make(chan struct{}, 1)}}
	all := inOrder(parseAll(addresses))
	r.addresses.Store(&all)
	r.Statuses = New(Options{
		Client: client, Ingress: w.ingress, Interval: time.Minute, Log: slog.New(slog.NewTextHandler(w, nil)),
		Source:  Source{read: func(context.Context) ([]Address, error) { return *r.addresses.Load(), nil }},
		Changed: func() { r.problems.Add(1) },
	})
	return r
}

// serve has a replica serve all that informers know, with port 80.
func (w *world) serve(r *replica) {
	w.Helper()
	w.inform()
	var list []Served
	w.mu.Lock()
	for name, ing := range w.known {
		list = append(list, Served{Name: name, UID: ing.UID, Ports: Ports(ing, port(80), port(443))})
	}
	w.mu.Unlock()
	r.Served(list)
	synctest.Wait()
}

func port(number int32) networkingv1.IngressPortStatus {
	return networkingv1.IngressPortStatus{Port: number, Protocol: "TCP"}
}

// pass lets time pass, with informers that lag a second behind, or some more if
// it is long.
func (w *world) pass(d time.Duration, replicas ...*replica) {
	w.Helper()
	lag := time.Second
	if d > time.Minute {
		lag = 10 * time.Second
	}
	for range d / lag {
		time.Sleep(lag)
		synctest.Wait()
		before := w.versions()
		w.inform()
		if !slices.Equal(before, w.versions()) {
			for _, r := range replicas {
				r.Recheck()
			}
		}
		synctest.Wait()
	}
}

// pause lets time pass while informers hear nothing.
func (w *world) pause(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) versions() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for name, ing := range w.known {
		all = append(all, name.String()+" "+ing.ResourceVersion)
	}
	slices.Sort(all)
	return all
}

var web = snapshot.Name{Namespace: "shop", Name: "web"}

// create makes an Ingress, perhaps with TLS.
func (w *world) create(name snapshot.Name, tls ...networkingv1.IngressTLS) {
	w.Helper()
	w.api.Put(kube.Ingresses, &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, Annotations: map[string]string{"kept": "yes"}},
		Spec:       networkingv1.IngressSpec{TLS: tls},
	})
}

func (w *world) get(name snapshot.Name) *networkingv1.Ingress {
	w.Helper()
	ing := &networkingv1.Ingress{}
	if !w.api.Get(kube.Ingresses, name, ing) {
		w.Fatalf("there is no Ingress %s", name)
	}
	return ing
}

// statusOf gives a status as one line.
func (w *world) statusOf(name snapshot.Name) string {
	w.Helper()
	var all []string
	for _, p := range w.get(name).Status.LoadBalancer.Ingress {
		line := p.IP + p.Hostname
		for _, port := range p.Ports {
			line += fmt.Sprintf(":%d", port.Port)
			if port.Error != nil {
				line += "!" + *port.Error
			}
		}
		all = append(all, line)
	}
	return strings.Join(all, " ")
}

func (w *world) want(name snapshot.Name, status string) {
	w.Helper()
	if got := w.statusOf(name); got != status {
		w.Errorf("the status of %s is %q, want %q", name, got, status)
	}
}

// overwrite writes a status as another controller does.
func (w *world) overwrite(name snapshot.Name, ip string) {
	w.Helper()
	ing := w.get(name)
	ing.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: ip}}
	ing.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: "Update", Time: new(metav1.Now()), FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}},
		{Manager: "nginx-ingress-controller", Operation: "Update", Subresource: "status", Time: new(metav1.Now()), FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:loadBalancer":{"f:ingress":{}}}}`)}},
	}
	w.api.Put(kube.Ingresses, ing)
}

// writes are the requests since the last call that write.
func (w *world) writes() []string {
	return slices.DeleteFunc(w.api.Requests(), func(r string) bool { return strings.HasPrefix(r, "GET ") })
}

func (w *world) wantWrites(n int) {
	w.Helper()
	if got := w.writes(); len(got) != n {
		w.Errorf("%d writes, want %d: %.300q", len(got), n, got)
	}
}
