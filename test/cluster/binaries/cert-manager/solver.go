package main

import (
	"context"
	"flag"

	"github.com/cert-manager/cert-manager/pkg/issuer/acme/http/solver"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

// solve answers one challenge.
func solve(ctx context.Context, arguments []string) error {
	var s solver.HTTP01Solver
	flags := flag.NewFlagSet("solver", flag.ExitOnError)
	flags.IntVar(&s.ListenPort, "listen-port", 8089, "port to listen on, at all addresses")
	flags.StringVar(&s.Domain, "domain", "", "host of the challenge")
	flags.StringVar(&s.Token, "token", "", "end of its path")
	flags.StringVar(&s.Key, "key", "", "answer")
	_ = flags.Parse(arguments)
	context.AfterFunc(ctx, func() { _ = s.Close() })
	return s.Listen(logf.FromContext(ctx))
}
