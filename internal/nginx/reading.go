package nginx

import "time"

// userHZ is the number of clock ticks of /proc in a second, which is the same on every Linux.
// Source: https://man7.org/linux/man-pages/man7/time.7.html
const userHZ = 100

// leastShare is the smallest share of a processor that counts. A master that gets less counts
// as if it had that, so that the wait ends in any case.
const leastShare = 10

// reading counts the time for which a master has been reading a file. While it wants a
// processor and gets none, because the machine is busy or the container may use only a part of
// one, only its processor time counts: given up, it would have to read all of it again.
type reading struct {
	limit, spent time.Duration
	// last is when the master was looked at last, and used its processor time then.
	last time.Time
	used time.Duration
}

// over notes what the master does now, and reports whether its time is over. A stat of zero is
// that of a master that cannot be looked at: all time counts.
func (r *reading) over(now time.Time, master procStat) bool {
	if !r.last.IsZero() {
		passed := now.Sub(r.last)
		if used := master.CPU - r.used; master.State == 'R' && used >= 0 {
			passed = min(passed, max(used, passed/leastShare))
		}
		r.spent += passed
	}
	r.last, r.used = now, master.CPU
	return r.spent > r.limit
}
