package nginx

import (
	"context"
	"time"
)

// rollBack restores the last good file and makes sure that it is in force. It
// continues even if the caller no longer waits, for the time of two reloads or until
// Stop.
func (l *reload) rollBack(cause error) error {
	failure := &ReloadError{Text: cause.Error(), Ended: l.run.ended(), severe: l.severeLines()}
	ctx, cancel := context.WithTimeout(l.p.life, 2*leastShare*l.p.reloadTimeout())
	defer cancel()
	if err := l.p.restoreGood(); err != nil {
		failure.Text += "; " + err.Error()
		return failure
	}
	failure.RolledBack = l.goodServes(ctx)
	if err := l.p.clearDeadSockets(); err != nil {
		failure.Text += "; " + err.Error()
	}
	l.p.unconfirmed = !failure.RolledBack
	l.p.options.Logger.Error("nginx refused the new configuration", "error", failure.Text, "rolledBack", failure.RolledBack)
	return failure
}

// goodServes confirms that the last good file is in force. It reloads again unless
// the previous workers still serve and no others do.
func (l *reload) goodServes(ctx context.Context) bool {
	if !l.awaitRest(ctx) {
		return false
	}
	c, err := l.p.census(ctx, l.run)
	if err == nil && !l.unsure && c.newest == l.serving && len(c.current) >= c.expected {
		return true
	}
	again := *l
	again.before, again.children, again.mark = max(c.top, l.before), childrenOf(l.run.PID), l.run.log.mark()
	if err := again.signal(); err != nil {
		return false
	}
	if again.awaitLive(ctx) != nil {
		return false
	}
	// Workers of the rejected file that never registered stop accepting when the
	// master has finished the reload.
	return again.awaitSettled(ctx) == nil && again.awaitRest(ctx)
}

// awaitRest waits until the master is idle, so that the next load is certainly that
// of the restored file.
func (l *reload) awaitRest(ctx context.Context) bool {
	limit, cancel := context.WithTimeout(ctx, l.p.reloadTimeout())
	defer cancel()
	began := time.Now()
	err := poll(limit, func() (bool, error) {
		if l.run.ended() {
			return false, ErrNotRunning
		}
		switch activityOf(l.run.PID) {
		case idle:
			return true, nil
		case unknown:
			// nginx gives up on a port in use after 2.5 s.
			return time.Since(began) > 3*time.Second, nil
		}
		return false, nil
	})
	return err == nil
}
