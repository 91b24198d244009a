package client

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"

	"sluice/internal/compare"
)

// Run asks two controllers all requests.
type Run struct {
	Client
	// Addresses are those of both controllers.
	Addresses [2]compare.Addresses
	Rules     compare.Rules
	// Rate limits the requests per second to each controller.
	Rate float64
	// Concurrency is how many requests are asked at once.
	Concurrency int
	// Tries is how often each controller is asked before an answer counts as different.
	Tries int
	// Progress is called after each request, by several goroutines.
	Progress func(done, differing int)

	limiter         *rate.Limiter
	done, differing atomic.Int64
	// unreached counts requests in a row without a connection to a controller.
	unreached [2]atomic.Int64
}

// mostUnreached is how many requests in a row may find no connection.
const mostUnreached = 20

// All returns the results of all requests, in their order. It ends with an error if a
// controller takes no connections any more, or if the context ends.
func (r *Run) All(ctx context.Context, requests []compare.Request) ([]compare.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.limiter = rate.NewLimiter(rate.Limit(r.Rate), max(1, int(r.Rate/10)))
	results := make([]compare.Result, len(requests))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range r.Concurrency {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(requests) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				results[i] = r.one(ctx, cancel, requests[i])
				if !results[i].Same() {
					r.differing.Add(1)
				}
				r.Progress(int(r.done.Add(1)), int(r.differing.Load()))
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return results, nil
}

// one asks a request of both controllers, again if their answers differ.
func (r *Run) one(ctx context.Context, cancel context.CancelCauseFunc, request compare.Request) compare.Result {
	var answers [2][]compare.Answer
	var result compare.Result
	for range r.Tries {
		if r.limiter.Wait(ctx) != nil {
			return result
		}
		for side := range answers {
			answers[side] = append(answers[side], r.ask(ctx, cancel, side, request))
		}
		if result = compare.Compare(request, answers, &r.Rules); result.Same() || len(result.Differences) == 0 {
			break
		}
	}
	return result
}

// ask asks one controller.
func (r *Run) ask(ctx context.Context, cancel context.CancelCauseFunc, side int, request compare.Request) compare.Answer {
	address := r.Addresses[side].Of(request.Scheme)
	answer := r.Ask(ctx, address, request)
	if answer.Fault != CannotConnect {
		r.unreached[side].Store(0)
	} else if r.unreached[side].Add(1) >= mostUnreached {
		cancel(fmt.Errorf("%s takes no connections any more", address))
	}
	return answer
}
