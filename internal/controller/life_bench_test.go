package controller

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/ocsp"
	"sluice/internal/prober"
	"sluice/internal/render"
	"sluice/internal/resolver"
	"sluice/internal/templatedir"
	"sluice/internal/translate"
)

// unit is an Ingress with three paths, its Service and its two endpoints.
type unit struct {
	ingress *networkingv1.Ingress
	service *corev1.Service
	slice   *discoveryv1.EndpointSlice
}

func newUnit(i int) unit {
	meta := metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%d", i%97), Name: fmt.Sprintf("shop-%d", i), CreationTimestamp: metav1.NewTime(time.Unix(int64(i), 0))}
	labelled := meta
	labelled.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
	ing := form(meta.Name, fmt.Sprintf("shop-%d.example", i))
	ing.ObjectMeta = meta
	paths := servedBy(meta.Name)
	for _, path := range []string{"/api", "/static"} {
		more := paths.Paths[0]
		more.Path = path
		paths.Paths = append(paths.Paths, more)
	}
	ing.Spec.Rules[0].HTTP = paths
	return unit{ing,
		&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}},
		&discoveryv1.EndpointSlice{ObjectMeta: labelled, AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}, {Addresses: []string{"10.0.0.2"}}},
			Ports:     []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}}}}
}

// add appends units, as a collection of package cluster does.
func (g *given) add(units ...unit) {
	for _, u := range units {
		g.objects.Ingresses = append(g.objects.Ingresses, u.ingress)
		g.objects.Services = append(g.objects.Services, u.service)
		g.objects.EndpointSlices = append(g.objects.EndpointSlices, u.slice)
	}
}

// removeFirst removes units; the last ones take their places.
func (g *given) removeFirst(n int) {
	g.objects.Ingresses = withoutFirst(g.objects.Ingresses, n)
	g.objects.Services = withoutFirst(g.objects.Services, n)
	g.objects.EndpointSlices = withoutFirst(g.objects.EndpointSlices, n)
}

func withoutFirst[T any](list []T, n int) []T {
	kept := slices.Clone(list[:len(list)-n])
	copy(kept, list[max(len(list)-n, n):])
	return kept
}

func benchController(b *testing.B, source Source) *Controller {
	b.Helper()
	templates, err := templatedir.Open("", slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	c, err := New(Options{
		Source: source, Templates: templates, StateDir: b.TempDir(), Log: slog.New(slog.DiscardHandler),
		Runtime:     dynamic.New(b.TempDir() + "/none.sock"), // nobody listens there
		Resolver:    resolver.New(resolver.Options{Logger: slog.New(slog.DiscardHandler)}),
		Prober:      prober.New(slog.New(slog.DiscardHandler)),
		Stapler:     ocsp.New(ocsp.Options{Logger: slog.New(slog.DiscardHandler)}),
		Translate:   translate.Options{WithoutClass: true, AnnotationsPrefix: "nginx.ingress.kubernetes.io", Memory: model.Memory{Backends: 1 << 30, Certificates: 1 << 30}},
		Environment: render.Environment{HTTPPort: 8080, HTTPSPort: 8443, StateDir: "/state", Lua: "/state/lua", Workers: 2},
	})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkOneAdded is all work of a controller for one new Ingress, with its Service
// and endpoints, beside 10,000 others.
func BenchmarkOneAdded(b *testing.B) {
	const n = 10_000
	source := &given{}
	for i := range n {
		source.add(newUnit(i))
	}
	c := benchController(b, source)
	syncOnce(b, c)
	round, began := 0, processor(b)
	b.ReportAllocs()
	for b.Loop() {
		source.add(newUnit(n + round))
		round++
		if p := syncOnce(b, c); len(p.config.Static.Servers) != n+1+round {
			b.Fatal(len(p.config.Static.Servers), "servers")
		}
	}
	b.ReportMetric(float64((processor(b)-began).Microseconds())/1000/float64(round), "cpu-ms/op")
}

// BenchmarkLife is the work of the loop while 10,000 Ingresses come and go as fast as
// an API server accepts them. It looks at every few changes, and makes one plan for
// many looks, as during reloads.
func BenchmarkLife(b *testing.B) {
	const n, aLook, aPlan = 10_000, 20, 20
	units := make([]unit, n)
	for i := range units {
		units[i] = newUnit(i)
	}
	began := processor(b)
	for b.Loop() {
		source := &given{}
		c := benchController(b, source)
		syncOnce(b, c)
		looks := 0
		look := func() {
			if looks++; looks%aPlan == 0 {
				syncOnce(b, c)
				return
			}
			p := c.look(b.Context())
			c.latest.mustBeTold(p.snap, c.Translate)
		}
		for at := 0; at < n; at += aLook {
			source.add(units[at : at+aLook]...)
			look()
		}
		for len(source.objects.Ingresses) > 0 {
			source.removeFirst(aLook)
			look()
		}
		if p := syncOnce(b, c); len(p.config.Static.Servers) != 1 {
			b.Fatal(len(p.config.Static.Servers), "servers")
		}
	}
	b.ReportMetric((processor(b)-began).Seconds()/float64(b.N), "cpu-s/op")
}
