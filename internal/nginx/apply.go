package nginx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Result holds the duration of a reload, counted from the signal.
type Result struct {
	// Live is when all new workers had registered. It is 0 if the nginx is external
	// and could not be asked.
	Live time.Duration
	// Settled is when no older worker accepted connections any more, so that every
	// new connection gets the new configuration. It is 0 if that was not seen within
	// settleTimeout.
	Settled time.Duration
}

// ReloadError is the reason why a reload failed.
type ReloadError struct {
	// Text is one line.
	Text string
	// RolledBack is set if the last good file is in place again and its workers
	// serve.
	RolledBack bool
	// Ended is set if nginx died during the reload. It restarts with the bootstrap
	// file.
	Ended bool

	// severe holds the severe lines of nginx's log since the signal.
	severe string
}

// Error returns the text and what nginx serves now.
func (e *ReloadError) Error() string {
	if e.RolledBack {
		return "reload refused; the last good configuration stays in force: " + e.Text
	}
	return "reload failed and could not be rolled back: " + e.Text
}

// reload is a change of the configuration in progress.
type reload struct {
	p   *Process
	run *run
	// The state before the reload: the newest load, the generation that served, the
	// child processes, and the position in the log.
	before, serving int
	children        []int
	mark            int
	// unsure is set if it is not known which file was in force before.
	unsure bool
	began  time.Time
	// dismissed are the workers that were told to stop accepting.
	dismissed map[int]bool
}

// Apply replaces nginx.conf, reloads, and returns once the new file is live and
// settled. The file should have passed Test: nginx rejects a bad file here too, but
// does not name the line. If the reload fails, Apply restores the last good file and
// returns a *ReloadError. If ctx ends first, Apply returns at once, and the next
// Apply finds out which file is in force.
func (p *Process) Apply(ctx context.Context, conf io.WriterTo) (Result, error) {
	if err := p.take(ctx); err != nil {
		return Result{}, err
	}
	defer p.release()
	if p.external() {
		return p.applyExternal(ctx, conf)
	}
	r := p.currentRun()
	if r == nil || r.ended() {
		return Result{}, ErrNotRunning
	}
	l, err := p.prepare(ctx, r)
	if err != nil {
		return Result{}, err
	}
	return l.carryOut(ctx, conf)
}

// prepare waits until the master is idle and records the current state.
func (p *Process) prepare(ctx context.Context, r *run) (*reload, error) {
	ctx, cancel := context.WithTimeout(ctx, p.reloadTimeout())
	defer cancel()
	l := &reload{p: p, run: r, unsure: p.unconfirmed, dismissed: map[int]bool{}}
	var last error
	err := poll(ctx, func() (bool, error) {
		if r.ended() {
			return false, ErrNotRunning
		}
		if activityOf(r.PID) == busy {
			last = errors.New("its master is busy")
			return false, nil
		}
		c, err := p.census(ctx, r)
		l.before, l.serving, last = c.top, c.newest, err
		return err == nil && c.newest > 0, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("nginx does not report its state: %w", errors.Join(last, err))
	}
	if err != nil {
		return nil, err
	}
	l.children, l.mark = childrenOf(r.PID), r.log.mark()
	return l, nil
}

// carryOut replaces the file, signals the master and waits.
func (l *reload) carryOut(ctx context.Context, conf io.WriterTo) (Result, error) {
	if err := l.p.swap(conf); err != nil {
		return Result{}, err
	}
	if err := l.signal(); err != nil {
		return Result{}, l.rollBack(err)
	}
	if err := l.awaitLive(ctx); err != nil {
		if ctx.Err() != nil {
			return Result{}, fmt.Errorf("reload: %w", ctx.Err())
		}
		return Result{}, l.rollBack(err)
	}
	result := Result{Live: time.Since(l.began)}
	l.p.noteLoad(result.Live)
	l.remember()
	if err := l.awaitSettled(ctx); err != nil {
		l.p.options.Logger.Warn("old workers of nginx still accept connections", "error", err)
		return result, ctx.Err()
	}
	result.Settled = time.Since(l.began)
	l.remember()
	return result, nil
}

// remember records what a roll-back and the next start need. The new file is already
// in force, so a failed write does not undo it.
func (l *reload) remember() {
	if err := errors.Join(l.p.keepAsGood(), l.p.record(l.run)); err != nil {
		l.p.options.Logger.Warn("the state of nginx cannot be recorded", "error", err)
	}
}

func (l *reload) signal() error {
	l.began = time.Now()
	return l.run.signal(unix.SIGHUP)
}

// awaitLive waits until all workers of a newer load have registered, or until it is
// certain that they will not. Reading a file can take long (see reading); after that, its
// workers must come up soon.
func (l *reload) awaitLive(ctx context.Context) error {
	limit := l.p.reloadTimeout()
	var read time.Time
	var last error
	file := reading{limit: limit}
	err := poll(ctx, func() (bool, error) {
		stat, _ := readStat(l.run.PID)
		if file.over(time.Now(), stat) {
			return false, context.DeadlineExceeded
		}
		master := activityOf(l.run.PID)
		if read.IsZero() && master == idle {
			read = time.Now()
		}
		if !read.IsZero() && time.Since(read) > min(limit, startTimeout) {
			return false, context.DeadlineExceeded
		}
		if l.run.ended() {
			return false, fmt.Errorf("nginx ended while it was reloading: %s", l.reason(l.run.cause))
		}
		if master == busy && !l.hasNewChildren() {
			return false, nil // the master reads the file: there are no new workers to ask
		}
		if refusal := l.refusal(master); refusal != nil {
			return false, refusal
		}
		c, err := l.p.census(ctx, l.run)
		last = err
		return err == nil && c.complete(l.before) && l.isNew(c), nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		text := fmt.Sprintf("the new workers did not register within %v", time.Since(l.began).Round(time.Millisecond))
		if last != nil {
			text += ": " + last.Error()
		}
		return errors.New(l.reason(text))
	}
	return err
}

// refusal returns the reason why nginx kept the old file, and nil while it may still
// load the new one. It is certain if the master is idle without new children. If the
// state of the master cannot be read, it relies on log lines that nginx writes only
// when it gives up.
func (l *reload) refusal(master activity) error {
	switch master {
	case busy:
		return nil
	case idle:
		if l.hasNewChildren() {
			return nil
		}
	case unknown:
		if !l.gaveUp() {
			return nil
		}
	}
	return errors.New(l.reason("nginx kept the old file and logged no reason"))
}

func (l *reload) hasNewChildren() bool {
	return slices.ContainsFunc(childrenOf(l.run.PID), func(pid int) bool { return !slices.Contains(l.children, pid) })
}

// isNew reports whether all of the newest workers started after the signal. Workers
// of an earlier load that failed may still register.
func (l *reload) isNew(c census) bool {
	return !slices.ContainsFunc(c.current, func(pid int) bool { return slices.Contains(l.children, pid) })
}

// gaveUp reports whether the master logged a message after which it keeps the old
// file. Messages about "bind() to" repeat, because nginx retries a port in use. Those
// about old sockets ("unlink()", "close()") come after the new file is in force.
func (l *reload) gaveUp() bool {
	return slices.ContainsFunc(l.run.log.since(l.mark), func(g severeLine) bool {
		passing := slices.ContainsFunc([]string{"bind() to", "listen() to", "unlink() ", "close() "}, func(prefix string) bool {
			return strings.HasPrefix(g.Text, prefix)
		})
		return g.Level == "emerg" && g.PID == l.run.PID && !passing
	})
}

// reason returns nginx's own message without the path of the file.
func (l *reload) reason(otherwise string) string {
	waitForLog()
	text := l.run.reason(l.mark, otherwise)
	return strings.ReplaceAll(text, l.p.options.path(liveFile), "the file")
}

// severeLines returns all severe lines since the signal.
func (l *reload) severeLines() string {
	var lines strings.Builder
	for _, g := range l.run.log.since(l.mark) {
		lines.WriteString(g.Text + "\n")
	}
	return lines.String()
}

// settleTimeout limits the time from live until the old workers stop accepting.
const settleTimeout = 10 * time.Second

// awaitSettled waits until no older worker accepts connections, except those for which
// an earlier reload waited in vain. The last worker to unregister may be the one that
// answered, so two consecutive answers must agree.
//
// nginx tells its old workers to stop 100 ms after it has started new ones, whether or
// not these run yet. Here it is known that the new ones run, so the old ones are told
// at once, with SIGQUIT as nginx itself does. Source:
// https://nginx.org/en/docs/control.html
func (l *reload) awaitSettled(ctx context.Context) error {
	inner, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	agreed := 0
	var older []int
	err := poll(inner, func() (bool, error) {
		if l.run.ended() {
			return false, ErrNotRunning
		}
		c, err := l.p.census(inner, l.run)
		if err == nil {
			older = c.older
		}
		l.dismiss(c)
		if err != nil || !l.p.allStuck(c.older) || !c.complete(l.before) {
			agreed = 0
			return false, nil
		}
		agreed++
		return agreed == 2, nil
	})
	if ctx.Err() == nil {
		l.p.stuck = older // those of before that have ended are forgotten
	}
	return err
}

// allStuck reports whether an earlier reload waited for all of these workers in vain.
func (p *Process) allStuck(workers []int) bool {
	return !slices.ContainsFunc(workers, func(pid int) bool { return !slices.Contains(p.stuck, pid) })
}

// dismiss tells the older workers to stop accepting, once all new ones accept. An
// external nginx does that itself.
func (l *reload) dismiss(c census) {
	if l.p.external() || !c.complete(l.before) {
		return
	}
	for _, pid := range c.older {
		if !l.dismissed[pid] {
			l.dismissed[pid] = true
			_ = unix.Kill(pid, unix.SIGQUIT) // if it fails, nginx does so soon
		}
	}
}
