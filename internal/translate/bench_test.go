package translate

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sluice/internal/snapshot"
)

const manyHosts = 10_000

// many returns n Ingresses of one host with three Prefix paths, each with a Service of
// two endpoints.
func many(n int) snapshot.Objects {
	o := snapshot.Objects{IngressClasses: []*networkingv1.IngressClass{{ObjectMeta: metav1.ObjectMeta{Name: "nginx"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}}}}
	for i := range n {
		name := fmt.Sprintf("app-%05d", i)
		meta := metav1.ObjectMeta{Namespace: "team", Name: name}
		o.Ingresses = append(o.Ingresses, manyIngress(meta, i, "80"))
		o.Services = append(o.Services, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}, {Name: "other", Port: 81, TargetPort: intstr.FromInt32(8081)}}}})
		labelled := meta
		labelled.Labels = map[string]string{discoveryv1.LabelServiceName: name}
		address := fmt.Sprintf("10.%d.%d.", i/250%250, i%250)
		o.EndpointSlices = append(o.EndpointSlices, &discoveryv1.EndpointSlice{ObjectMeta: labelled, AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{address + "1"}}, {Addresses: []string{address + "2"}}},
			Ports:     []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}}})
	}
	return o
}

func manyIngress(meta metav1.ObjectMeta, i int, port string) *networkingv1.Ingress {
	var number int32
	fmt.Sscan(port, &number)
	paths := &networkingv1.HTTPIngressRuleValue{}
	for _, path := range []string{"/", "/api", "/static"} {
		paths.Paths = append(paths.Paths, networkingv1.HTTPIngressPath{Path: path, PathType: new(networkingv1.PathTypePrefix), Backend: networkingv1.IngressBackend{
			Service: &networkingv1.IngressServiceBackend{Name: meta.Name, Port: networkingv1.ServiceBackendPort{Number: number}}}})
	}
	return &networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{IngressClassName: new("nginx"), Rules: []networkingv1.IngressRule{{
		Host: fmt.Sprintf("host-%05d.example.org", i), IngressRuleValue: networkingv1.IngressRuleValue{HTTP: paths}}}}}
}

func benchSnapshot(b *testing.B, o snapshot.Objects) *snapshot.Snapshot {
	b.Helper()
	s, problems := snapshot.New(o)
	if len(problems) > 0 {
		b.Fatal(problems[0])
	}
	return s
}

// BenchmarkConfig10000Cold translates 10,000 Ingresses with an empty memo.
func BenchmarkConfig10000Cold(b *testing.B) {
	s := benchSnapshot(b, many(manyHosts))
	b.ReportAllocs()
	for b.Loop() {
		if config, problems := Config(s, testOptions(), nil); len(config.Static.Servers) != manyHosts+1 || len(problems) > 0 {
			b.Fatal(len(config.Static.Servers), problems)
		}
	}
}

// BenchmarkConfig10000OneChange translates them again after a change of one Ingress,
// which a Builder of snapshots reports.
func BenchmarkConfig10000OneChange(b *testing.B) {
	o := many(manyHosts)
	memo := NewMemo()
	var builder snapshot.Builder
	translated := func(port string) {
		o.Ingresses = slices.Clone(o.Ingresses)
		o.Ingresses[manyHosts/2] = manyIngress(o.Ingresses[manyHosts/2].ObjectMeta, manyHosts/2, port)
		snap, _ := builder.Next(o)
		Config(snap, testOptions(), memo)
	}
	translated("80")
	b.ReportAllocs()
	for turn := 0; b.Loop(); turn++ {
		translated([]string{"81", "80"}[turn%2])
	}
}

func testOptions() Options {
	return Options{
		IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", ManifestMode: true,
		AnnotationsPrefix: "nginx.ingress.kubernetes.io", HTTPSPort: 443,
	}
}

// BenchmarkConfig10000ColdProtected adds an allow list to the settings. It protects all
// paths, so package guard checks each host.
func BenchmarkConfig10000ColdProtected(b *testing.B) {
	objects := many(manyHosts)
	objects.ConfigMaps = append(objects.ConfigMaps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "config"}, Data: map[string]string{"whitelist-source-range": "10.0.0.0/8"}})
	s, options := benchSnapshot(b, objects), testOptions()
	options.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"}
	for b.Loop() {
		Config(s, options, nil)
	}
}
