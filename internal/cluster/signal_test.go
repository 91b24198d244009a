package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// The first change goes at once; what comes soon after it goes together, when it
// is calm again or when the first of it has waited long enough.
func TestSignalsOfBursts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every time.Duration // between changes
		count int
		want  []time.Duration // when the signals come
	}{
		"one":            {count: 1, want: []time.Duration{0}},
		"a second soon":  {every: 2 * time.Millisecond, count: 2, want: []time.Duration{0, 2*time.Millisecond + quiet}},
		"a second later": {every: 500 * time.Millisecond, count: 2, want: []time.Duration{0, 500 * time.Millisecond}},
		"a burst":        {every: time.Millisecond, count: 50, want: []time.Duration{0, 49*time.Millisecond + quiet}},
		"a long burst":   {every: 5 * time.Millisecond, count: 24, want: []time.Duration{0, 105 * time.Millisecond, 115*time.Millisecond + quiet}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := newSignal()
				go s.run(ctx)
				start := time.Now()
				var got []time.Duration
				go func() {
					for {
						select {
						case <-ctx.Done():
							return
						case <-s.out:
							got = append(got, time.Since(start))
						}
					}
				}()
				for range c.count {
					s.touch()
					synctest.Wait()
					time.Sleep(c.every)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if len(got) != len(c.want) {
					t.Fatalf("signals at %v, want %v", got, c.want)
				}
				for i := range got {
					if got[i] != c.want[i] {
						t.Errorf("signals at %v, want %v", got, c.want)
						break
					}
				}
			})
		})
	}
}
