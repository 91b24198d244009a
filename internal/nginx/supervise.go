package nginx

import (
	"fmt"
	"time"
)

// backoff is the wait before the next start: none at first, then 100 ms, doubling up
// to 10 s. A master that ran for a minute resets it.
type backoff struct{ next time.Duration }

func (b *backoff) after(uptime time.Duration) time.Duration {
	if uptime >= time.Minute {
		b.next = 0
	}
	pause := b.next
	b.next = min(max(100*time.Millisecond, 2*b.next), 10*time.Second)
	return pause
}

// supervise restarts nginx whenever it ends, until Stop.
func (p *Process) supervise() {
	defer close(p.finished)
	var pauses backoff
	began := time.Now()
	for {
		r := p.currentRun()
		select {
		case <-r.done:
		case <-p.life.Done():
			return
		}
		if p.life.Err() != nil {
			return
		}
		waitForLog()
		text := fmt.Sprintf("nginx ended: %s", r.reason(0, r.cause))
		p.options.Logger.Error("nginx ended unexpectedly: restarting it", "pid", r.PID, "cause", r.cause)
		p.emit(Event{Died, text})
		if !p.relaunch(r, &pauses, time.Since(began)) {
			return
		}
		began = time.Now()
		p.emit(Event{Restarted, "nginx restarted with an empty state"})
	}
}

// relaunch retries until nginx runs or Stop was called. It reports whether nginx
// runs.
func (p *Process) relaunch(dead *run, pauses *backoff, uptime time.Duration) bool {
	for p.pause(pauses.after(uptime)) {
		err := p.take(p.life)
		if err != nil {
			return false
		}
		err = p.launch(p.life, p.recordOf(dead))
		dead, uptime = p.currentRun(), 0
		p.release()
		if err == nil {
			return true
		}
		if p.life.Err() != nil {
			return false
		}
		p.options.Logger.Error("nginx could not be restarted", "error", err)
	}
	return false
}

// pause waits and reports whether to go on.
func (p *Process) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return p.life.Err() == nil
	case <-p.life.Done():
		return false
	}
}

func (p *Process) emit(e Event) {
	for {
		select {
		case p.events <- e:
			return
		default:
		}
		select {
		case <-p.events:
		default:
		}
	}
}
