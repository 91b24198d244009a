package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// paths are those of every host, all of type Prefix.
var paths = []string{"/", "/api", "/images"}

func host(i int) string { return fmt.Sprintf("shop-%d.example.com", i) }

// unit writes one Ingress, its Service, and its EndpointSlice with a port of
// loopback for each endpoint.
func unit(i int, ports ...int) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop-%[1]d
  namespace: team-%[2]d
  annotations:
    nginx.ingress.kubernetes.io/ssl-redirect: "false"
  creationTimestamp: "2026-01-02T15:04:05Z"
spec:
  ingressClassName: nginx
  rules:
  - host: %[3]s
    http:
      paths:
`, i, i%97, host(i))
	for _, path := range paths {
		fmt.Fprintf(&out, `      - path: %s
        pathType: Prefix
        backend:
          service:
            name: shop-%d
            port:
              number: 80
`, path, i)
	}
	fmt.Fprintf(&out, `---
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
`, i, i%97)
	for at, port := range ports {
		out.Write(slice(i, at, port))
	}
	return out.Bytes()
}

// slice writes an EndpointSlice of one endpoint. All endpoints are on one
// address, and a slice has one port for all of its own.
func slice(i, at, port int) []byte {
	return fmt.Appendf(nil, `---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: shop-%[1]d-%[3]d
  namespace: team-%[2]d
  labels:
    kubernetes.io/service-name: shop-%[1]d
addressType: IPv4
endpoints:
- addresses: ["127.0.0.1"]
  conditions:
    ready: true
ports:
- name: http
  port: %[4]d
  protocol: TCP
`, i, i%97, at, port)
}

// oneFile joins the units of n Ingresses.
func oneFile(n int, ports ...int) []byte {
	var out bytes.Buffer
	for i := range n {
		out.WriteString("---\n")
		out.Write(unit(i, ports...))
	}
	return out.Bytes()
}

// folder is a directory of manifests, with a place beside it where files are
// written before they are renamed in.
type folder struct {
	path, beside string
}

func newFolder(b *testing.B) folder {
	b.Helper()
	dir := b.TempDir()
	f := folder{path: filepath.Join(dir, "manifests"), beside: filepath.Join(dir, "beside")}
	for _, path := range []string{f.path, f.beside} {
		if err := os.Mkdir(path, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	return f
}

// fill writes one file for each Ingress.
func (f folder) fill(b *testing.B, n int, ports ...int) {
	b.Helper()
	for i := range n {
		if err := os.WriteFile(filepath.Join(f.path, fileName(i)), unit(i, ports...), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

func fileName(i int) string { return fmt.Sprintf("shop-%d.yaml", i) }

// put renames a file into place, as editors and deployments do.
func (f folder) put(b *testing.B, name string, content []byte) {
	b.Helper()
	beside := filepath.Join(f.beside, name)
	if err := os.WriteFile(beside, content, 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(beside, filepath.Join(f.path, name)); err != nil {
		b.Fatal(err)
	}
}

// replace is put, and says when.
func (f folder) replace(b *testing.B, name string, content []byte) time.Time {
	b.Helper()
	f.put(b, name, content)
	return time.Now()
}

// clear removes all files.
func (f folder) clear(b *testing.B) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(f.path, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			b.Fatal(err)
		}
	}
}
