package debug

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"

	"sluice/internal/debugapi"
)

// Profiles returns the handler of Go's profiles of this process, below
// debugapi.ProfilesPath. They tell function names, and a trace the command line; no object.
func Profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(debugapi.ProfilesPath, pprof.Index)
	mux.HandleFunc(debugapi.ProfilesPath+"cmdline", pprof.Cmdline)
	mux.HandleFunc(debugapi.ProfilesPath+"profile", pprof.Profile)
	mux.HandleFunc(debugapi.ProfilesPath+"symbol", pprof.Symbol)
	mux.HandleFunc(debugapi.ProfilesPath+"trace", pprof.Trace)
	return mux
}

// ServeProfiles serves Profiles at an address until ctx ends.
func ServeProfiles(ctx context.Context, address string, log *slog.Logger) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: Profiles(), ReadTimeout: readTimeout, WriteTimeout: writeTimeout, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	log.Info("serving profiles", "address", listener.Addr().String())
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
	return nil
}
