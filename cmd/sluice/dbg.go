package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// dbgCommand is /dbg of ingress-nginx's image, by which people look into a
// running controller.
func dbgCommand() *cobra.Command {
	return &cobra.Command{
		Use:   dbg,
		Short: "Look into the running controller",
		RunE: func(*cobra.Command, []string) error {
			return errors.New("dbg: this build has no debug socket to ask")
		},
	}
}
