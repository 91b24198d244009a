package bench

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sluice/test/bench/measure"
	"sluice/test/kit"
)

// mixedRatio is how much more than Ingresses without a behaviour the mix may cost.
const mixedRatio = 1.5

// mixedPrefix is that of annotations.
const mixedPrefix = "nginx.ingress.kubernetes.io/"

// mixedOf is how many Ingresses the mix has before it begins anew.
const mixedOf = 20

// mix are the annotations of an Ingress, by the rest of its number divided by mixedOf: 40 %
// have none, 20 % a rewrite, 10 % authentication, 10 % a cookie for affinity, 5 % a canary,
// 15 % limits, buffers or CORS. The server that asking stands for lets all requests pass.
var mix = map[int][]string{
	8: rewriting, 9: rewriting, 10: rewriting, 11: rewriting,
	basic:    {"auth-type: basic", "auth-secret: users"},
	external: {"auth-url: http://" + asking + "/check", "auth-response-headers: X-User"},
	14:       sticky, 15: sticky,
	17: {"limit-rps: 100000", "limit-connections: 10000"},
	18: {"proxy-buffering: on", "proxy-buffer-size: 8k", "proxy-buffers-number: 8"},
	19: {"enable-cors: true", "cors-allow-origin: https://*.example.com"},
}

var (
	rewriting = []string{"use-regex: true", "rewrite-target: /$1"}
	sticky    = []string{"affinity: cookie", "session-cookie-name: stay"}
)

const (
	basic, external, canaried = 12, 13, 16
	asking                    = "AUTHENTICATION"
)

// BenchmarkMixed is the life of BenchmarkScale with a mix of behaviours as users have it.
func BenchmarkMixed(b *testing.B) {
	for _, n := range []int{1_000, 5_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				mixedLife(b, n)
			}
		})
	}
}

func mixedLife(b *testing.B, n int) {
	b.StopTimer()
	defer b.StartTimer()
	own := kit.OwnAddress(b)
	if own == "" {
		b.Skip("this machine has no address but its loopback, where no server may authenticate")
	}
	asked := fmt.Sprintf("%s:%d", own, measure.Backend(b, "authenticated", own, 0))
	l := &life{b: b, n: n, to: backends(b), folder: newFolder(b), unit: mixedOfSize(n, asked), closed: func(i int) bool { return i%mixedOf == basic }, arguments: []string{"--configmap", "sluice/config"}}
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

// mixedFigures have the budgets of BenchmarkScale, each 1.5 times as high.
func (l *life) mixedFigures() []measure.Figure {
	figure := func(what, unit string, budget float64, samples ...float64) measure.Figure {
		return measure.Figure{What: "mix: " + what, Unit: unit, Samples: samples, Budget: mixedRatio * budget}
	}
	may := measure.BudgetOf[l.n]
	return []measure.Figure{
		figure(measure.Start, "s", may.Start, l.start), figure(measure.Add, "s", may.Add, l.add...), figure(measure.Endpoints, "s", may.Endpoints, l.endpoints...),
		figure(measure.Processor, "s", may.CPU, l.cpu.Sum()), figure("CPU of the controller", "s", 0, l.cpu.Controller),
		figure(measure.PeakOfAll, "MB", may.Memory, l.memory), figure(measure.PeakOfController, "MB", may.Controller, l.controller),
		figure(measure.ConfSize, "MB", may.Conf, l.conf), figure(measure.Parse, "s", 0, l.parsed...),
	}
}

// mixedShared are the settings, and the users of each namespace.
func mixedShared() []byte {
	var out bytes.Buffer
	out.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: sluice}\ndata: {}\n")
	for i := range measure.Namespaces {
		fmt.Fprintf(&out, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: %[1]s}\nstringData: {auth: \"ann:{PLAIN}%[1]s\"}\n", measure.Namespace(i))
	}
	return out.Bytes()
}

// mixedOfSize gives each unit its part of the mix. Those added to n Ingresses are asked, so
// that none of them wants a password. asked is the address of the server that authenticates.
func mixedOfSize(n int, asked string) func(i int, ports ...int) []byte {
	return func(i int, ports ...int) []byte {
		of := i % mixedOf
		if i >= n && of == basic {
			of = 0
		}
		place := "  annotations:\n"
		annotations := place
		for _, annotation := range mix[of] {
			key, value, _ := strings.Cut(annotation, ": ")
			annotations += fmt.Sprintf("    %s%s: %q\n", mixedPrefix, key, strings.Replace(value, asking, asked, 1))
		}
		text := strings.Replace(string(unit(i, ports...)), place, annotations, 1)
		if len(mix[of]) > 0 && mix[of][1] == rewriting[1] {
			text = strings.NewReplacer("path: /\n", "path: /(.*)\n", "path: /api\n", "path: /api/(.*)\n", "path: /images\n", "path: /images/(.*)\n", "pathType: Prefix", "pathType: ImplementationSpecific").Replace(text)
		}
		if of == canaried && i >= measure.Namespaces {
			text += canary(i)
		}
		return []byte(text)
	}
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
