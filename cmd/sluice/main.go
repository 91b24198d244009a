// Command sluice is an ingress controller for Kubernetes, built on nginx.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"sluice/internal/container"
	"sluice/internal/nginx"
)

// version is stamped by build.sh.
var version = "development"

func main() {
	// Failing it, the check of the ports says what is missing.
	_ = nginx.HoldBindService()
	os.Exit(container.First(func() int { return exitStatus(called(os.Args).Execute(), os.Stderr) }))
}

func root() *cobra.Command {
	command := &cobra.Command{
		Use:           "sluice",
		Short:         "An ingress controller for Kubernetes, built on nginx",
		Long:          "Sluice turns Ingress objects into one nginx.conf, has nginx check it, and reloads nginx only when that file changes.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	command.AddCommand(runCommand(), renderCommand(), explainCommand(), lintCommand(), debugCommand(), versionCommand())
	return command
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "sluice %s %s/%s %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
		},
	}
}
