package nginx

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimiterSpacesReloadsOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{})
		began := time.Now()
		for range 25 {
			if err := l.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Since(began).Round(time.Millisecond); got != 2*time.Second {
			t.Errorf("25 reloads, 5 at once and 10 a second, took %v, want 2s", got)
		}
	})
}

// drained are generations of 100 bytes each. One serves; the others end when told to,
// or by themselves after a while.
type drained struct {
	began time.Time
	// freed is when they end by themselves.
	freed time.Duration
	loads []int
	ended []int
}

func (d *drained) Generations() (serving Generation, draining []Generation) {
	for _, load := range d.loads {
		if time.Since(d.began) < d.freed {
			draining = append(draining, Generation{Load: load, Workers: 2, Memory: 100})
		}
	}
	return Generation{Load: 99, Workers: 2, Memory: 100}, draining
}

func (d *drained) End(g Generation) {
	d.ended = append(d.ended, g.Load)
	d.loads = slices.DeleteFunc(d.loads, func(load int) bool { return load == g.Load })
}

// A reload leaves the serving generation behind, which needs memory too.
func TestLimiterMakesRoomForAGeneration(t *testing.T) {
	t.Parallel()
	const enough = 400
	tests := []struct {
		name  string
		freed time.Duration
		loads []int
		most  int64
		want  time.Duration
		ended []int
	}{
		{"one connection delays no reload", time.Hour, []int{1}, enough, 0, nil},
		{"up to the limit", time.Hour, []int{1, 2, 3}, enough, 0, nil},
		{"until it is freed", 3 * time.Second, []int{1, 2, 3, 4}, enough, 3 * time.Second, nil},
		{"the oldest is ended", time.Hour, []int{1, 2, 3, 4}, enough, 10*time.Second + drainEvery, []int{1}},
		{"as many as it takes", time.Hour, []int{1, 2, 3, 4, 5, 6}, enough, 10*time.Second + 3*drainEvery, []int{1, 2, 3}},
		{"not even one fits", time.Hour, []int{1, 2}, 50, 10*time.Second + 2*drainEvery, []int{1, 2}},
		{"512 MiB at least", time.Hour, []int{1, 2, 3, 4, 5, 6, 7, 8}, 0, 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				workers := &drained{began: began, freed: test.freed, loads: test.loads}
				err := NewLimiter(Limits{Workers: workers, DrainMemory: test.most}).Wait(t.Context())
				if got := time.Since(began); err != nil || got != test.want {
					t.Errorf("waited %v, want %v (%v)", got, test.want, err)
				}
				if !slices.Equal(workers.ended, test.ended) {
					t.Errorf("ended %v, want %v", workers.ended, test.ended)
				}
			})
		})
	}
}

func TestLimiterEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := NewLimiter(Limits{Workers: &drained{began: began, freed: time.Hour, loads: []int{1}}, DrainMemory: 1}).Wait(ctx)
		if got := time.Since(began); err == nil || got != time.Second {
			t.Errorf("waited %v: %v", got, err)
		}
	})
}
