// Package nginx runs nginx: it finds the binary and its features, tests a
// configuration file, starts the master, replaces the file and reloads, and waits
// until the workers confirm that they use the new file.
//
// It takes the bytes of a configuration, and a function that asks the workers for
// their Status. It returns a Result with times, or an error in one line with
// nginx's reason. The package knows neither Kubernetes nor the meaning of the
// configuration.
//
//	install, err := nginx.Inspect(ctx, options)
//	process := nginx.New(install, options, status)
//	err = process.Start(ctx, bootstrap)
//	err = process.Test(ctx, file)          // *TestError
//	result, err := process.Apply(ctx, file) // *ReloadError
//	err = process.Stop(ctx, grace)
package nginx

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Options select the nginx to run and its state directory. Only StateDir has no
// default.
type Options struct {
	// Binary is the nginx binary. Empty: the environment's NGINX_BINARY, then
	// PATH, then /usr/sbin/nginx.
	Binary string
	// Root is the root of the file system with the binary, its modules and its Lua
	// libraries; empty or "/" is our own. From another root, nginx runs with the
	// dynamic loader of that root, without chroot.
	Root string
	// StateDir is an absolute path; PrepareState creates its layout.
	StateDir string
	// User is the account that workers run as when the master runs as root;
	// empty means nginx's own default, "nobody".
	User string
	// PIDFile is the pid file of an nginx that another program runs. Sluice then
	// tests and reloads it, but never starts or stops it.
	PIDFile string

	// Logger gets one line for each start, end and roll-back.
	Logger *slog.Logger
	// Stdout is nginx's standard output; default os.Stdout.
	Stdout *os.File
	// Stderr gets each line of nginx's error log once; default os.Stderr.
	Stderr io.Writer

	// TestTimeout limits one `nginx -t`. Default: 60 s, plus 10 s for each megabyte
	// of the file.
	TestTimeout time.Duration
	// ReloadTimeout limits the time until a reload is live. Default: the 2.5 s that
	// nginx waits for a port in use, plus 2 s, plus three times the longest load so
	// far, or 10 s for each megabyte of the file. While the master waits for a
	// processor, its processor time counts (see reading).
	ReloadTimeout time.Duration
}

func (o Options) withDefaults() Options {
	o.Stdout = cmp.Or(o.Stdout, os.Stdout)
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// path returns a path within the state directory.
func (o Options) path(elements ...string) string {
	return filepath.Join(append([]string{o.StateDir}, elements...)...)
}

// Status is the answer of the workers on the control socket.
type Status struct {
	// Load counts the files that this master has loaded. It can be the load of the
	// answering worker or the newest one.
	Load int
	// Workers are the workers that accept connections. Each registers when it starts,
	// and unregisters when it has closed its listening sockets.
	Workers []Worker
	// Expected is the number of workers in the file of the answering worker.
	Expected int
	// Memory is the use of nginx's dictionaries.
	Memory []Memory
}

// Memory is the size and use of a dictionary, in bytes.
type Memory struct {
	Name       string
	Size, Used int64
}

// Worker is a registered worker.
type Worker struct {
	PID  int
	Load int
}

// StatusFunc returns the status. It must use a new connection for each call: a kept
// one still reaches a worker that has stopped accepting.
type StatusFunc func(context.Context) (Status, error)
