package controller

import "time"

// pace limits the processor time of a burst of syncs: after a sync, the next one waits
// three times as long as that took. A later change does not wait.
type pace struct {
	// free is when the next sync may start.
	free time.Time
	// due is set while a sync waits.
	due <-chan time.Time
}

// The pause after a sync is rest times the time that it took to decide and to push, and
// at most longestRest.
const (
	rest        = 3
	longestRest = 500 * time.Millisecond
)

// took records a sync that has ended.
func (p *pace) took(d time.Duration, ended time.Time) {
	p.free = ended.Add(min(rest*d, longestRest))
}

// betweenLooks is the pause after a look that found nothing to push yet. Changes of
// endpoints wait that long.
const betweenLooks = 75 * time.Millisecond

// putOff records that a sync was postponed.
func (p *pace) putOff(now time.Time) { p.free = now.Add(betweenLooks) }

// later reports whether a sync has to wait. If so, due fires when it may start.
func (p *pace) later(now time.Time) bool {
	wait := p.free.Sub(now)
	if wait <= 0 {
		return false
	}
	if p.due == nil {
		p.due = time.After(wait)
	}
	return true
}
