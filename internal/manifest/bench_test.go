package manifest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// many is the text of n Ingresses with their Services.
func many(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		fmt.Fprintf(&out, `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop-%[1]d, namespace: shop}
spec:
  rules:
  - host: shop-%[1]d.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: shop-%[1]d, port: {number: 80}}}}
---
apiVersion: v1
kind: Service
metadata: {name: shop-%[1]d, namespace: shop}
spec: {ports: [{port: 80}]}
`, i)
	}
	return out.Bytes()
}

// BenchmarkLoadFirst10000Files reads 10,000 files for the first time.
func BenchmarkLoadFirst10000Files(b *testing.B) {
	dir := manyFiles(b)
	for b.Loop() {
		loadBench(b, openBench(b, dir), 20_000)
	}
}

// BenchmarkLoadFirstOneFile reads one file of 10,000 Ingresses for the first
// time.
func BenchmarkLoadFirstOneFile(b *testing.B) {
	path := filepath.Join(b.TempDir(), "shops.yaml")
	if err := os.WriteFile(path, many(10_000), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		loadBench(b, openBench(b, path), 20_000)
	}
}

// BenchmarkLoadOneEditOf10000Files reads them again after one of them changed.
func BenchmarkLoadOneEditOf10000Files(b *testing.B) {
	dir := manyFiles(b)
	s := openBench(b, dir)
	loadBench(b, s, 20_000)
	for i := 0; b.Loop(); i++ {
		if err := os.WriteFile(filepath.Join(dir, "00000.yaml"), many(2+i%2), 0o644); err != nil {
			b.Fatal(err)
		}
		loadBench(b, s, 20_000)
	}
}

// BenchmarkLoadOneNotedOf10000Files is the same where a watch told which.
func BenchmarkLoadOneNotedOf10000Files(b *testing.B) {
	dir := manyFiles(b)
	s := openBench(b, dir)
	s.pending.watch()
	loadBench(b, s, 20_000)
	path := filepath.Join(dir, "00000.yaml")
	for i := 0; b.Loop(); i++ {
		if err := os.WriteFile(path, many(2+i%2), 0o644); err != nil {
			b.Fatal(err)
		}
		s.pending.file(path)
		loadBench(b, s, 20_000)
	}
}

// BenchmarkLoadOneEditOfOneFile reads one file of 10,000 Ingresses again after
// one of them changed.
func BenchmarkLoadOneEditOfOneFile(b *testing.B) {
	path := filepath.Join(b.TempDir(), "shops.yaml")
	text := many(10_000)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		b.Fatal(err)
	}
	s := openBench(b, path)
	loadBench(b, s, 20_000)
	for i := 0; b.Loop(); i++ {
		if err := os.WriteFile(path, bytes.Replace(text, []byte("path: /"), fmt.Appendf(nil, "path: /%d", i), 1), 0o644); err != nil {
			b.Fatal(err)
		}
		loadBench(b, s, 20_000)
	}
}

func manyFiles(b *testing.B) string {
	dir := b.TempDir()
	for i, text := range bytes.Split(many(10_000), []byte("---\napiVersion: networking"))[1:] {
		path := filepath.Join(dir, fmt.Sprintf("%05d.yaml", i))
		if err := os.WriteFile(path, append([]byte("apiVersion: networking"), text...), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func openBench(b *testing.B, path string) *Source {
	s, err := Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func loadBench(b *testing.B, s *Source, atLeast int) {
	r, err := s.Load(b.Context())
	if err != nil || r.Objects.Len() < atLeast || len(r.Errors) > 0 {
		b.Fatalf("got %d objects, %v, %v", r.Objects.Len(), r.Errors, err)
	}
}
