// Command sluice is an ingress controller for Kubernetes, built on nginx.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"sluice/internal/nginx"
	"sluice/internal/pid1"
)

// version is set by build.sh.
var version = "development"

func main() {
	// If it fails, the check of the ports reports the reason.
	_ = nginx.HoldBindService()
	os.Exit(pid1.First(func() int { return carryOut(called(os.Args), os.Stderr) }))
}

func root() *cobra.Command {
	command := &cobra.Command{
		Use:           "sluice",
		Short:         "An ingress controller for Kubernetes, built on nginx",
		Long:          "Sluice turns Ingress objects into one nginx.conf, lets nginx check it, and reloads nginx only if that file changes.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	command.Version = versionLine()
	command.SetVersionTemplate("sluice {{ .Version }}\n")
	command.SetHelpCommand(helpCommand())
	command.AddCommand(runCommand(), renderCommand(), explainCommand(), lintCommand(), diffCommand(), migrateCommand(), compareCommand(), debugCommand(), versionCommand())
	return command
}

// helpCommand is cobra's, except that an unknown command is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, names []string) error {
			about, rest, err := cmd.Root().Find(names)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("unknown command %q for %q", rest[0], about.CommandPath())
			}
			if err != nil {
				return usage(err)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  onlyFlags(""),
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintln(cmd.OutOrStdout(), "sluice", versionLine())
		},
	}
}

// versionLine returns the version, the platform and the version of Go.
func versionLine() string {
	return fmt.Sprintf("%s %s/%s %s", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
