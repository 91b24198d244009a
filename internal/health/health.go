// Package health serves the liveness and the readiness check over HTTP.
package health

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Checked is whose health is asked for. The errors say what is missing.
type Checked interface {
	// Ready says whether requests may be sent here, Healthy whether it works at all.
	Ready() error
	Healthy(ctx context.Context) error
}

// Checks are how the health checks are served.
type Checks struct {
	// Address is listened on; Path is that of the liveness check.
	Address, Path string
	// Both is for probes that ask the liveness check for readiness, too, as those
	// of ingress-nginx do: it fails while the readiness check would.
	Both bool
}

// live is what the liveness check answers.
func (c Checks) live(ctx context.Context, of Checked) error {
	if err := of.Ready(); c.Both && err != nil {
		return err
	}
	return of.Healthy(ctx)
}

// Handler serves the liveness check, and the readiness check at /readyz: 200 with
// "ok", or 503 with what is missing.
func (c Checks) Handler(of Checked) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+c.Path, func(w http.ResponseWriter, r *http.Request) { answer(w, c.live(r.Context(), of)) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { answer(w, of.Ready()) })
	return mux
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// Serve listens for Handler until ctx ends. It returns once the listener is open,
// or with the error that prevents that.
func (c Checks) Serve(ctx context.Context, of Checked, log *slog.Logger) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", c.Address)
	if err != nil {
		return fmt.Errorf("--healthz-host, --healthz-port: want an address to listen on for health checks (got %s): %w", c.Address, err)
	}
	server := &http.Server{
		Handler: c.Handler(of), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	go func() { _ = server.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return nil
}
