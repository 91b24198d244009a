package nginx

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// run is one run of a master process.
type run struct {
	identity
	// done is closed once the master has ended and was reaped. It is nil, and so
	// never closed, for a master that is not our child.
	done chan struct{}
	// cause is how it ended, set once done is closed.
	cause string
	log   *errorLog
}

// ended reports whether the master is gone.
func (r *run) ended() bool {
	if r.done == nil {
		return !r.running()
	}
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// spawn starts a master in its own process group, so that signals of a terminal do
// not reach it and its workers can be recognised. The master outlives us: if we
// crash, nginx keeps serving until we are back.
func (p *Process) spawn() (*run, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	requests, requestWriter, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start nginx: %w", errors.Join(err, reader.Close(), writer.Close()))
	}
	argv := p.install.Command(p.arguments("-c", p.options.path(liveFile))...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = append(environment(largePages), requestLog), "/"
	cmd.Stdout, cmd.Stderr = p.options.Stdout, writer
	cmd.ExtraFiles = []*os.File{requestWriter}
	cmd.SysProcAttr = attributes()
	forbidCores()
	err = cmd.Start()
	writer.Close()
	requestWriter.Close()
	if err != nil {
		reader.Close()
		requests.Close()
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	r := &run{done: make(chan struct{}), log: &errorLog{out: p.options.Stderr, read: make(chan struct{})}}
	r.identity, _ = identify(cmd.Process.Pid)
	r.PID = cmd.Process.Pid
	r.log.master = r.PID
	go r.log.follow(reader)
	go Pass(requests, p.options.Stderr)
	go r.reap(cmd)
	return r, nil
}

// forbidCores disables core dumps of this process and of all that it starts, so that a
// crash writes no private keys to disk. It comes before the start of nginx: its workers
// inherit the limit when they start. An error is ignored.
func forbidCores() { _ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }

func (r *run) reap(cmd *exec.Cmd) {
	_ = cmd.Wait()
	r.cause = cmd.ProcessState.String()
	close(r.done)
}

// signal sends a signal to the master, unless it is gone.
func (r *run) signal(s unix.Signal) error {
	if r.ended() {
		return fmt.Errorf("send %s to nginx: %w", unix.SignalName(s), os.ErrProcessDone)
	}
	if err := unix.Kill(r.PID, s); err != nil {
		return fmt.Errorf("send %s to nginx (pid %d): %w", unix.SignalName(s), r.PID, err)
	}
	return nil
}

// awaitLog waits for the complete log of an nginx that did not start: until no
// process has the log open, which workers that outlive the master may do for a while.
func (r *run) awaitLog() {
	select {
	case <-r.log.read:
	case <-time.After(time.Second):
	}
}

// reason returns the most severe line since a mark, or else how nginx ended.
func (r *run) reason(mark int, otherwise string) string {
	lines := r.log.since(mark)
	for _, level := range levels {
		for _, line := range lines {
			if line.Level == level {
				return line.Text
			}
		}
	}
	return otherwise
}
