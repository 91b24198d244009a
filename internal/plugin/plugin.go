// Package plugin holds the commands of kubectl-sluice, a plugin of kubectl.
//
// It takes the flags of kubectl that select a cluster, and flags that select a pod of
// the controller. It prints tables, JSON, YAML or text. The plugin runs `sluice debug
// get` in the controller's container with kubectl exec (package debugapi is the
// contract), and reads objects from the API server itself. It changes nothing.
//
//	os.Exit(plugin.Main(version, streams, os.Args[1:]))
package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

const rootLong = `Inspect Sluice, an ingress controller built on nginx: its routes, the reasons for them, and Problems.

The flags --deployment (a Deployment or a DaemonSet), --selector or --pod select the controller, in the namespace of --namespace or of
the current context. If it is not there and you may list all pods, the plugin takes the only namespace that has one.`

const rootExample = `  # Which Ingress takes a request, and why
  kubectl sluice explain https://www.shop.example/cart/7

  # The Problems of all namespaces
  kubectl sluice problems --all-namespaces

  # The lines of nginx.conf for one Ingress
  kubectl sluice conf --ingress shop/cart --origins`

// Main runs a command line and returns the exit status: 0, that of a program run by
// exec, 1 after an error, or 2 if the command line is wrong. It prints errors to
// standard error.
func Main(version string, streams genericiooptions.IOStreams, arguments []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := Root(version, streams)
	root.SetArgs(arguments)
	began := false
	for _, c := range root.Commands() {
		run := c.RunE
		c.RunE = func(c *cobra.Command, arguments []string) error {
			began = true
			return run(c, arguments)
		}
	}
	command, err := root.ExecuteContextC(ctx)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode() // kubectl or the program has printed the reason
	}
	status := 1
	if with := (*statusError)(nil); errors.As(err, &with) {
		if status = with.status; with.err == nil {
			return status
		}
	}
	if err != nil {
		fmt.Fprintln(streams.ErrOut, "error:", printableLines(err.Error()))
		if !began {
			fmt.Fprintf(streams.ErrOut, "See `%s --help`.\n", command.CommandPath())
			return 2
		}
		return status
	}
	return 0
}

// Root returns the root command with all subcommands.
func Root(version string, streams genericiooptions.IOStreams) *cobra.Command {
	s := newSession(streams)
	root := &cobra.Command{
		Use: "kubectl-sluice", Version: version,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl sluice"},
		Short:         "Inspect Sluice, an ingress controller built on nginx",
		Long:          rootLong,
		Example:       rootExample,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          known,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	s.addFlags(root.PersistentFlags())
	s.completeNamespace(root)
	root.AddCommand(
		explainCommand(s), problemsCommand(s), routesCommand(s), confCommand(s), diffCommand(s), backendsCommand(s), certsCommand(s),
		ingressesCommand(s), migrateCommand(s), infoCommand(s), generalCommand(s), whyReloadedCommand(s), topCommand(s), uiCommand(s), logsCommand(s), execCommand(s), sshCommand(s),
	)
	return root
}

// known rejects an unknown command and suggests one.
func known(cmd *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", arguments[0], cmd.CommandPath())
	if cmd.SuggestionsMinimumDistance == 0 {
		cmd.SuggestionsMinimumDistance = 2 // cobra's value for commands without arguments
	}
	if meant := cmd.SuggestionsFor(arguments[0]); len(meant) > 0 {
		text += ": did you mean " + strings.Join(meant, " or ") + "?"
	}
	return errors.New(text)
}

// noMore rejects arguments, and suggests where a surplus one may belong.
func noMore(cmd *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments (got %q): see `%s --help` for its flags", cmd.CommandPath(), strings.Join(arguments, " "), cmd.CommandPath())
}
