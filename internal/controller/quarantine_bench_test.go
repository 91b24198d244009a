package controller

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/quarantine"
	"sluice/internal/snapshot"
)

// given is a source whose objects the benchmark changes.
type given struct{ objects snapshot.Objects }

func (g *given) Load(context.Context) (snapshot.Loaded, error) {
	return snapshot.Loaded{Objects: g.objects}, nil
}

func (g *given) Watch(context.Context) (<-chan struct{}, error) { return nil, nil }

// BenchmarkSync is all work of a controller for a change of one of 10,000 Ingresses,
// alone and with 1,000 others in quarantine.
func BenchmarkSync(b *testing.B) {
	for _, quarantined := range []int{0, 1_000} {
		b.Run(fmt.Sprint(quarantined, "-in-quarantine"), func(b *testing.B) { benchSync(b, quarantined) })
	}
}

func benchSync(b *testing.B, quarantined int) {
	const n = 10_000
	source := &given{}
	for i := range n {
		ing := form(fmt.Sprintf("web-%d", i), fmt.Sprintf("host-%d.example", i))
		ing.Namespace, ing.CreationTimestamp = fmt.Sprintf("n%d", i%100), metav1.NewTime(time.Unix(int64(i), 0))
		ing.Spec.Rules[0].HTTP = servedBy("app")
		ing.Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-read-timeout": "5"}
		source.objects.Ingresses = append(source.objects.Ingresses, ing)
	}
	c := benchController(b, source)
	first := syncOnce(b, c)
	refused := time.Now().Add(-time.Hour) // so that no namespace is on probation
	c.quarantine = quarantine.New(quarantine.Judge{Same: sameForm, Protects: c.protectsMore}, func() time.Time { return refused })
	for i := 1; i <= quarantined; i++ {
		ing := source.objects.Ingresses[i*n/(quarantined+1)]
		c.quarantine.Refuse(0, quarantine.Finding{Subject: quarantine.Of(snapshot.RefOf(ing)), Refused: ing, Basis: first.basisOf(snapshot.RefOf(ing)), Apart: true, Verdict: quarantine.Verdict{Text: "refused"}})
	}
	refused = time.Now()
	round, began := 0, processor(b)
	b.ReportAllocs()
	for b.Loop() {
		round++
		changed := *source.objects.Ingresses[77]
		changed.Spec.Rules = []networkingv1.IngressRule{{Host: fmt.Sprintf("host-%d.round.example", round), IngressRuleValue: changed.Spec.Rules[0].IngressRuleValue}}
		source.objects.Ingresses = slices.Clone(source.objects.Ingresses)
		source.objects.Ingresses[77] = &changed
		if p := syncOnce(b, c); len(c.refusals()) != quarantined || len(p.config.Static.Servers) != n+1-quarantined {
			b.Fatalf("%d in quarantine, %d servers", len(c.refusals()), len(p.config.Static.Servers))
		}
	}
	b.ReportMetric(float64((processor(b)-began).Microseconds())/1000/float64(round), "cpu-ms/op")
}

// processor returns the processor time of this process so far, with garbage collection.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkGoodPod is what leaving out costs a pod of 5,000 Ingresses with snippets, all of them
// good, for each change: less than a millisecond. It runs no test (see TestAGoodPodTestsNothing).
func BenchmarkGoodPod(b *testing.B) {
	const n, most = 5_000, time.Millisecond
	source := &given{}
	cm := allowing()
	source.objects.ConfigMaps = append(source.objects.ConfigMaps, cm)
	for i := range n {
		ing := form(fmt.Sprintf("web-%d", i), fmt.Sprintf("host-%d.example", i))
		ing.Namespace, ing.CreationTimestamp = fmt.Sprintf("n%d", i%100), metav1.NewTime(time.Unix(int64(i), 0))
		ing.Spec.Rules[0].HTTP = servedBy("app")
		ing.Annotations = map[string]string{"nginx.ingress.kubernetes.io/configuration-snippet": "set $x 1;"}
		source.objects.Ingresses = append(source.objects.Ingresses, ing)
	}
	c := benchController(b, source)
	c.Translate.ConfigMap = config
	c.lastConfirmed = syncOnce(b, c)
	round, spent := 0, time.Duration(0)
	for b.Loop() {
		round++
		changed := *source.objects.Ingresses[77]
		changed.Annotations = map[string]string{"nginx.ingress.kubernetes.io/configuration-snippet": fmt.Sprintf("set $x %d;", round)}
		source.objects.Ingresses = slices.Clone(source.objects.Ingresses)
		source.objects.Ingresses[77] = &changed
		p, err := c.read(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		c.substitute(p)
		c.tryDue()
		spent += time.Since(began)
		c.latest = p
	}
	each := spent / time.Duration(round)
	b.ReportMetric(float64(each.Microseconds()), "us-to-leave-out/op")
	if each > most {
		b.Errorf("%v for each change, want less than %v", each, most)
	}
}

// syncOnce syncs, and confirms the plan.
func syncOnce(b *testing.B, c *Controller) *plan {
	b.Helper()
	p, err := c.read(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	c.decide(p)
	c.retired.note(c.wanted, p.config.Dynamic, p.number)
	c.wanted, c.latest = p.config.Dynamic, p
	c.report.Problems(p.problems)
	p.confirmed = true
	c.inForce(b.Context(), p)
	c.logSync(p, nil)
	return p
}

func servedBy(service string) *networkingv1.HTTPIngressRuleValue {
	kind := networkingv1.PathTypePrefix
	return &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: &kind, Backend: networkingv1.IngressBackend{
		Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Number: 80}}}}}}
}
