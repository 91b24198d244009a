package bench

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sluice/test/bench/measure"
)

// mixedSize is how many Ingresses have a mix of behaviours, besides their canaries.
const mixedSize = 5_000

// mixedPrefix is that of annotations.
const mixedPrefix = "nginx.ingress.kubernetes.io/"

// mix are the annotations of every tenth Ingress, by the last digit of its number; the
// others have none. An Ingress whose number ends in canaried has a canary. Copies would
// go to an address for documentation (RFC 5737), so Ingresses that are asked have no
// mirror: those added later, the first and the last.
var mix = map[int]map[string]string{
	1:        {mixedPrefix + "affinity": "cookie", mixedPrefix + "session-cookie-name": "stay"},
	mirrored: {mixedPrefix + "mirror-target": "http://192.0.2.1:8080$request_uri"},
	3:        {mixedPrefix + "limit-rps": "100000", mixedPrefix + "limit-connections": "10000"},
	4:        {"sluice.io/paths.auth-type": "/images: basic", "sluice.io/paths.auth-secret": "/images: users"},
	5:        {mixedPrefix + "custom-headers": namespaceOf + "/headers"},
	6:        {mixedPrefix + "configuration-snippet": "if ($http_user_agent ~* robot) { return 403; }"},
}

const (
	mirrored = 2
	canaried = 7
)

// namespaceOf stands for the namespace of the Ingress.
const namespaceOf = "NAMESPACE"

// BenchmarkMixed is the life of BenchmarkScale where most Ingresses have a behaviour
// that shapes their locations, their backends or what stands at the http level.
func BenchmarkMixed(b *testing.B) {
	b.Run(fmt.Sprint(mixedSize), func(b *testing.B) {
		for range b.N {
			mixedLife(b, mixedSize)
		}
	})
}

func mixedLife(b *testing.B, n int) {
	b.StopTimer()
	defer b.StartTimer()
	l := &life{b: b, n: n, to: backends(b), folder: newFolder(b), unit: mixed, arguments: []string{"--configmap", "sluice/config"}}
	l.folder.put(b, "shared.yaml", mixedShared())
	l.folder.fillWith(b, n, l.unit, l.to.before...)
	l.begin()
	if problems := l.sluice.Log.Lines(b, "msg=problem "); len(problems) > 0 {
		b.Fatalf("not all of the mix is served: %d Problems, the first: %s", len(problems), problems[0])
	}
	l.changes()
	l.reloads()
	for range rounds / 2 {
		took, _ := test(b, l.sluice.State, l.sluice.conf())
		l.parsed = append(l.parsed, took)
	}
	l.end()
	for _, f := range l.mixedFigures() {
		f.Work = measure.Thousands(n)
		f.Report(b)
	}
}

// mixedFigures have no budget: those of BenchmarkScale are for Ingresses without a
// behaviour.
func (l *life) mixedFigures() []measure.Figure {
	figure := func(what, unit string, samples ...float64) measure.Figure {
		return measure.Figure{What: "mix: " + what, Unit: unit, Samples: samples}
	}
	return []measure.Figure{
		figure(measure.Start, "s", l.start), figure(measure.Add, "s", l.add...), figure(measure.Endpoints, "s", l.endpoints...),
		figure(measure.Processor, "s", l.cpu.Sum()), figure("CPU of the controller", "s", l.cpu.Controller),
		figure(measure.PeakOfAll, "MB", l.memory), figure(measure.PeakOfController, "MB", l.controller),
		figure(measure.ConfSize, "MB", l.conf), figure(measure.Parse, "s", l.parsed...),
	}
}

// mixedShared are the settings that the mix needs, and the headers and users of each
// namespace.
func mixedShared() []byte {
	var out bytes.Buffer
	out.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: sluice}\ndata:\n" +
		"  allow-snippet-annotations: \"true\"\n  annotations-risk-level: Critical\n  global-allowed-response-headers: X-Team\n")
	for i := range measure.Namespaces {
		fmt.Fprintf(&out, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: headers, namespace: %[1]s}\ndata: {X-Team: %[1]s}\n"+
			"---\napiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: %[1]s}\nstringData: {auth: \"ann:{PLAIN}%[1]s\"}\n", measure.Namespace(i))
	}
	return out.Bytes()
}

// mixed is unit i with its part of the mix.
func mixed(i int, ports ...int) []byte {
	place := []byte("  annotations:\n")
	var annotations bytes.Buffer
	annotations.Write(place)
	of := i % 10
	if of == mirrored && i >= mixedSize {
		of = 0
	}
	for key, value := range mix[of] {
		fmt.Fprintf(&annotations, "    %s: %q\n", key, strings.ReplaceAll(value, namespaceOf, measure.Namespace(i)))
	}
	text := bytes.Replace(unit(i, ports...), place, annotations.Bytes(), 1)
	if i%10 != canaried || i < measure.Namespaces {
		return text
	}
	return append(text, canary(i)...)
}

// canary sends a tenth of the requests of Ingress i to the Service of another one of
// its namespace.
func canary(i int) string {
	return fmt.Sprintf(`---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop-%[1]d-canary
  namespace: %[2]s
  creationTimestamp: "2026-01-02T15:04:05Z"
  annotations:
    nginx.ingress.kubernetes.io/canary: "true"
    nginx.ingress.kubernetes.io/canary-weight: "10"
    nginx.ingress.kubernetes.io/canary-by-header: X-Canary
spec:
  ingressClassName: nginx
  rules:
  - host: %[3]s
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: shop-%[4]d, port: {number: 80}}}}
`, i, measure.Namespace(i), measure.Host(i), i-measure.Namespaces)
}
