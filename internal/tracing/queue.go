package tracing

import (
	"sync"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// queue holds the spans that wait for the collector, up to a number.
type queue struct {
	mutex       sync.Mutex
	spans       []*tracepb.Span
	most, batch int
	// open is set if there is a collector. Without one, spans are not kept.
	open bool
	// dropped counts what had no room, here or in a worker, since the last call of lost.
	dropped int
	// full is signalled when a batch waits.
	full chan struct{}
}

func newQueue() *queue { return &queue{full: make(chan struct{}, 1)} }

func (q *queue) resize(most, batch int, open bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.most, q.batch, q.open = most, batch, open
	if !open {
		q.spans = nil
	}
}

// add adds spans, and counts those without room and those that a worker has dropped.
func (q *queue) add(spans []*tracepb.Span, lost int) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if !q.open {
		return
	}
	room := min(max(q.most-len(q.spans), 0), len(spans))
	q.spans = append(q.spans, spans[:room]...)
	q.dropped += lost + len(spans) - room
	if len(q.spans) >= q.batch {
		select {
		case q.full <- struct{}{}:
		default:
		}
	}
}

// take removes the next batch.
func (q *queue) take() []*tracepb.Span {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	n := min(max(q.batch, 1), len(q.spans))
	batch := append([]*tracepb.Span(nil), q.spans[:n]...)
	q.spans = append([]*tracepb.Span(nil), q.spans[n:]...)
	return batch
}

// lost returns the number of spans that were dropped since the last call.
func (q *queue) lost() int {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	n := q.dropped
	q.dropped = 0
	return n
}
