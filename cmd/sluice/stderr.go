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

// logRoom is the maximum size of the log, in bytes, that is kept while nobody reads it:
// about 30,000 lines. flushWait is how long the exit waits for a reader.
const (
	logRoom   = 8 << 20
	flushWait = time.Second
)

// streams are the outputs of Sluice and nginx.
type streams struct {
	stdout *os.File
	stderr io.Writer
	// level is that of the log.
	level level
}

// level is the lowest level of lines in a log. The zero value cannot be changed.
type level struct{ *slog.LevelVar }

// set takes debug, info, warn or error; another text is ignored.
func (l level) set(text string) {
	var parsed slog.Level
	if l.LevelVar != nil && parsed.UnmarshalText([]byte(text)) == nil {
		l.Set(parsed)
	}
}

// logged serves with a log on standard error that never blocks: requests, changes and
// nginx's exit do not wait for its reader. The process does not end with the reader either,
// as it would by SIGPIPE.
func (f *runFlags) logged(cmd *cobra.Command, serve func(to streams, log *slog.Logger) error) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	stderr := pid1.NewOutput(os.Stderr, logRoom)
	defer stderr.Flush(flushWait)
	lowest := level{&slog.LevelVar{}}
	options := &slog.HandlerOptions{Level: lowest}
	var handler slog.Handler = slog.NewTextHandler(stderr, options)
	if f.logFormat == "json" {
		handler = slog.NewJSONHandler(stderr, options)
	}
	log := slog.New(handler)
	stderr.TellIn(log)
	stdout, err := reopenable(os.Stdout, log)
	if err == nil {
		defer stdout.flush(flushWait)
		err = serve(streams{stdout.file, stderr, lowest}, log)
	}
	if err != nil {
		return &exitError{status: complain(stderr, cmd, err)}
	}
	return nil
}
