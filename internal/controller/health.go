package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// healthTimeout bounds the question to nginx.
const healthTimeout = time.Second

// Ready reports whether a worker has confirmed the first configuration, something
// of the cluster is served, and no stop was asked for; the error says what is
// missing.
func (c *Controller) Ready() error {
	switch {
	case c.stopping.Load():
		return fmt.Errorf("stopping")
	case !c.ready.Load():
		return errors.Join(errors.New("no nginx worker has confirmed a configuration yet"), c.missing())
	}
	if why := c.idle.Load(); why != nil {
		return *why
	}
	return nil
}

// idleness says why nothing of the cluster is served although nginx runs, as long
// as that may change by itself or by the settings: nil if there is something.
func (c *Controller) idleness(p *plan) error {
	if c.unsettled() {
		return fmt.Errorf("ConfigMap %s does not exist, and --require-configmap is given: every path answers 503", c.Translate.ConfigMap)
	}
	waiting := c.quarantine.waiting()
	if waiting > 0 && len(p.accepted) <= len(p.options.Denied) {
		return fmt.Errorf("no Ingress is served: %d wait for a test of their own", waiting)
	}
	return nil
}

// noteIdleness lets Ready know of a plan that is in force.
func (c *Controller) noteIdleness(p *plan) {
	why := c.idleness(p)
	c.report.Trouble("nothing is served", why)
	if why == nil {
		c.idle.Store(nil)
		return
	}
	c.idle.Store(&why)
}

// waiting counts the Ingresses that are not served and that no test has decided on.
func (q *quarantine) waiting() int {
	count := 0
	for _, entry := range q.entries {
		if entry.waits && entry.stand != asGood {
			count++
		}
	}
	return count
}

// missing says what keeps the source from giving all objects, if it can tell.
func (c *Controller) missing() error {
	if source, ok := c.Source.(interface{ Missing() error }); ok {
		return source.Missing()
	}
	return nil
}

// Healthy reports whether an nginx worker answers.
func (c *Controller) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if _, err := c.Runtime.Status(ctx); err != nil {
		return fmt.Errorf("nginx does not answer: %w", err)
	}
	return nil
}

// Drain fails readiness, so that no new traffic is sent here.
func (c *Controller) Drain() { c.stopping.Store(true) }

// Checks are how the health checks are served.
type Checks struct {
	// Address is listened on; Path is that of the liveness check.
	Address, Path string
	// Both is for probes that ask the liveness check for readiness, too, as those
	// of ingress-nginx do: it fails while the readiness check would.
	Both bool
}

// live is what the liveness check answers.
func (c *Controller) live(ctx context.Context, checks Checks) error {
	if err := c.Ready(); checks.Both && err != nil {
		return err
	}
	return c.Healthy(ctx)
}

// Handler serves /healthz (at the path of checks) and /readyz: 200 with "ok", or
// 503 with what is missing.
func (c *Controller) Handler(checks Checks) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+checks.Path, func(w http.ResponseWriter, r *http.Request) { answer(w, c.live(r.Context(), checks)) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { answer(w, c.Ready()) })
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
func (c *Controller) Serve(ctx context.Context, checks Checks) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", checks.Address)
	if err != nil {
		return fmt.Errorf("--healthz-host, --healthz-port: want an address to listen on for health checks (got %s): %w", checks.Address, err)
	}
	server := &http.Server{
		Handler: c.Handler(checks), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	go func() { _ = server.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return nil
}
