// Package nginx runs nginx: it finds the binary and says what it can do, tests
// a configuration file, starts the master, swaps the file and reloads, and
// waits until workers themselves say that the new file serves.
//
// In: bytes of a configuration and a function that asks the workers for their
// Status. Out: a Result with times, or an error in one line that names what
// nginx refused. The package knows neither Kubernetes nor what the
// configuration means.
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

// Options say which nginx is run and where it keeps its state. Only StateDir
// has no default.
type Options struct {
	// Binary is the nginx binary. Empty: the environment's NGINX_BINARY, then
	// PATH, then /usr/sbin/nginx.
	Binary string
	// Root is the root of the file system that the binary, its modules and its
	// Lua libraries come from; empty or "/" is our own. From another root nginx
	// is started by that root's dynamic loader, without chroot.
	Root string
	// StateDir is an absolute path; PrepareState makes its layout.
	StateDir string
	// User is the account that workers run as when the master runs as root;
	// empty means nginx's own default, "nobody".
	User string
	// PIDFile names the pid file of an nginx that something else runs. It is
	// then tested and reloaded here but never started or stopped.
	PIDFile string

	// Logger gets one line for each start, end and roll-back.
	Logger *slog.Logger
	// Stdout is nginx's standard output; default os.Stdout.
	Stdout *os.File
	// Stderr gets each line of nginx's error log once; default os.Stderr.
	Stderr io.Writer

	// TestTimeout bounds one `nginx -t`. Default: 60 s, and 10 s for each
	// megabyte of the file.
	TestTimeout time.Duration
	// ReloadTimeout bounds a reload until it is live. Default: 2.5 s, which
	// nginx waits for a port that is taken, and 2 s, and three times as long
	// as a file took so far, or 10 s for each megabyte of the file.
	ReloadTimeout time.Duration
	// SettleTimeout bounds the wait for old workers to stop accepting once the
	// new ones are live; default 10 s.
	SettleTimeout time.Duration
}

func (o Options) withDefaults() Options {
	o.SettleTimeout = cmp.Or(o.SettleTimeout, 10*time.Second)
	o.Stdout = cmp.Or(o.Stdout, os.Stdout)
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// path gives a path within the state directory.
func (o Options) path(elements ...string) string {
	return filepath.Join(append([]string{o.StateDir}, elements...)...)
}

// Status is what the workers say of themselves over the control socket.
type Status struct {
	// Load counts the times that this master has loaded a file. It may be the
	// answering worker's or the newest one.
	Load int
	// Workers are those that accept: each registers when it begins and takes
	// itself off when it has closed its listening sockets.
	Workers []Worker
	// Expected is how many workers the answering worker's file asks for.
	Expected int
	// Memory is how full nginx's dictionaries are.
	Memory []Memory
}

// Memory is how full a dictionary is, in bytes.
type Memory struct {
	Name       string
	Size, Used int64
}

// Worker is a registered worker.
type Worker struct {
	PID  int
	Load int
}

// StatusFunc asks for the status. It must use a new connection for each call:
// a kept one goes on reaching a worker that has stopped accepting.
type StatusFunc func(context.Context) (Status, error)
