// Package health serves the liveness check, the readiness check and metrics over HTTP.
package health

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Checked is the subject of the checks. The errors say what is missing.
type Checked interface {
	// Ready fails if requests must not be sent here. Healthy fails if a restart is needed.
	Ready() error
	Healthy(ctx context.Context) error
}

// Checks configures the checks.
type Checks struct {
	// Address is the address to listen on. Path is the path of the liveness check.
	Address, Path string
	// Both makes the liveness check fail if the readiness check fails, for probes that use
	// one path for both, like those of ingress-nginx.
	Both bool
	// Metrics answers at /metrics; nil for none.
	Metrics http.Handler
}

// live returns the result of the liveness check.
func (c Checks) live(ctx context.Context, of Checked) error {
	if err := of.Ready(); c.Both && err != nil {
		return err
	}
	return of.Healthy(ctx)
}

// Handler serves the liveness check, and the readiness check at /readyz. It answers 200
// with "ok", or 503 with the error. Metrics are at /metrics.
func (c Checks) Handler(of Checked) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+c.Path, func(w http.ResponseWriter, r *http.Request) { answer(w, c.live(r.Context(), of)) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { answer(w, of.Ready()) })
	if c.Metrics != nil {
		mux.Handle("GET /metrics", c.Metrics)
	}
	return mux
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// Serve serves Handler until ctx ends. It returns when the listener is open, or its error.
func (c Checks) Serve(ctx context.Context, of Checked, log *slog.Logger) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", c.Address)
	if err != nil {
		return fmt.Errorf("--healthz-host, --healthz-port: want an address to listen on for health checks (got %s): %w", c.Address, err)
	}
	server := &http.Server{
		Handler: c.Handler(of), ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	go func() { _ = server.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return nil
}
