package pid1

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Output passes lines on to a writer, and never waits for it: a kubelet or a
// terminal may stop reading, and nobody must be held up by a log. Lines for which
// there is no room meanwhile, or that cannot be written, are lost. Tell is called with
// their number once lines are written again.
type Output struct {
	to   io.Writer
	room int
	// inLine is set if the last write failed within a line.
	inLine bool

	mu      sync.Mutex
	pending []byte
	writing int  // bytes
	telling bool // until what tell says is pending
	lost    int  // lines
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

// mostSpare is how much memory is kept for lines while there are none.
const mostSpare = 1 << 20

// pass writes what is pending, for ever: a write that blocks ends with the process.
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

// write gives the rest that could not be written. It ends a line that is cut off, so
// that the next one is whole.
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

// wrote takes in how a write went. Nothing is told unless all lines were written: it
// would be lost as well, and told again, for ever.
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

// Flush waits until all is written, or for as long as is given.
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
