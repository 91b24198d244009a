package ocsp

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/model"
)

// TestMovedSecret: a certificate that another Secret has now keeps its state, and its trouble
// is that of the new Secret, also if it moved during a question.
func TestMovedSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		var hangs atomic.Bool
		n := &network{answer: func(string, []byte) *http.Response {
			if hangs.Load() {
				return nil
			}
			return body(http.StatusServiceUnavailable, nil)
		}}
		s, c := n.run(t), ca.issue(t, "shop", 7)
		s.Use(using(c))
		time.Sleep(time.Second)
		moved := *c
		moved.Namespace, moved.Name = "store", "tls"
		s.Use(using(&moved))
		if got, want := s.Troubles(), []Trouble{{"store", "tls", "the responder answers with status 503"}}; !slices.Equal(got, want) {
			t.Errorf("troubles %v, want %v", got, want)
		}
		hangs.Store(true)
		time.Sleep(retryAfter) // the second question hangs
		s.Use(using(c))
		time.Sleep(time.Minute)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.slots.all != 0 && s.slots.all != 1 || s.slots.of["store"] > 0 {
			t.Errorf("slots %v after a question whose Secret moved", s.slots.of)
		}
	})
}

// TestTroublesAreGathered: certificates that fail one after another cost a signal now and
// then, not one each.
func TestTroublesAreGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		n := &network{answer: func(string, []byte) *http.Response { return body(http.StatusServiceUnavailable, nil) }}
		s, signals := n.run(t), 0
		var all []*model.Certificate
		for serial := range int64(30) {
			all = append(all, ca.issue(t, "shop", serial+1))
			s.Use(using(all...))
			time.Sleep(time.Second)
			if signalled(s) {
				signals++
			}
		}
		if signals < 2 || signals > 3 {
			t.Errorf("%d signals in 30 s, want one each 15 s", signals)
		}
	})
}
