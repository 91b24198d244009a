package pid1

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Output forwards lines to a writer and never blocks: a kubelet or a terminal may
// stop reading, and logging must not delay anything. Lines are lost if the buffer is
// full or they cannot be written. Output reports their number when it can write
// again; see TellIn.
type Output struct {
	to   io.Writer
	room int
	// inLine is set if the last write failed in the middle of a line.
	inLine bool

	mu      sync.Mutex
	pending []byte
	writing int  // bytes
	telling bool // until what tell says is pending
	lost    int  // lines
	tell    func(lost int)
	wake    chan struct{}
}

// NewOutput returns an Output that buffers up to room bytes.
func NewOutput(to io.Writer, room int) *Output {
	o := &Output{to: to, room: room, wake: make(chan struct{}, 1), tell: func(int) {}}
	go o.pass()
	return o
}

// TellIn logs the number of lost lines to a log, which can write to o.
func (o *Output) TellIn(log *slog.Logger) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tell = func(lost int) { log.Warn("nobody read the log for a while: lines are lost", "lines", lost) }
}

// Write buffers whole lines. It never fails.
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

// mostSpare is the memory that is kept for an empty buffer.
const mostSpare = 1 << 20

// pass writes pending lines for ever: a write that blocks ends with the process.
func (o *Output) pass() {
	var spare []byte
	for range o.wake {
		o.mu.Lock()
		lines := o.pending
		o.pending, o.writing = spare[:0], len(lines)
		o.mu.Unlock()
		rest := o.write(lines)
		if spare = lines; cap(spare) > mostSpare {
			spare = nil
		}
		o.wrote(bytes.Count(rest, []byte("\n")), len(lines) > 0 && len(rest) == 0)
	}
}

// write writes the lines, and returns the rest that could not be written. It first
// ends a line that was cut off, so that the next one is whole.
func (o *Output) write(lines []byte) (rest []byte) {
	if o.inLine {
		if _, err := io.WriteString(o.to, "\n"); err != nil {
			return lines
		}
	}
	n, err := o.to.Write(lines)
	o.inLine = err != nil && n > 0 && lines[n-1] != '\n'
	if err != nil {
		return lines[n:]
	}
	return nil
}

// wrote records the result of a write. It reports lost lines only after all lines
// were written: otherwise the report would be lost as well, and repeated for ever.
func (o *Output) wrote(lost int, all bool) {
	o.mu.Lock()
	o.lost += lost
	o.writing, o.telling = 0, all && o.lost > 0
	if !o.telling {
		o.mu.Unlock()
		return
	}
	tell := o.tell
	lost, o.lost = o.lost, 0
	o.mu.Unlock()
	tell(lost)
	o.mu.Lock()
	o.telling = false
	o.mu.Unlock()
}

// Flush waits until everything is written, for at most the given time.
func (o *Output) Flush(most time.Duration) {
	for end := time.Now().Add(most); o.holds() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

func (o *Output) holds() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending)+o.writing > 0 || o.telling
}
