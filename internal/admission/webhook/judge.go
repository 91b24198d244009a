package webhook

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/semaphore"

	"sluice/internal/admission"
)

const (
	// patience is how long a review may take: less than the API server waits for it, with the
	// chart's timeoutSeconds. One that takes longer is rejected, so that nobody can have an Ingress
	// stored unreviewed by making it, or others, slow.
	patience = 4 * time.Second
	// mostSmallParts is the most rules, paths and hosts of TLS that a small review judges.
	mostSmallParts = 2000
)

// patienceOf is how long a review may take that the API server asks for with a parameter such as
// timeout=5s, which says how long it waits.
func patienceOf(query url.Values) time.Duration {
	if waits, err := time.ParseDuration(query.Get("timeout")); err == nil && waits > 0 {
		return min(patience, waits*4/5)
	}
	return patience
}

// lane has the resources of small or of large reviews: bytes of memory, and how many are judged at
// a time. With more than there are processors, each would only take longer.
type lane struct{ memory, judging *semaphore.Weighted }

func newLane(bytes int64, judged int) *lane {
	return &lane{semaphore.NewWeighted(bytes), semaphore.NewWeighted(int64(judged))}
}

// judge judges an Ingress of ours, until ctx ends.
func (s *Server) judge(ctx context.Context, b admission.Basis, object, former *partial, in *lane) (admission.Verdict, error) {
	if text := object.tooLarge(); text != "" && (former == nil || !same(object, former)) {
		return admission.TooLarge(object.object, text), nil
	} else if text != "" {
		return admission.Verdict{Ours: true}, nil
	}
	late := func() (admission.Verdict, error) {
		return admission.TooLarge(object.object, "it could not be judged in time, as it is too large, or as others are judged: try again, or divide it"), nil
	}
	if in.judging.Acquire(ctx, 1) != nil {
		return late()
	}
	runtime.Gosched() // a review whose turn came before runs first, so that none waits for many later ones
	held := true
	defer func() { // also after a panic
		if held {
			in.judging.Release(1)
		}
	}()
	c, err := s.decoded(b, object, former)
	if err != nil {
		return admission.Verdict{}, &failure{http.StatusBadRequest, err.Error()}
	}
	if in == s.small && c.Parts <= mostSmallParts { // which is short, and waits for no other goroutine
		return c.Judge(ctx), nil
	}
	if in == s.small {
		in.judging.Release(1)
		in = s.large
		if held = in.judging.Acquire(ctx, 1) == nil; !held {
			return late()
		}
	}
	held = false // it is released by the judgement, also if nobody waits for that any more
	judged := make(chan admission.Verdict, 1)
	go func() {
		defer in.judging.Release(1)
		defer close(judged)
		defer s.recover()
		judged <- c.Judge(ctx)
	}()
	select {
	case v, ok := <-judged:
		if !ok {
			return v, &failure{http.StatusInternalServerError, "Sluice failed to judge it; its log says why"}
		}
		return v, nil
	case <-ctx.Done():
		return late()
	}
}

// recover logs a panic of a judgement, which is a fault of Sluice.
func (s *Server) recover() {
	if p := recover(); p != nil {
		s.options.Log.Error("a review failed", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}
}

// decoded returns the whole Ingress as a case.
func (s *Server) decoded(b admission.Basis, object, former *partial) (*admission.Case, error) {
	if err := object.complete(); err != nil {
		return nil, err
	}
	if former == nil {
		return s.reviewer.Open(b, object.object, nil), nil
	}
	if former.tooLarge() == "" {
		if err := former.complete(); err != nil {
			return nil, fmt.Errorf("%w as oldObject", err)
		}
	}
	return s.reviewer.Open(b, object.object, former.object), nil
}

// same reports whether two forms differ in nothing that is judged.
func same(object, former *partial) bool {
	return string(object.spec) == string(former.spec) && maps.Equal(object.object.Annotations, former.object.Annotations)
}
