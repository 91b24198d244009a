package webhook

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/admission"
	"sluice/internal/render"
	"sluice/internal/translate"
)

// BenchmarkReviews has new Ingresses reviewed by 50 clients at a time, alone and beside syncs that
// follow each other and decide on all Ingresses anew. The budget of the slowest of a hundred is
// 20 ms at 10,000 Ingresses.
func BenchmarkReviews(b *testing.B) {
	for _, c := range []struct {
		name  string
		n     int
		syncs bool
	}{{"100", 100, false}, {"1000", 1000, false}, {"10000", 10000, false}, {"10000BesideSyncs", 10000, true}} {
		b.Run(c.name, func(b *testing.B) {
			var basis admission.Basis
			s, _ := serverOf(b, c.n, func(o *Options) {
				o.Reviewed = func(Result) {}
				basis, _ = o.Basis()
			})
			body := reviewOf(b, ingress("shop", "new", 9, "new.h7.example", "new.example"), nil)
			if c.syncs {
				synced := syncing(b, basis)
				defer func() { b.ReportMetric(float64(synced()), "syncs") }()
			}
			for b.Loop() {
				took := reviewMany(s, body)
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			}
		})
	}
}

// reviewMany sends 40 reviews by each of 50 clients, and returns how long each took.
func reviewMany(s *Server, body []byte) (took []time.Duration) {
	var mutex sync.Mutex
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			for range 40 {
				began := time.Now()
				post(s, Path, "application/json", bytes.NewReader(body))
				mutex.Lock()
				took = append(took, time.Since(began))
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	return took
}

// syncing translates and prints all Ingresses again and again. It returns a function that ends
// this, and returns how often.
func syncing(b *testing.B, basis admission.Basis) (end func() int) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	synced := make(chan int)
	go func() {
		count := 0
		for ; ctx.Err() == nil; count++ {
			config, _ := translate.Config(basis.Snapshot, basis.Options.Translate, translate.NewMemo())
			basis.Options.Templates.Render(config.Static, basis.Options.Environment, render.NewCache())
		}
		synced <- count
	}()
	return func() int {
		cancel()
		return <-synced
	}
}
