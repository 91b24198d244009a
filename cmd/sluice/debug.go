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

// answerTimeout bounds a question to a controller. Only one that is stuck takes
// that long.
const answerTimeout = 2 * time.Minute

// openDebug answers questions about a controller from now on, until stop.
func (p *parts) openDebug(c *controller.Controller) (stop func(), err error) {
	o := debug.Options{Version: version, Nginx: p.options.Process.Install(), State: c.State, Ready: c.Ready, Status: statusOf(p.options.Runtime)}
	if p.cluster != nil && p.cluster.elector != nil {
		elector := p.cluster.elector
		o.Leader = func() debugapi.Leader {
			return debugapi.Leader{Leads: elector.IsLeader(), Identity: elector.LeaderIdentity()}
		}
	}
	return debug.Serve(filepath.Join(p.options.StateDir, debugapi.Socket), debug.Handler(o), p.options.Log)
}

func debugCommand() *cobra.Command {
	command := commandOfCommands("debug", "Look into a running controller")
	command.AddCommand(debugGetCommand())
	return command
}

// commandOfCommands says what commands it has, and refuses others.
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
		Short: "Print what a running controller says of itself",
		Long: "Asks the controller that runs with this state directory and prints its answer. It must be run as the same user, in a\n" +
			"pod by `kubectl exec`. PATH, with its query percent-encoded:\n\n" +
			"  /conf?host=HOST&ingress=NAMESPACE/NAME&format=text|json  nginx.conf as it runs, and who wrote each line\n" +
			"  /routes?host=HOST&ingress=NAMESPACE/NAME                 where each path goes\n" +
			"  /explain?url=URL&method=METHOD&format=text|json          why a URL goes where it goes\n" +
			"  /backends?name=NAME                                      the endpoints that nginx was told\n" +
			"  /certs?host=HOST                                         the certificates, or the one that a host is presented\n" +
			"  /problems?namespace=NAMESPACE&ingress=NAMESPACE/NAME     what is wrong with the objects\n" +
			"  /general                                                 version, readiness, the last change, settings, leader",
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

// variable is how an argument of a container names one of its variables, or has a
// dollar sign that names none.
var variable = regexp.MustCompile(`\$\$|\$\(([^)]*)\)`)

// withVariables fills in the variables of this environment, as Kubernetes does in
// the arguments of a container: whoever reads the state directory there, such as
// the plugin, sees $(XDG_STATE_HOME) and not what it stands for.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container (args)
func withVariables(argument string) string {
	return variable.ReplaceAllStringFunc(argument, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, set := os.LookupEnv(variable.FindStringSubmatch(found)[1]); set {
			return value
		}
		return found // as Kubernetes leaves it
	})
}

// addControllerStateDir adds the flag that says which controller is asked.
func addControllerStateDir(flags *pflag.FlagSet, dir *string) {
	flags.StringVar(dir, "state-dir", controllerStateDir(append([]string{defaultStateDir()}, imageStateDirs...)), "state directory of the controller; by default the first that has one of those where a controller keeps it if it is not told otherwise")
}

// controllerStateDir is the first of some folders in which a controller of this
// user answers, or else the first. Others may write to some of them.
func controllerStateDir(dirs []string) string {
	at := slices.IndexFunc(dirs, func(dir string) bool {
		var stat unix.Stat_t
		err := unix.Lstat(filepath.Join(dir, debugapi.Socket), &stat)
		return err == nil && stat.Mode&unix.S_IFMT == unix.S_IFSOCK && int(stat.Uid) == os.Geteuid()
	})
	return dirs[max(at, 0)]
}

// printAnswer copies an answer, as it is where nobody but a program reads it.
func printAnswer(ctx context.Context, stateDir, path string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := debug.Get(ctx, stateDir, path)
	if err != nil {
		return err
	}
	defer answer.Close()
	if isTerminal(out) {
		return copyShown(out, answer)
	}
	_, err = io.Copy(out, answer)
	return err
}
