package nginx

import (
	"context"
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

func TestLimiterWaitsForMemory(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		freed  time.Duration
		memory int64
		want   time.Duration
	}{
		{"within the budget", time.Hour, 100, 0},
		{"until it is freed", 3 * time.Second, 101, 3 * time.Second},
		{"but not for ever", time.Hour, 101, 10 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				draining := func() int64 {
					if time.Since(began) >= test.freed {
						return 0
					}
					return test.memory
				}
				err := NewLimiter(Limits{Draining: draining, Budget: 100}).Wait(t.Context())
				if got := time.Since(began); err != nil || got != test.want {
					t.Errorf("waited %v, want %v (%v)", got, test.want, err)
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
		err := NewLimiter(Limits{Draining: func() int64 { return 1 << 40 }}).Wait(ctx)
		if got := time.Since(began); err == nil || got != time.Second {
			t.Errorf("waited %v: %v", got, err)
		}
	})
}
