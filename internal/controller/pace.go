package controller

import "time"

// pace keeps the syncs of a burst from taking a processor of their own: after one
// that took a while, the next waits three times as long. A change that comes after
// that waits for nothing.
type pace struct {
	// free is when the next sync may begin.
	free time.Time
	// due is set while one waits.
	due <-chan time.Time
}

// Syncs rest three times as long as the last one took to decide and to push, and
// never longer than longestRest.
const (
	rest        = 3
	longestRest = 500 * time.Millisecond
)

// took notes a sync that has ended.
func (p *pace) took(d time.Duration, ended time.Time) {
	p.free = ended.Add(min(rest*d, longestRest))
}

// betweenLooks is the rest after a look that only found that nginx need not be told
// anything yet. Endpoints that change meanwhile wait that long.
const betweenLooks = 75 * time.Millisecond

// putOff notes that a sync was put off.
func (p *pace) putOff(now time.Time) { p.free = now.Add(betweenLooks) }

// later says whether a sync has to wait. If so, due tells when it may begin.
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
