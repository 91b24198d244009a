package cluster

import (
	"context"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"sluice/internal/kube"
)

// routed holds the Services and EndpointSlices of namespaces that something routes
// to. There is one watch of each kind for all namespaces. Objects of other namespaces
// are dropped on arrival, and read when something begins to route there.
type routed struct {
	source   *Source
	services collection[corev1.Service, *corev1.Service]
	slices   collection[discoveryv1.EndpointSlice, *discoveryv1.EndpointSlice]

	mu         sync.Mutex
	namespaces map[string]bool
}

func newRouted(s *Source) *routed {
	r := &routed{source: s, namespaces: map[string]bool{}}
	r.services.strip, r.services.changed = stripService, s.signal.touch
	r.services.keep = func(o *corev1.Service) bool { return r.has(o.Namespace) }
	r.slices.strip, r.slices.changed = stripSlice, s.signal.touch
	r.slices.keep = func(o *discoveryv1.EndpointSlice) bool { return r.has(o.Namespace) }
	return r
}

func (r *routed) has(namespace string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.namespaces[namespace]
}

// begin starts the watches, with the currently routed namespaces.
func (r *routed) begin(ctx context.Context, namespaces map[string]bool) {
	r.mu.Lock()
	r.namespaces = maps.Clone(namespaces)
	r.mu.Unlock()
	s := r.source
	where := kube.Selection{Namespace: s.o.Namespace}
	s.keepUp(ctx, "services", s.o.Client.ListWatch(kube.Services, where, func() runtime.Object { return &corev1.ServiceList{} }), &r.services)
	s.keepUp(ctx, "endpointslices", s.o.Client.ListWatch(kube.EndpointSlices, where, func() runtime.Object { return &discoveryv1.EndpointSliceList{} }), &r.slices)
}

// follow drops namespaces that are no longer routed, and reads newly routed ones. If
// a namespace cannot be read, that is a trouble, and the next call tries again.
func (r *routed) follow(ctx context.Context, namespaces map[string]bool) {
	r.mu.Lock()
	was := r.namespaces
	if maps.Equal(was, namespaces) {
		r.mu.Unlock()
		return
	}
	r.namespaces = maps.Clone(namespaces)
	r.mu.Unlock()
	var fresh []string
	for namespace := range namespaces {
		if !was[namespace] {
			fresh = append(fresh, namespace)
		}
	}
	for namespace := range was {
		if !namespaces[namespace] {
			r.source.troubles.forget(inNamespace(namespace))
		}
	}
	if len(was)+len(fresh) > len(namespaces) {
		r.services.prune()
		r.slices.prune()
	}
	r.readAll(ctx, fresh)
}

func inNamespace(namespace string) string { return "services and endpointslices of " + namespace }

// readAll reads namespaces outside the watches, a few at a time.
func (r *routed) readAll(ctx context.Context, namespaces []string) {
	if len(namespaces) == 0 {
		return
	}
	r.services.startApart()
	r.slices.startApart()
	services, slices := make([][]*corev1.Service, len(namespaces)), make([][]*discoveryv1.EndpointSlice, len(namespaces))
	aFewAtOnce(len(namespaces), func(i int) {
		var err error
		services[i], slices[i], err = r.read(ctx, namespaces[i])
		r.source.troubles.set(inNamespace(namespaces[i]), err)
		if err != nil {
			r.unread(namespaces[i])
			r.source.retry()
		}
	})
	for i := range namespaces {
		r.services.merge(services[i])
		r.slices.merge(slices[i])
	}
	r.services.endApart()
	r.slices.endApart()
}

// unread makes the next follow read a namespace again.
func (r *routed) unread(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.namespaces, namespace)
}

func (r *routed) read(ctx context.Context, namespace string) ([]*corev1.Service, []*discoveryv1.EndpointSlice, error) {
	client := r.source.o.Client
	var services corev1.ServiceList
	if err := client.List(ctx, kube.Services, namespace, metav1.ListOptions{}, &services); err != nil {
		return nil, nil, err
	}
	var parts discoveryv1.EndpointSliceList
	if err := client.List(ctx, kube.EndpointSlices, namespace, metav1.ListOptions{}, &parts); err != nil {
		return nil, nil, err
	}
	return pointers(services.Items), pointers(parts.Items), nil
}

// pointers copies each element to its own memory, so that one kept element does not
// keep the whole list.
func pointers[T any](items []T) []*T {
	list := make([]*T, len(items))
	for i := range items {
		o := items[i]
		list[i] = &o
	}
	return list
}
