package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// streams selects the streams that a program in a container has besides its output.
type streams struct{ stdin, tty bool }

// execute prepares kubectl exec, which runs a program in the controller's container.
func (c *controller) execute(ctx context.Context, s streams, program []string) (*exec.Cmd, error) {
	// Both flags are set explicitly, so that no preference of the user (kuberc)
	// changes them.
	flags := []string{fmt.Sprintf("--stdin=%t", s.stdin), fmt.Sprintf("--tty=%t", s.tty)}
	return c.kubectl(ctx, "exec", flags, append([]string{"--"}, program...)...)
}

// endingPatience is how long kubectl may take to end when asked to.
const endingPatience = 2 * time.Second

// kubectl prepares a call of kubectl for the controller's container. It uses no
// shell. Every name and value follows a text of ours in its argument, or follows
// "--", so none can become a flag.
func (c *controller) kubectl(ctx context.Context, command string, flags []string, rest ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(cmp.Or(c.session.kubectl, os.Getenv("KUBECTL"), "kubectl"))
	if err != nil {
		return nil, fmt.Errorf("find kubectl: %w (want it on the PATH, or its path in --kubectl or $KUBECTL)", err)
	}
	// The last --namespace wins, and the user's can differ from the pod's.
	arguments := slices.Concat([]string{command}, given(c.session.flags), []string{"--namespace=" + c.pod.Namespace, "--container=" + c.container},
		flags, []string{"pod/" + c.pod.Name}, rest)
	cmd := exec.CommandContext(ctx, path, arguments...)
	cmd.WaitDelay = endingPatience
	// kubectl restores the terminal when it is asked to end. Windows cannot ask.
	cmd.Cancel = func() error {
		if cmd.Process.Signal(syscall.SIGTERM) != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	return cmd, nil
}

// given returns the flags of a set that the user gave, as arguments.
func given(set *pflag.FlagSet) []string {
	var arguments []string
	for _, flag := range givenFlags(set) {
		arguments = append(arguments, flag.argument)
	}
	return arguments
}

// givenFlag is a flag with a value, as an argument.
type givenFlag struct{ name, argument string }

func givenFlags(set *pflag.FlagSet) []givenFlag {
	var flags []givenFlag
	// Visit would miss flags that a command parsed in its copy of the set.
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		for _, value := range values {
			flags = append(flags, givenFlag{f.Name, "--" + f.Name + "=" + value})
		}
	})
	return flags
}

// ending is the line that kubectl prints after a program that failed.
var ending = regexp.MustCompile(`(?:^|\n)command terminated with exit code \d+\n*$`)

// programError returns the standard error of a program that kubectl ran, and reports
// whether that program ended by itself; otherwise the text is kubectl's own.
func programError(text string) (string, bool) {
	at := ending.FindStringIndex(text)
	if at == nil {
		return strings.TrimSpace(text), false
	}
	return strings.TrimSpace(text[:at[0]]), true
}

// failure returns the error of a failed call of kubectl with its output.
func failure(ctx context.Context, err error, text string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if text = strings.TrimSpace(strings.TrimPrefix(text, "error: ")); text == "" {
		return fmt.Errorf("kubectl: %w", err)
	}
	return errors.New(text)
}
