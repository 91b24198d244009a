package main

import (
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/pid1"
)

// logRoom is how many bytes of the log are kept while nobody reads it: some 30,000
// lines. flushWait is how long the end waits for a reader.
const (
	logRoom   = 8 << 20
	flushWait = time.Second
)

// streams are where Sluice and nginx write.
type streams struct {
	stdout *os.File
	stderr io.Writer
}

// logged serves with a log on the standard error that holds nobody up: requests,
// changes and the end of nginx do not depend on who reads it. Nor does the process
// end because its reader did, as it would by SIGPIPE.
func (f *runFlags) logged(cmd *cobra.Command, serve func(to streams, log *slog.Logger) error) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	stderr := pid1.NewOutput(os.Stderr, logRoom)
	defer stderr.Flush(flushWait)
	var handler slog.Handler = slog.NewTextHandler(stderr, nil)
	if f.logFormat == "json" {
		handler = slog.NewJSONHandler(stderr, nil)
	}
	log := slog.New(handler)
	stderr.TellIn(log)
	stdout, err := reopenable(os.Stdout, log)
	if err == nil {
		defer stdout.flush(flushWait)
		err = serve(streams{stdout.file, stderr}, log)
	}
	if err != nil {
		return &exitError{status: complain(stderr, cmd, err)}
	}
	return nil
}
