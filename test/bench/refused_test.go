package bench

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"sluice/test/bench/measure"
)

// What a new pod serves beside Ingresses that nginx refuses, in seconds.
const (
	servedBeside = 2
	readyBeside  = 10
)

// The Ingresses of BenchmarkRefused.
const (
	refusedHosts      = 200
	refusedNamespaces = 20
	refusedEach       = 15
)

// BenchmarkRefused starts a pod with 200 hosts and one Ingress that nginx refuses without
// naming it, and one with 20 namespaces of 15 bad snippets each besides.
func BenchmarkRefused(b *testing.B) {
	for range b.N {
		besideOne(b)
		besideMany(b)
	}
}

func besideOne(b *testing.B) {
	b.Helper()
	to := backends(b)
	took := func(more []byte) float64 {
		f := newFolder(b)
		f.fill(b, refusedHosts, to.before...)
		f.put(b, "more.yaml", more)
		s := start(b, f.path, "--configmap", "default/config")
		return measure.AwaitAll(b, s.HTTP, measure.Host(refusedHosts-1), measure.Served).Sub(s.began).Seconds()
	}
	alone := took([]byte(allowed))
	measure.Figure{
		What: "others served beside one that nginx refuses", Unit: "s", Work: fmt.Sprint(refusedHosts), Budget: servedBeside,
		Samples: []float64{took([]byte(allowed + bad("team-1", 0, "ssl-ciphers: FOO")))}, Baseline: alone, Beside: "without it",
	}.Report(b)
}

// besideMany waits until the pod is ready. Then all of the blameless must be served.
func besideMany(b *testing.B) {
	b.Helper()
	to, f := backends(b), newFolder(b)
	f.fill(b, refusedHosts, to.before...)
	var more bytes.Buffer
	more.WriteString(allowed)
	for namespace := range refusedNamespaces {
		for i := range refusedEach {
			more.WriteString(bad(fmt.Sprint("bad-", namespace), i, fmt.Sprintf("configuration-snippet: 'add_header X-A $nothing_%d;'", i)))
		}
	}
	f.put(b, "more.yaml", more.Bytes())
	s := start(b, f.path, "--configmap", "default/config")
	s.AwaitReady(b)
	took := time.Since(s.began).Seconds()
	for i := range refusedHosts {
		if a, err := measure.Ask(s.HTTP, measure.Host(i), "/"); err != nil || !measure.Served(a) {
			b.Errorf("the pod is ready, and %s answers %d %v", measure.Host(i), a.Status, err)
		}
	}
	measure.Figure{
		What: "ready beside 20 namespaces of 15 that nginx refuses", Unit: "s", Work: fmt.Sprint(refusedHosts), Budget: readyBeside,
		Samples: []float64{took},
	}.Report(b)
}

const allowed = `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: default}
data: {allow-snippet-annotations: "true", annotations-risk-level: Critical}
`

// bad is an Ingress that nginx refuses for an annotation.
func bad(namespace string, i int, annotation string) string {
	return fmt.Sprintf(`---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: bad-%[2]d
  namespace: %[1]s
  annotations:
    nginx.ingress.kubernetes.io/%[3]s
spec:
  ingressClassName: nginx
  rules:
  - host: bad-%[2]d.%[1]s.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: none, port: {number: 80}}}}
`, namespace, i, annotation)
}
