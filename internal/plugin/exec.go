package plugin

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/client-go/util/exec"
)

const execExample = `  # Run a program in the controller's container
  kubectl sluice exec -- sluice version

  # With a terminal
  kubectl sluice exec -i -t -- sh`

func execCommand(s *session) *cobra.Command {
	var stdin, tty bool
	cmd := &cobra.Command{
		Use:     "exec [flags] -- COMMAND [ARGUMENT...]",
		Short:   "Run a program in the controller's container",
		Long:    "Run a program in the controller's container. The exit status is that of the program.",
		Example: execExample,
		Args: func(_ *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return errors.New("want a command to run, such as `kubectl sluice exec -- sluice version`")
			}
			return nil
		},
	}
	pods := s.podFlags(cmd)
	cmd.Flags().BoolVarP(&stdin, "stdin", "i", false, "pass the standard input on")
	cmd.Flags().BoolVarP(&tty, "tty", "t", false, "give the program a terminal")
	cmd.Flags().SetInterspersed(false)
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		return s.runIn(cmd, pods, arguments, interaction{stdin, tty})
	}
	return cmd
}

const sshExample = `  # A shell beside the controller
  kubectl sluice ssh

  # In another pod
  kubectl sluice ssh --pod sluice-controller-5d8f6c9b7-x2v4q`

// shell is that of the image, which has no bash; a container of another image may
// have it, and then it is preferred.
var shell = []string{"sh", "-c", "if command -v bash >/dev/null; then exec bash; else exec sh; fi"}

func sshCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ssh",
		Aliases: []string{"shell"},
		Short:   "Open a shell in the controller's container",
		Example: sshExample,
		Args:    noMore,
	}
	pods := s.podFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return s.runIn(cmd, pods, shell, interaction{stdin: true, tty: true})
	}
	return cmd
}

// interaction is what a program has of the terminal here.
type interaction struct{ stdin, tty bool }

// runIn runs a program in the controller's container, with the streams as they
// are: what it prints is for it to answer for.
func (s *session) runIn(cmd *cobra.Command, pods *podFlags, line []string, i interaction) error {
	c, err := s.controller(cmd.Context(), pods)
	if err != nil {
		return err
	}
	r := remote{pod: c.pod, container: c.container, command: line, stdout: s.streams.Out, stderr: s.streams.ErrOut}
	if i.stdin {
		r.stdin = s.streams.In
	}
	if i.tty {
		file, ok := s.streams.In.(*os.File)
		if !i.stdin || !ok || !term.IsTerminal(int(file.Fd())) {
			s.note("the standard input is no terminal, so the program is given none")
		} else {
			restore, err := s.raw(cmd.Context(), file, &r)
			if err != nil {
				return err
			}
			defer restore()
		}
	}
	err = c.run(cmd.Context(), r)
	if exit := (exec.CodeExitError{}); errors.As(err, &exit) {
		return err
	}
	return c.said(err, "run %q in the container %q of the pod %s", line[0], c.container, fmt.Sprint(nameOf(c.pod)))
}
