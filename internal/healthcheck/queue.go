package healthcheck

import (
	"cmp"
	"strings"
	"time"
)

// The maximum number of concurrent checks, in total and for one namespace, and of checks in
// a second. If there are more targets, each is checked less often than asked. Namespaces
// take turns, so that one of them does not delay the others.
const (
	MostRunning            = 256
	MostRunningOfNamespace = 16
	MostInSecond           = 250
)

// turns decides which namespace comes next. A target of several namespaces is in the queue
// of each, and is checked in the first turn of any.
type turns struct {
	spaces map[string]*namespace
	// ready are the namespaces with a target that was due at the last call of next, by
	// their turns. waiting are the others with a target, by the time of the first. Those that
	// run as many checks as they may are in neither.
	ready, waiting ordered[*namespace]
	running        int
	// starts counts the checks. free is when the next one may start.
	starts int
	free   time.Time
}

// namespace is the queue of a namespace.
type namespace struct {
	name   string
	places map[*entry]*place
	// queue has the places whose checks do not run, by due.
	queue   ordered[*place]
	running int
	// last is the value of starts when its last check began.
	last               int
	inReady, inWaiting int
}

// place is a target in a namespace.
type place struct {
	*entry
	of *namespace
	at int // in the queue
	// uses is the number of backends of the namespace with the target.
	uses int
}

func newTurns() turns {
	return turns{
		spaces:  map[string]*namespace{},
		ready:   ordered[*namespace]{less: (*namespace).before, at: func(n *namespace) *int { return &n.inReady }},
		waiting: ordered[*namespace]{less: func(n, o *namespace) bool { return n.due().Before(o.due()) }, at: func(n *namespace) *int { return &n.inWaiting }},
	}
}

func (t *turns) namespace(name string) *namespace {
	n := t.spaces[name]
	if n == nil {
		n = &namespace{name: name, last: t.starts, places: map[*entry]*place{}, inReady: absent, inWaiting: absent}
		n.queue = ordered[*place]{less: func(p, o *place) bool { return p.due.Before(o.due) }, at: func(p *place) *int { return &p.at }}
		t.spaces[name] = n
	}
	return n
}

// due is when its first target is due.
func (n *namespace) due() time.Time { return n.queue.first().due }

func (n *namespace) before(o *namespace) bool {
	return cmp.Or(cmp.Compare(n.running, o.running), cmp.Compare(n.last, o.last), strings.Compare(n.name, o.name)) < 0
}

// arrange puts a namespace where it belongs after a change, and removes it if it is empty.
func (t *turns) arrange(n *namespace) {
	t.ready.remove(n)
	t.waiting.remove(n)
	switch {
	case n.running == 0 && len(n.places) == 0:
		delete(t.spaces, n.name)
	case n.queue.Len() > 0 && n.running < MostRunningOfNamespace:
		t.waiting.add(n)
	}
}

// burst is the time for which checks that did not start may start at once.
const burst = 100 * time.Millisecond

// longestWait is longer than any interval.
const longestWait = 2 * time.Hour

// next returns the namespace whose turn it is: of those with a target that is due, the one
// with the fewest checks, then the one whose last check began first. If there is none, it
// returns the time until one can come.
func (t *turns) next(now time.Time) (n *namespace, wait time.Duration) {
	if wait := t.free.Sub(now); wait > 0 {
		return nil, wait
	}
	if t.running >= MostRunning {
		return nil, longestWait
	}
	for t.waiting.Len() > 0 && !t.waiting.first().due().After(now) {
		n := t.waiting.first()
		t.waiting.remove(n)
		t.ready.add(n)
	}
	switch {
	case t.ready.Len() > 0:
		return t.ready.first(), 0
	case t.waiting.Len() > 0:
		return nil, min(longestWait, t.waiting.first().due().Sub(now))
	}
	return nil, longestWait
}

// start counts a check of a namespace, which has to be arranged then. Until then it is in
// neither heap, because these order by the counts.
func (t *turns) start(n *namespace, now time.Time) {
	t.ready.remove(n)
	t.starts++
	t.running++
	n.running, n.last = n.running+1, t.starts
	t.free = later(t.free, now.Add(-burst)).Add(time.Second / MostInSecond)
}

// end counts the end of a check, also of a target that is gone.
func (t *turns) end(n *namespace) {
	t.running--
	n.running--
	t.arrange(n)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
