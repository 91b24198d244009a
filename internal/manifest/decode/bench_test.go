package decode

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// shops writes n Ingresses with three paths each, n Services and n
// EndpointSlices as kubectl would print them.
func shops(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		fmt.Fprintf(&out, `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop-%[1]d
  namespace: team-%[2]d
  annotations:
    nginx.ingress.kubernetes.io/proxy-read-timeout: "120"
    nginx.ingress.kubernetes.io/ssl-redirect: "false"
  creationTimestamp: "2026-01-02T15:04:05Z"
spec:
  ingressClassName: nginx
  rules:
  - host: shop-%[1]d.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service:
            name: shop-%[1]d
            port:
              number: 80
      - path: /api
        pathType: Prefix
        backend:
          service:
            name: shop-%[1]d
            port:
              number: 80
      - path: /images
        pathType: Prefix
        backend:
          service:
            name: shop-%[1]d
            port:
              name: http
---
apiVersion: v1
kind: Service
metadata:
  name: shop-%[1]d
  namespace: team-%[2]d
spec:
  selector:
    app: shop-%[1]d
  ports:
  - name: http
    port: 80
    targetPort: 8080
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: shop-%[1]d-abcde
  namespace: team-%[2]d
  labels:
    kubernetes.io/service-name: shop-%[1]d
addressType: IPv4
endpoints:
- addresses: ["10.0.1.7"]
  conditions: {ready: true}
- addresses:
  - 10.0.2.9
  conditions:
    ready: true
ports:
- name: http
  port: 8080
  protocol: TCP
`, i, i%97)
	}
	return out.Bytes()
}

// BenchmarkFromYAML10000 decodes 10,000 Ingresses, Services and slices each.
func BenchmarkFromYAML10000(b *testing.B) {
	data := shops(10_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		objects, _, err := FromYAML("shops.yaml", data)
		if err != nil || objects.Len() != 30_000 {
			b.Fatalf("got %d objects, %v", objects.Len(), err)
		}
	}
}

// BenchmarkReaderOneEdit10000 reads the same file again after one edit.
func BenchmarkReaderOneEdit10000(b *testing.B) {
	first := shops(10_000)
	second := bytes.Replace(first, []byte("path: /images"), []byte("path: /pictures"), 1)
	var r Reader
	versions := [2][]byte{first, second}
	if _, _, err := r.Read("shops.yaml", first); err != nil {
		b.Fatal(err)
	}
	for i := 1; b.Loop(); i++ {
		if _, _, err := r.Read("shops.yaml", versions[i%2]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNew30000 sorts and indexes them.
func BenchmarkNew30000(b *testing.B) {
	objects, _, err := FromYAML("shops.yaml", shops(10_000))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := snapshot.New(objects); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

// BenchmarkBuilderOneSlice is the same after one slice was replaced.
func BenchmarkBuilderOneSlice(b *testing.B) {
	objects, _, err := FromYAML("shops.yaml", shops(10_000))
	if err != nil {
		b.Fatal(err)
	}
	var builder snapshot.Builder
	builder.Next(objects)
	for b.Loop() {
		objects.EndpointSlices = slices.Clone(objects.EndpointSlices)
		objects.EndpointSlices[5_000] = objects.EndpointSlices[5_000].DeepCopy()
		if _, problems := builder.Next(objects); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

// BenchmarkWithIngresses replaces one of 10,000.
func BenchmarkWithIngresses(b *testing.B) {
	objects, _, err := FromYAML("shops.yaml", shops(10_000))
	if err != nil {
		b.Fatal(err)
	}
	s, _ := snapshot.New(objects)
	name := snapshot.Name{Namespace: "team-0", Name: "shop-0"}
	replace := map[snapshot.Name]*networkingv1.Ingress{name: s.Ingress(name).DeepCopy()}
	for b.Loop() {
		s.WithIngresses(replace)
	}
}
