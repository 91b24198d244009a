package healthcheck

import (
	"cmp"
	"container/heap"
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

// namespace is the queue of a namespace, a heap by due.
type namespace struct {
	name    string
	queue   []*entry
	running int
	// last is the value of Table.starts when its last check began.
	last int
}

// Len implements heap.Interface, as the following methods do.
func (n *namespace) Len() int           { return len(n.queue) }
func (n *namespace) Less(i, j int) bool { return n.queue[i].due.Before(n.queue[j].due) }

func (n *namespace) Swap(i, j int) {
	n.queue[i], n.queue[j] = n.queue[j], n.queue[i]
	n.queue[i].at, n.queue[j].at = i, j
}

// Push adds an *entry.
func (n *namespace) Push(x any) {
	e := x.(*entry)
	e.at = len(n.queue)
	n.queue = append(n.queue, e)
}

// Pop removes the last entry.
func (n *namespace) Pop() any {
	last := len(n.queue) - 1
	e := n.queue[last]
	n.queue[last], n.queue = nil, n.queue[:last]
	e.at = -1
	return e
}

func (t *Table) namespace(name string) *namespace {
	n := t.spaces[name]
	if n == nil {
		n = &namespace{name: name, last: t.starts}
		t.spaces[name] = n
	}
	return n
}

// Next starts the check that comes next, and is followed by a call of Learn. If there is
// none, check is nil, and wait is the time until one can come; the end of a check shortens
// it.
func (t *Table) Next(now time.Time) (check *Check, wait time.Duration) {
	if wait := t.free.Sub(now); wait > 0 {
		return nil, wait
	}
	n, wait := t.turn(now)
	if n == nil {
		return nil, wait
	}
	t.starts++
	t.running++
	n.running, n.last = n.running+1, t.starts
	t.free = later(t.free, now.Add(-burst)).Add(time.Second / MostInSecond)
	return (*Check)(heap.Pop(n).(*entry)), 0
}

// burst is the time for which checks that did not start may start at once.
const burst = 100 * time.Millisecond

// longestWait is longer than any interval.
const longestWait = 2 * time.Hour

// turn returns the namespace whose turn it is: of those with a target that is due, the one
// with the fewest checks, then the one whose last check began first. If there is none, it
// returns the time until a target is due.
func (t *Table) turn(now time.Time) (first *namespace, wait time.Duration) {
	wait = longestWait
	if t.running >= MostRunning {
		return nil, wait
	}
	for _, n := range t.spaces {
		if n.Len() == 0 || n.running >= MostRunningOfNamespace {
			continue
		}
		if until := n.queue[0].due.Sub(now); until > 0 {
			wait = min(wait, until)
			continue
		}
		if first == nil || n.before(first) {
			first = n
		}
	}
	return first, wait
}

func (n *namespace) before(o *namespace) bool {
	return cmp.Or(cmp.Compare(n.running, o.running), cmp.Compare(n.last, o.last), strings.Compare(n.name, o.name)) < 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// drop removes a target.
func (t *Table) drop(e *entry) {
	e.gone = true
	t.failing -= number(e.failing)
	if e.at >= 0 {
		heap.Remove(e.of, e.at)
	}
	t.forget(e.of)
}

// end counts the end of a check, also of a dropped target.
func (t *Table) end(e *entry) {
	t.running--
	e.of.running--
	t.forget(e.of)
}

// forget removes a namespace without targets.
func (t *Table) forget(n *namespace) {
	if n.running == 0 && n.Len() == 0 {
		delete(t.spaces, n.name)
	}
}
