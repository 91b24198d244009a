package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"

	"sluice/internal/debug"
)

// validateProfiles checks the flags of --profiling.
func (f *runFlags) validateProfiles() error {
	if ip, err := netip.ParseAddr(f.profilerAddress); err != nil || ip.Zone() != "" {
		return fmt.Errorf("--profiler-address: want an IP address (got %q)", f.profilerAddress)
	}
	for _, other := range []struct {
		flag string
		port int
	}{{"http-port", f.httpPort}, {"https-port", f.httpsPort}, {"healthz-port", f.healthzPort}} {
		if f.profiling && f.profilerPort == other.port {
			return fmt.Errorf("--profiler-port: want another port than --%s (got %d)", other.flag, f.profilerPort)
		}
	}
	return nil
}

// serveProfiles serves the profiles of --profiling until ctx ends.
func (f *runFlags) serveProfiles(ctx context.Context, log *slog.Logger) error {
	if !f.profiling {
		return nil
	}
	err := debug.ServeProfiles(ctx, net.JoinHostPort(f.profilerAddress, strconv.Itoa(f.profilerPort)), log)
	if err != nil {
		return fmt.Errorf("--profiler-port: want a free port: %w", err)
	}
	return nil
}
