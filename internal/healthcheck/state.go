package healthcheck

import (
	"time"

	"sluice/internal/model"
)

const (
	// calm is the time for which an endpoint that came back has to stay healthy. If it
	// leaves before, it comes back after twice as many right answers as the last time, but
	// not more than fit into this time. Each change costs a push to nginx.
	calm = 10 * time.Minute
	// sameReason is the shortest time between two changes of the reason of a failing
	// endpoint.
	sameReason = time.Minute
)

// state is what is known of a target. A new one is healthy, because Kubernetes reports the
// endpoint as ready, and because no endpoint would be left while Sluice starts.
type state struct {
	failing bool
	// against is the number of results in a row against the state.
	against int
	// reason is the reason of a failure, and since is when it became that.
	reason string
	since  time.Time
	// needed is the number of right answers after which a failing endpoint comes back, and
	// back is when it did so last.
	needed int
	back   time.Time
}

// learn reports whether a result changes the state, or the reason for it.
func (s *state) learn(check model.Check, failure string, now time.Time) (changed bool) {
	if (failure != "") == s.failing {
		s.against = 0
		return s.failing && s.explain(failure, now)
	}
	most := check.Unhealthy
	if s.failing {
		most = s.needed
	}
	if s.against++; s.against < most {
		return false
	}
	s.failing, s.against = !s.failing, 0
	if s.failing {
		s.leave(check, now)
		s.reason, s.since = failure, now
	} else {
		s.back = now
	}
	return true
}

// leave decides when the endpoint comes back.
func (s *state) leave(check model.Check, now time.Time) {
	if s.back.IsZero() || now.Sub(s.back) >= calm {
		s.needed = check.Healthy
		return
	}
	fit := int(calm/time.Second) / max(check.Interval, 1)
	s.needed = min(2*s.needed, max(check.Healthy, fit))
}

// explain notes the reason of a further failure, and reports whether it is a new one.
func (s *state) explain(failure string, now time.Time) (changed bool) {
	if failure == s.reason || now.Sub(s.since) < sameReason {
		return false
	}
	s.reason, s.since = failure, now
	return true
}
