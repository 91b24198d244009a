package webhook

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/admission"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// BenchmarkReviews has new Ingresses reviewed by 50 clients at a time: alone, beside syncs that
// follow each other, each of one changed Ingress, and beside syncs that decide on all Ingresses anew.
// A first round, which is not measured, has read all Ingresses. The budget of the slowest of a
// hundred is 20 ms at 10,000 Ingresses.
func BenchmarkReviews(b *testing.B) {
	for _, c := range []struct {
		name  string
		n     int
		syncs func(testing.TB, admission.Basis) func() int
	}{{"100", 100, nil}, {"1000", 1000, nil}, {"10000", 10000, nil}, {"10000BesideChanges", 10000, changing}, {"10000BesideSyncs", 10000, anew}} {
		b.Run(c.name, func(b *testing.B) {
			var basis admission.Basis
			s, _ := serverOf(b, c.n, func(o *Options) {
				o.Reviewed = func(Result) {}
				basis, _ = o.Basis()
			})
			body := reviewOf(b, ingress("shop", "new", 9, "new.h7.example", "new.example"), nil)
			reviewMany(s, body)
			if c.syncs != nil {
				synced := c.syncs(b, basis)
				defer func() { b.ReportMetric(float64(synced()), "syncs") }()
			}
			var took []time.Duration
			for b.Loop() {
				took = append(took, reviewMany(s, body)...)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkOneReview has one new Ingress reviewed after the other, so that it tells what one costs.
func BenchmarkOneReview(b *testing.B) {
	s, _ := serverOf(b, 10000, func(o *Options) { o.Reviewed = func(Result) {} })
	body := reviewOf(b, ingress("shop", "new", 9, "new.h7.example", "new.example"), nil)
	post(s, Path, "application/json", bytes.NewReader(body))
	b.ReportAllocs()
	for b.Loop() {
		post(s, Path, "application/json", bytes.NewReader(body))
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

// anew translates and prints all Ingresses again and again. It returns a function that ends this,
// and returns how often.
func anew(_ testing.TB, basis admission.Basis) (end func() int) {
	return again(func(int) { syncOnce(basis, basis.Snapshot, translate.NewMemo(), render.NewCache()) })
}

// changing syncs as the controller does, again and again, after a change of one Ingress each. What
// it returns is that of anew.
func changing(t testing.TB, basis admission.Basis) (end func() int) {
	t.Helper()
	memo, cache, all := translate.NewMemo(), render.NewCache(), basis.Snapshot.Ingresses()
	syncOnce(basis, basis.Snapshot, memo, cache)
	return again(func(count int) {
		changed := all[count%len(all)].DeepCopy()
		changed.Generation++
		changed.Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-read-timeout": strconv.Itoa(count + 1)}
		syncOnce(basis, basis.Snapshot.WithIngresses(map[snapshot.Name]*networkingv1.Ingress{snapshot.NameOf(changed): changed}), memo, cache)
	})
}

func syncOnce(basis admission.Basis, s *snapshot.Snapshot, memo *translate.Memo, cache *render.Cache) {
	config, _ := translate.Config(s, basis.Options.Translate, memo)
	basis.Options.Templates.Render(config.Static, basis.Options.Environment, cache)
}

// again calls a function with 0, 1, and so on, until end is called, which returns how often.
func again(do func(int)) (end func() int) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		count := 0
		for ; ctx.Err() == nil; count++ {
			do(count)
		}
		done <- count
	}()
	return func() int {
		cancel()
		return <-done
	}
}
