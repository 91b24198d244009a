package nginx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// external reports whether another program runs nginx.
func (p *Process) external() bool { return p.options.PIDFile != "" }

// externalRun finds the nginx of the pid file.
func (p *Process) externalRun() (*run, error) {
	data, err := os.ReadFile(p.options.PIDFile)
	if err != nil {
		return nil, fmt.Errorf("%w: read its pid file: %w", ErrNotRunning, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 1 {
		return nil, fmt.Errorf("%w: pid file %s: want a process id (got %q)", ErrNotRunning, p.options.PIDFile, OneLine(string(data)))
	}
	id, ok := identify(pid)
	if !ok || !isNginx(pid, p.install.argv[0]) {
		return nil, fmt.Errorf("%w: process %d, which %s names, is not nginx", ErrNotRunning, pid, p.options.PIDFile)
	}
	r := &run{identity: id, log: &errorLog{out: io.Discard}, cause: "it is gone"}
	if old := p.currentRun(); old == nil || old.identity != id {
		p.setRun(r)
	}
	return r, nil
}

// externalPause is how often the pid file of an external nginx is read.
const externalPause = 200 * time.Millisecond

// startExternal writes the bootstrap file, with which the external nginx can be
// started, waits for that nginx, and then watches for its replacement.
func (p *Process) startExternal(ctx context.Context, bootstrap []byte) error {
	live := p.options.path(liveFile)
	if _, err := os.Stat(live); errors.Is(err, os.ErrNotExist) {
		if err := p.replace(liveFile, Conf(bootstrap)); err != nil {
			return err
		}
	}
	r, err := p.externalRun()
	if err != nil {
		p.options.Logger.Info("waiting for nginx", "reason", err, "start", strings.Join(p.install.Command("-p", p.options.StateDir, "-c", live), " "))
	}
	for err != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(externalPause):
			r, err = p.externalRun()
		}
	}
	go p.watchExternal(ctx, r.identity)
	return nil
}

// watchExternal sends an event when another nginx has replaced the known one and its
// workers answer.
func (p *Process) watchExternal(ctx context.Context, known identity) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(externalPause):
		}
		r, err := p.externalRun()
		if err != nil || r.identity == known {
			continue
		}
		if _, err := p.census(ctx, r); err == nil {
			known = r.identity
			p.emit(Event{Restarted, "another program restarted nginx"})
		}
	}
}

// applyExternal tests, replaces the file and signals. It confirms the reload if the
// workers answer on the control socket.
func (p *Process) applyExternal(ctx context.Context, conf io.WriterTo) (Result, error) {
	r, err := p.externalRun()
	if err != nil {
		return Result{}, err
	}
	if err := p.test(ctx, conf); err != nil {
		return Result{}, err
	}
	if err := p.adoptGood(); err != nil {
		return Result{}, err
	}
	if _, err := p.census(ctx, r); err != nil {
		p.options.Logger.Warn("the workers of nginx do not answer: this reload cannot be confirmed", "error", err)
		return Result{}, p.applyUnseen(r, conf)
	}
	l, err := p.prepare(ctx, r)
	if err != nil {
		return Result{}, err
	}
	return l.carryOut(ctx, conf)
}

func (p *Process) applyUnseen(r *run, conf io.WriterTo) error {
	if err := p.swap(conf); err != nil {
		return err
	}
	l := &reload{p: p, run: r, began: time.Now()}
	return l.signal()
}

// adoptGood treats the initial file as the last good one, because the external nginx
// was started with it.
func (p *Process) adoptGood() error {
	_, err := os.Stat(p.options.path(goodFile))
	if err == nil {
		return nil
	}
	if _, err := os.Stat(p.options.path(liveFile)); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s does not exist: nginx must be run with it", p.options.path(liveFile))
	}
	return p.relink(liveFile, goodFile)
}
