package controller

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestSyncsOfABurstRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pace
		if p.later(time.Now()) {
			t.Error("the first sync waits")
		}
		p.took(20*time.Millisecond, time.Now())
		ended := time.Now()
		time.Sleep(10 * time.Millisecond)
		if first, second := p.later(time.Now()), p.later(time.Now()); !first || !second {
			t.Error("a sync does not wait that comes soon")
		}
		<-p.due
		if waited := time.Since(ended); waited != 60*time.Millisecond || p.later(time.Now()) {
			t.Errorf("it waits %v, want 60 ms", waited)
		}
		p.took(time.Minute, time.Now())
		if time.Until(p.free) != longestRest {
			t.Errorf("it waits until %v", p.free)
		}
	})
}
