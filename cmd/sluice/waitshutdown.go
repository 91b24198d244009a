package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// waitShutdownCommand is /wait-shutdown of ingress-nginx's image, the preStop hook
// of its Deployments.
func waitShutdownCommand() *cobra.Command {
	return &cobra.Command{
		Use:           "wait-shutdown",
		Short:         "Stop the controller of this container and wait until it and its nginx have ended",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("wait-shutdown: not built")
		},
	}
}
