package container

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Output passes lines on to a writer, and never waits for it: a kubelet or a
// terminal may stop reading, and nobody must be held up by a log. Lines for which
// there is no room meanwhile are lost. Tell is called with their number once there
// is room again.
type Output struct {
	to   io.Writer
	room int

	mu      sync.Mutex
	pending []byte
	writing int // bytes
	lost    int // lines
	tell    func(lost int)
	wake    chan struct{}
}

// NewOutput makes an Output that holds this many bytes.
func NewOutput(to io.Writer, room int) *Output {
	o := &Output{to: to, room: room, wake: make(chan struct{}, 1), tell: func(int) {}}
	go o.pass()
	return o
}

// TellIn has the number of lost lines told in a log, which may be that of o.
func (o *Output) TellIn(log *slog.Logger) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tell = func(lost int) { log.Warn("nobody read the log for a while: lines are lost", "lines", lost) }
}

// Write takes whole lines. It never fails.
func (o *Output) Write(lines []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending)+o.writing+len(lines) > o.room {
		o.lost += max(1, bytes.Count(lines, []byte("\n")))
		return len(lines), nil
	}
	o.pending = append(o.pending, lines...)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return len(lines), nil
}

// pass writes what is pending, for ever: a write that blocks ends with the process.
func (o *Output) pass() {
	var spare []byte
	for range o.wake {
		o.mu.Lock()
		lines := o.pending
		o.pending, o.writing = spare[:0], len(lines)
		o.mu.Unlock()
		_, _ = o.to.Write(lines) // if nobody takes it any more, nobody misses it
		spare = lines
		o.mu.Lock()
		lost, tell := o.lost, o.tell
		o.writing, o.lost = 0, 0
		o.mu.Unlock()
		if lost > 0 {
			tell(lost)
		}
	}
}

// Flush waits until all is written, or for as long as is given.
func (o *Output) Flush(most time.Duration) {
	for end := time.Now().Add(most); o.holds() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

func (o *Output) holds() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending)+o.writing > 0
}
