package bench

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/manifest/decode"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
	"sluice/test/bench/measure"
)

// What translate and render may take together for 10,000 Ingresses, in seconds.
const (
	coreFresh  = 1.5
	coreChange = 0.060
)

// BenchmarkCore10000 translates and renders 10,000 Ingresses in this process,
// from nothing and after one of them changed.
func BenchmarkCore10000(b *testing.B) {
	const n = 10_000
	for range b.N {
		core(b, n)
	}
}

func core(b *testing.B, n int) {
	b.Helper()
	parsed, err := render.Load(templates.Files)
	if err != nil {
		b.Fatal(err)
	}
	objects, _, err := decode.FromYAML("all.yaml", oneFile(n, 8081, 8082))
	if err != nil {
		b.Fatal(err)
	}
	var fresh, change, snapshots []float64
	p := newPipeline(parsed)
	for range rounds / 2 {
		p = newPipeline(parsed)
		snap, _ := snapshot.New(objects)
		fresh = append(fresh, p.run(b, snap, n))
	}
	for round := range 2 * rounds {
		objects.Ingresses[n/2] = changed(b, n/2, round)
		runtime.GC()
		began := time.Now()
		snap, _ := snapshot.New(objects)
		snapshots = append(snapshots, time.Since(began).Seconds())
		change = append(change, p.run(b, snap, n))
	}
	for _, f := range []measure.Figure{
		{What: "translate and render from nothing", Unit: "s", Samples: fresh, Budget: coreFresh},
		{What: "translate and render after one change", Unit: "s", Samples: change, Budget: coreChange},
		{What: "snapshot after one change", Unit: "s", Samples: snapshots},
	} {
		f.Work = measure.Thousands(n)
		f.Report(b)
	}
}

// pipeline is what stays from one sync to the next.
type pipeline struct {
	templates *render.Templates
	memo      *translate.Memo
	cache     *render.Cache
}

func newPipeline(t *render.Templates) *pipeline {
	return &pipeline{templates: t, memo: translate.NewMemo(), cache: render.NewCache()}
}

// run translates and renders and gives the time it took.
func (p *pipeline) run(b *testing.B, snap *snapshot.Snapshot, n int) float64 {
	b.Helper()
	began := time.Now()
	config, problems := translate.Config(snap, translate.Options{
		IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", ManifestMode: true,
		AnnotationsPrefix: "nginx.ingress.kubernetes.io", HTTPSPort: 8443,
	}, p.memo)
	file, unprintable := p.templates.Render(config.Static, render.Environment{
		HTTPPort: 8080, HTTPSPort: 8443, StateDir: "/state", Lua: "/state/lua", Workers: 2, IPv6: true,
		Capabilities: render.Capabilities{HTTP2Directive: true},
	}, p.cache)
	took := time.Since(began).Seconds()
	if servers := len(config.Static.Servers); servers < n || len(problems)+len(unprintable) > 0 || file.Len() == 0 {
		b.Fatalf("%d servers, problems %v %v", servers, problems, unprintable)
	}
	return took
}

// changed is Ingress i with another path.
func changed(b *testing.B, i, round int) *networkingv1.Ingress {
	b.Helper()
	objects, _, err := decode.FromYAML("one.yaml", unit(i))
	if err != nil {
		b.Fatal(err)
	}
	objects.Ingresses[0].Spec.Rules[0].HTTP.Paths[2].Path = fmt.Sprintf("/images%d", round)
	return objects.Ingresses[0]
}
