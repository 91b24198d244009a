package measure

import (
	"bytes"
	"fmt"
)

// Paths are those of every host, all of type Prefix.
var Paths = []string{"/", "/api", "/images"}

// Namespaces is how many the Ingresses are spread over.
const Namespaces = 97

// Host is the one of Ingress i.
func Host(i int) string { return fmt.Sprintf("shop-%d.example.com", i) }

// Namespace is the one of Ingress i and of what it refers to.
func Namespace(i int) string { return fmt.Sprintf("team-%d", i%Namespaces) }

// Slice says which endpoints an EndpointSlice has: one port for all addresses.
type Slice struct {
	Port      int
	Addresses []string
}

// Unit writes Ingress i, its Service, and its EndpointSlices.
func Unit(i int, slices ...Slice) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop-%[1]d
  namespace: %[2]s
  annotations:
    nginx.ingress.kubernetes.io/ssl-redirect: "false"
  creationTimestamp: "2026-01-02T15:04:05Z"
spec:
  ingressClassName: nginx
  rules:
  - host: %[3]s
    http:
      paths:
`, i, Namespace(i), Host(i))
	for _, path := range Paths {
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
  namespace: %[2]s
spec:
  selector:
    app: shop-%[1]d
  ports:
  - name: http
    port: 80
    targetPort: 8080
`, i, Namespace(i))
	for at, s := range slices {
		s.write(&out, i, at)
	}
	return out.Bytes()
}

func (s Slice) write(out *bytes.Buffer, i, at int) {
	fmt.Fprintf(out, `---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: shop-%[1]d-%[3]d
  namespace: %[2]s
  labels:
    kubernetes.io/service-name: shop-%[1]d
addressType: IPv4
endpoints:
`, i, Namespace(i), at)
	for _, address := range s.Addresses {
		fmt.Fprintf(out, "- addresses: [%q]\n  conditions:\n    ready: true\n", address)
	}
	fmt.Fprintf(out, "ports:\n- name: http\n  port: %d\n  protocol: TCP\n", s.Port)
}
