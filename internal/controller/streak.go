package controller

import "time"

// streak slows reloads down while changes keep coming during each of them, as
// when a thousand Ingresses are made at once: nginx would do nothing but read its
// file again. Changes that come after a reload has ended never wait, nor do the
// second reload of a burst and what it takes along.
type streak struct {
	// length is how many reloads in a row ended with another one due.
	length int
}

// The first pause takes as long as the reload before it. Later ones take twice as
// long, shortestPause at least and longestPause at most.
const (
	shortestPause = 250 * time.Millisecond
	longestPause  = 2 * time.Second
)

// pause is how long the next reload waits, after one that took a while. due says
// whether another plan was there when it ended.
func (s *streak) pause(took time.Duration, due bool) time.Duration {
	if !due {
		s.length = 0
		return 0
	}
	s.length++
	switch s.length {
	case 1:
		return 0
	case 2:
		return min(took, longestPause)
	}
	return min(max(2*took, shortestPause), longestPause)
}
