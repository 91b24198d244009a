package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/pid1"
)

// waitShutdownCommand is /wait-shutdown of ingress-nginx's image, the preStop hook
// of its Deployments.
func waitShutdownCommand() *cobra.Command {
	var most time.Duration
	command := &cobra.Command{
		Use:   waitShutdown,
		Short: "Stop the controller of this container, and wait until its nginx has ended",
		Long: "Stop the controller of this container, and wait until its nginx has ended.\n\n" +
			"This is for a preStop hook: Kubernetes then stops the pod only after open requests have ended.",
		Args: onlyFlags(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), most)
			defer cancel()
			if err := pid1.Shutdown(ctx, isController); err != nil {
				return fmt.Errorf("%s: %w", waitShutdown, err)
			}
			return nil
		},
	}
	// If a hook gives up, the kubelet sends a second signal, which ends open requests. So
	// the grace period of the pod should limit the wait instead.
	command.Flags().DurationVar(&most, "timeout", longestGrace*time.Second, "the longest time to wait")
	return command
}
