package diff

import (
	"fmt"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"sluice/internal/snapshot"
)

// manyObjects returns Ingresses of two paths each, of which every tenth has this path.
func manyObjects(count int, path string) snapshot.Objects {
	o := snapshot.Objects{IngressClasses: []*networkingv1.IngressClass{{ObjectMeta: metav1.ObjectMeta{Name: "nginx"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}}}}
	for i := range count {
		backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
		of := func(path string) networkingv1.HTTPIngressPath {
			return networkingv1.HTTPIngressPath{Path: path, PathType: ptr.To(networkingv1.PathTypePrefix), Backend: backend}
		}
		ing := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%d", i%100), Name: fmt.Sprintf("web-%d", i), CreationTimestamp: metav1.NewTime(time.Unix(int64(i), 0))}}
		ing.Spec.IngressClassName = ptr.To("nginx")
		paths := []networkingv1.HTTPIngressPath{of("/"), of("/api")}
		if i%10 == 0 {
			paths = append(paths, of(path))
		}
		ing.Spec.Rules = []networkingv1.IngressRule{{Host: fmt.Sprintf("host-%d.example", i), IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: paths}}}}
		o.Ingresses = append(o.Ingresses, ing)
	}
	return o
}

// BenchmarkCompare compares 10,000 Ingresses on each side, of which 1,000 differ.
func BenchmarkCompare(b *testing.B) {
	before, after := sideOf(b, manyObjects(10_000, "/old"), nil), sideOf(b, manyObjects(10_000, "/new"), nil)
	b.ReportAllocs()
	for b.Loop() {
		if r := Compare(before, after); len(r.Routes) != 2000 {
			b.Fatalf("%d routes differ", len(r.Routes))
		}
	}
}

// BenchmarkWhole is that with the work of the core for both sides.
func BenchmarkWhole(b *testing.B) {
	for b.Loop() {
		Compare(sideOf(b, manyObjects(10_000, "/old"), nil), sideOf(b, manyObjects(10_000, "/new"), nil))
	}
}

// Each of 10,000 hosts is compared once, and a host with thousands of paths does not take
// minutes.
func TestLargeSidesTakeSeconds(t *testing.T) {
	t.Parallel()
	one := func(paths int, service string) Side {
		objects := manyObjects(1, "/x")
		http := objects.Ingresses[0].Spec.Rules[0].HTTP
		for i := range paths {
			path := *http.Paths[0].DeepCopy()
			path.Path, path.Backend.Service.Name = fmt.Sprintf("/p%d/", i), service
			http.Paths = append(http.Paths, path)
		}
		return sideOf(t, objects, nil)
	}
	r := Compare(one(3000, "web"), one(3000, "other"))
	if r.Unasked != 1 || len(r.Routes) != 3000 {
		t.Errorf("%d routes differ, and %d hosts were too large", len(r.Routes), r.Unasked)
	}
}
