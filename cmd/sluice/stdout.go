package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"golang.org/x/sys/unix"

	"sluice/internal/container"
)

// appendOnly makes what Sluice prints go to the end of a file. nginx opens
// /dev/stdout anew for its access log and appends to it; without this, the two
// would write over each other after "sluice run >file 2>&1".
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

// reopenable gives a standard output that nginx can open by the name
// /dev/stdout: our own, or a pipe to it where that is a socket (as systemd gives
// it) or belongs to another user. Then nobody waits for its reader.
func reopenable(stdout *os.File, log *slog.Logger) (*os.File, error) {
	again, err := os.OpenFile("/dev/stdout", os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return stdout, again.Close()
	}
	output, input, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for nginx's access log: %w", err)
	}
	unblocked := container.NewOutput(stdout, logRoom)
	unblocked.TellIn(log)
	go func() { _, _ = io.Copy(unblocked, output) }()
	return input, nil
}
