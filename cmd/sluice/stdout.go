package main

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"sluice/internal/nginx"
	"sluice/internal/pid1"
)

// appendOnly makes Sluice append to files. nginx opens /dev/stdout again for its access log
// and appends to it; without this, the two would overwrite each other after
// "sluice run >file 2>&1".
func appendOnly(files ...*os.File) {
	for _, file := range files {
		info, err := file.Stat()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
		if err == nil {
			_, _ = unix.FcntlInt(file.Fd(), unix.F_SETFL, flags|unix.O_APPEND)
		}
	}
}

// accessLog is the standard output of nginx.
type accessLog struct {
	file *os.File
	// unblocked gets a copy of the log until copied is closed; nil if file is our own
	// standard output.
	unblocked *pid1.Output
	copied    chan struct{}
}

// reopenable returns a standard output that nginx can open as /dev/stdout: our own, or a
// pipe to it if that is a socket (as under systemd) or belongs to another user. nginx never
// waits for the reader of the pipe's end.
func reopenable(stdout *os.File, log *slog.Logger) (*accessLog, error) {
	again, err := os.OpenFile("/dev/stdout", os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return &accessLog{file: stdout}, again.Close()
	}
	return piped(stdout, log)
}

// piped copies whole lines through a pipe.
func piped(stdout *os.File, log *slog.Logger) (*accessLog, error) {
	output, input, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for nginx's access log: %w", err)
	}
	a := &accessLog{file: input, unblocked: pid1.NewOutput(stdout, logRoom), copied: make(chan struct{})}
	a.unblocked.TellIn(log)
	go func() {
		defer close(a.copied)
		nginx.Pass(output, a.unblocked)
	}()
	return a, nil
}

// flush waits until the log is copied, or for the given time. Call it after nginx has
// ended.
func (a *accessLog) flush(most time.Duration) {
	if a.unblocked == nil {
		return
	}
	end := time.Now().Add(most)
	a.file.Close()
	select {
	case <-a.copied:
	case <-time.After(most):
	}
	a.unblocked.Flush(time.Until(end))
}
