package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"sluice/internal/manifest/decode"
	"sluice/test/bench/measure"
	"sluice/test/cluster"
)

// work is a control plane, and what writes the objects of a size to it.
type work struct {
	b *testing.B
	n int
	// added is how many Ingresses there are, or were, besides the first n, and
	// prepared for how many a Service and an EndpointSlice are there.
	added, prepared int
	cluster         *cluster.Cluster
	clients         *kubernetes.Clientset
	// kubeconfig is the access that a sluice has.
	kubeconfig string
}

// The endpoints that all Services start with, and those that they are changed
// to: addresses of pods, because the API server takes none of loopback in an
// EndpointSlice.
var (
	before = measure.Slice{Port: backendPort, Addresses: []string{"10.244.200.1", "10.244.200.2"}}
	after  = measure.Slice{Port: backendPort, Addresses: []string{"10.244.201.1", "10.244.201.2"}}
)

const backendPort = 8080

// What the backends of these addresses answer.
const (
	beforeName = "before"
	afterName  = "after"
)

// newWork starts a control plane and the backends, and makes the namespaces.
func newWork(b *testing.B, n int) *work {
	b.Helper()
	w := &work{b: b, n: n, cluster: cluster.Start(b)}
	config := w.cluster.Config()
	config.ContentType = runtime.ContentTypeProtobuf // JSON would keep the processors busy
	var err error
	if w.clients, err = kubernetes.NewForConfig(config); err != nil {
		b.Fatal(err)
	}
	for name, slice := range map[string]measure.Slice{beforeName: before, afterName: after} {
		for _, address := range slice.Addresses {
			measure.Backend(b, name, address, slice.Port)
		}
	}
	w.cluster.Apply(b, cluster.IngressClass("nginx"))
	for i := range measure.Namespaces {
		w.cluster.Apply(b, cluster.Namespace(measure.Namespace(i)))
	}
	w.kubeconfig = w.cluster.Account(b, "default", "sluice", cluster.Everywhere(
		cluster.Allow("networking.k8s.io", []string{"ingresses", "ingressclasses"}, "get", "list", "watch"),
		cluster.Allow("networking.k8s.io", []string{"ingresses/status"}, "update", "patch"),
		cluster.Allow("", []string{"services", "secrets", "configmaps", "namespaces", "nodes", "pods"}, "get", "list", "watch"),
		cluster.Allow("discovery.k8s.io", []string{"endpointslices"}, "get", "list", "watch"),
		cluster.Allow("coordination.k8s.io", []string{"leases"}, "get", "create", "update"),
		cluster.Allow("", []string{"events"}, "create", "patch"),
	))
	return w
}

// unit is one Ingress with what it needs.
type unit struct {
	ingress *networkingv1.Ingress
	service *corev1.Service
	slice   *discoveryv1.EndpointSlice
}

// newUnit reads unit i as test/bench writes it. Its Service has no selector: the
// controller of EndpointSlices would make some of its own, without endpoints.
func newUnit(i int, endpoints measure.Slice) (unit, error) {
	objects, _, err := decode.FromYAML("unit.yaml", measure.Unit(i, endpoints))
	if err != nil {
		return unit{}, err
	}
	u := unit{ingress: objects.Ingresses[0], service: objects.Services[0], slice: objects.EndpointSlices[0]}
	u.service.Spec.Selector = nil
	return u, nil
}

// create creates the units from one number to before another, the last one when
// all others are there: watches tell of it after them.
func (w *work) create(from, to int) {
	w.b.Helper()
	whole := func(ctx context.Context, u unit) error {
		if err := w.createRest(ctx, u); err != nil {
			return err
		}
		return w.createIngress(ctx, u)
	}
	w.each(from, to-1, whole)
	w.each(to-1, to, whole)
}

// prepare has the Services and EndpointSlices of so many more Ingresses there.
func (w *work) prepare(count int) {
	w.b.Helper()
	w.each(w.n+w.prepared, w.n+w.prepared+count, w.createRest)
	w.prepared += count
}

// clear deletes everything. An Ingress is there for each that was prepared.
func (w *work) clear() {
	w.b.Helper()
	w.each(0, w.n+w.prepared, func(ctx context.Context, u unit) error {
		if err := w.clients.NetworkingV1().Ingresses(u.ingress.Namespace).Delete(ctx, u.ingress.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		if err := w.clients.CoreV1().Services(u.service.Namespace).Delete(ctx, u.service.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		return w.clients.DiscoveryV1().EndpointSlices(u.slice.Namespace).Delete(ctx, u.slice.Name, metav1.DeleteOptions{})
	})
	w.added, w.prepared = 0, 0
}

func (w *work) createIngress(ctx context.Context, u unit) error {
	_, err := w.clients.NetworkingV1().Ingresses(u.ingress.Namespace).Create(ctx, u.ingress, metav1.CreateOptions{})
	return err
}

func (w *work) createRest(ctx context.Context, u unit) error {
	if _, err := w.clients.CoreV1().Services(u.service.Namespace).Create(ctx, u.service, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := w.clients.DiscoveryV1().EndpointSlices(u.slice.Namespace).Create(ctx, u.slice, metav1.CreateOptions{})
	return err
}

// atOnce is how many units are written at the same time.
const atOnce = 32

// each does something with each unit from one number to before another.
func (w *work) each(from, to int, do func(context.Context, unit) error) {
	w.b.Helper()
	ctx, cancel := context.WithCancelCause(w.b.Context())
	defer cancel(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(atOnce, to-from) {
		all.Go(func() {
			for i := from + int(next.Add(1)) - 1; i < to && ctx.Err() == nil; i = from + int(next.Add(1)) - 1 {
				u, err := newUnit(i, before)
				if err == nil {
					err = do(ctx, u)
				}
				if err != nil {
					cancel(fmt.Errorf("unit %d: %w", i, err))
				}
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		w.b.Fatal(err)
	}
}
