package admission

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// reviewers is how many reviews run at a time, reviewsEach how many follow each other.
const reviewers, reviewsEach = 50, 20

// BenchmarkReview has new Ingresses reviewed by many at a time, beside others. The budget of the
// slowest of a hundred is 20 ms at 10,000.
func BenchmarkReview(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var all strings.Builder
			all.WriteString(class + web)
			for i := range n {
				all.WriteString(ingress(fmt.Sprintf("team-%d/i-%d", i%97, i), "", fmt.Sprintf("h%d.example/ web", i), fmt.Sprintf("h%d.example/api web", i)))
			}
			basis, r := stored(b, all.String()), New()
			candidate := one(b, ingress("shop/new", "nginx.ingress.kubernetes.io/limit-rps: '5'", "h7.example/new web"))
			for b.Loop() {
				report(b, func() { r.Review(basis, candidate, nil) })
			}
		})
	}
}

// report runs reviews, and reports how long they took.
func report(b *testing.B, review func()) {
	var took []time.Duration
	var mutex sync.Mutex
	var group sync.WaitGroup
	for range reviewers {
		group.Go(func() {
			for range reviewsEach {
				began := time.Now()
				review()
				mutex.Lock()
				took = append(took, time.Since(began))
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	slices.Sort(took)
	for name, at := range map[string]int{"median-ms": len(took) / 2, "p99-ms": len(took) * 99 / 100} {
		b.ReportMetric(float64(took[at].Microseconds())/1000, name)
	}
}
