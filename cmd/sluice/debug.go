package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"sluice/internal/controller"
	"sluice/internal/debug"
	"sluice/internal/debugapi"
)

// answerTimeout limits a request to a controller. Only a stuck one takes that long.
const answerTimeout = 2 * time.Minute

// openDebug serves the debug socket of a controller until stop.
func (p *parts) openDebug(c *controller.Controller) (stop func(), err error) {
	o := debug.Options{Version: version, Nginx: p.options.Process.Install(), State: c.State, Ready: c.Ready, Status: statusOf(p.options.Runtime)}
	if p.cluster != nil && p.cluster.elector != nil {
		elector := p.cluster.elector
		o.Leader = func() debugapi.Leader {
			return debugapi.Leader{Leads: elector.IsLeader(), Identity: elector.LeaderIdentity()}
		}
	}
	if p.metered.Counts() {
		o.Traffic = p.metered.Traffic
	}
	if p.cluster != nil {
		o.Fetch = p.cluster.fetch
	}
	return debug.Serve(filepath.Join(p.options.StateDir, debugapi.Socket), debug.Handler(o), p.options.Log)
}

func debugCommand() *cobra.Command {
	command := commandOfCommands("debug", "Inspect a running controller")
	command.AddCommand(debugGetCommand(), debugDiffCommand())
	return command
}

// commandOfCommands returns a command that prints its help and rejects unknown subcommands.
func commandOfCommands(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

func debugGetCommand() *cobra.Command {
	var stateDir string
	command := &cobra.Command{
		Use:   "get PATH",
		Short: "Print the state of a running controller",
		Long: "Ask the controller with this state directory, and print its answer. Run it as the same user; in a pod, with\n" +
			"`kubectl exec`. PATH, with its query percent-encoded:\n\n" +
			"  /conf?host=HOST&ingress=NAMESPACE/NAME&format=text|json  the running nginx.conf, and the owner of each line\n" +
			"  /routes?host=HOST&ingress=NAMESPACE/NAME                 the routing table\n" +
			"  /explain?url=URL&method=METHOD&format=text|json          the rule that takes a URL, and why\n" +
			"  /live?url=URL&method=METHOD                              what nginx itself decides about it (debug-header-secret)\n" +
			"  /backends?name=NAME                                      the endpoints that nginx uses\n" +
			"  /certs?host=HOST                                         the certificates, or that of a host\n" +
			"  /problems?namespace=NAMESPACE&ingress=NAMESPACE/NAME     the Problems of objects\n" +
			"  /reloads                                                 the last reloads: cause, changes, durations\n" +
			"  /traffic?namespace=NAMESPACE                             requests of each Ingress so far, with --enable-metrics\n" +
			"  /general                                                 version, readiness, last change, settings, leader\n" +
			"  /debug/pprof/heap, /debug/pprof/profile?seconds=10, ...  profiles of the process, for `go tool pprof`",
		Example: "  sluice debug get /general\n" +
			"  sluice debug get '/routes?host=shop.example'\n" +
			"  kubectl exec deploy/sluice-controller -- sluice debug get '/explain?url=https://shop.example/cart'",
		Args: wantArguments(1, 1, "the path of a view, such as /general"),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			return printAnswer(cmd.Context(), withVariables(stateDir), arguments[0], cmd.OutOrStdout())
		},
	}
	addControllerStateDir(command.Flags(), &stateDir)
	return command
}

// variable matches a variable in an argument of a container, or an escaped dollar sign.
var variable = regexp.MustCompile(`\$\$|\$\(([^)]*)\)`)

// withVariables expands the variables of this environment, as Kubernetes does in the
// arguments of a container. The plugin reads the state directory there and sees only
// $(XDG_STATE_HOME).
// Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container (args)
func withVariables(argument string) string {
	return variable.ReplaceAllStringFunc(argument, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, set := os.LookupEnv(variable.FindStringSubmatch(found)[1]); set {
			return value
		}
		return found // like Kubernetes
	})
}

// addControllerStateDir adds the flag that selects the controller.
func addControllerStateDir(flags *pflag.FlagSet, dir *string) {
	flags.StringVar(dir, "state-dir", controllerStateDir(append([]string{defaultStateDir()}, imageStateDirs...)), "state directory of the controller; by default the first usual one in which a controller runs")
}

// controllerStateDir returns the first folder with a debug socket of this user, or else the
// first folder. Other users can write to some of the folders.
func controllerStateDir(dirs []string) string {
	at := slices.IndexFunc(dirs, func(dir string) bool {
		var stat unix.Stat_t
		err := unix.Lstat(filepath.Join(dir, debugapi.Socket), &stat)
		return err == nil && stat.Mode&unix.S_IFMT == unix.S_IFSOCK && int(stat.Uid) == os.Geteuid()
	})
	return dirs[max(at, 0)]
}

// printAnswer copies an answer, unchanged unless the output is a terminal.
func printAnswer(ctx context.Context, stateDir, path string, out io.Writer) error {
	return askController(ctx, stateDir, path, func(answer io.Reader) error {
		if isTerminal(out) {
			return copyShown(out, answer)
		}
		_, err := io.Copy(out, answer)
		return err
	})
}

// askController asks the controller of a state directory and reads its answer.
func askController(ctx context.Context, stateDir, path string, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := debug.Get(ctx, stateDir, path)
	if err != nil {
		return err
	}
	defer answer.Close()
	return read(answer)
}
