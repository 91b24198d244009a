package cluster

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

// topped is what `top -o json` prints.
type topped struct {
	Pods      int
	Ingresses []struct {
		Namespace, Ingress         string
		RequestsPerSecond          float64
		ClientErrors, ServerErrors float64
		P50, P99                   *float64
	}
}

// pluginTop: requests are counted for the Ingresses that take them, and the counters of two
// pods are added up. Here both are the same sluice.
func pluginTop(t *testing.T, p *pluginScene) {
	ctx, stop := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	const pause = 20 * time.Millisecond
	for _, host := range []string{p.host(), "bad.plugin.example", "nobody.plugin.example"} {
		sending.Go(func() {
			for ctx.Err() == nil {
				_, _ = p.get(host, "/").Do(ctx)
				time.Sleep(pause)
			}
		})
	}
	defer sending.Wait()
	defer stop()
	look := func(arguments ...string) (got topped) {
		t.Helper()
		out := p.must(t, append([]string{"top", "--controller-namespace", p.system, "--output", "json"}, arguments...)...)
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	both, one := look("--all-namespaces", "--sort", "5xx"), look("--all-namespaces", "--pod", p.pods[1].Name, "--sort", "name")
	if len(both.Ingresses) != 3 || len(one.Ingresses) != 3 || both.Pods != 2 || one.Pods != 1 {
		t.Fatalf("both pods: %+v\none: %+v", both, one)
	}
	bad, shop, nobody := both.Ingresses[0], one.Ingresses[2], one.Ingresses[0]
	if bad.Namespace != p.name || bad.Ingress != "bad" || bad.ServerErrors != 1 || bad.ClientErrors != 0 {
		t.Errorf("an Ingress without a Service: %+v", bad)
	}
	if shop.Ingress != "shop" || shop.ServerErrors != 0 || shop.P50 == nil || shop.P99 == nil || *shop.P50 > *shop.P99 || shop.RequestsPerSecond <= 1 || shop.RequestsPerSecond > 1/pause.Seconds()+5 {
		t.Errorf("an Ingress with a Service: %+v", shop)
	}
	if nobody.Ingress != "" || nobody.ClientErrors != 1 {
		t.Errorf("requests that no Ingress takes: %+v", nobody)
	}
	if ratio := bad.RequestsPerSecond / one.Ingresses[1].RequestsPerSecond; math.Abs(ratio-2) > 0.8 {
		t.Errorf("of two pods %+v, of one %+v", bad, one.Ingresses[1])
	}
	if table := p.must(t, "top", "--controller-namespace", p.system, "--namespace", "plugin", "--interval", "1s"); !strings.HasPrefix(table, "NAMESPACE   INGRESS   REQUESTS/S   4XX") || strings.Count(table, "\n") != 3 {
		t.Errorf("the table is\n%s", table)
	}
	quiet := p.run(t, "top", "--controller-namespace", p.system, "--namespace", "default", "--interval", "1s")
	if quiet.status != 0 || quiet.out != "" || !strings.Contains(quiet.errs, `s in the namespace "default"`) {
		t.Errorf("without requests: %+v", quiet)
	}
	p.fails(t, []string{"top", "--interval", "3ms"}, "--interval: want a time from 1s to 10m0s (got 3ms)")
	p.fails(t, []string{"top", "--sort", "size"}, `--sort: want requests, 4xx, 5xx, p50, p99 or name (got "size")`)
}
