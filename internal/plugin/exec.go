package plugin

import (
	"errors"
	"io"
	"os/exec"

	"github.com/spf13/cobra"
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
		Long:    "Run a program in the controller's container with kubectl exec. The exit status is that of the program.",
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
		return s.runIn(cmd, pods, arguments, streams{stdin, tty})
	}
	return cmd
}

const sshExample = `  # A shell beside the controller
  kubectl sluice ssh

  # In another pod
  kubectl sluice ssh --pod sluice-controller-5d8f6c9b7-x2v4q`

// shell prefers bash. The image has only sh, but other images may have bash.
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
		return s.runIn(cmd, pods, shell, streams{stdin: true, tty: true})
	}
	return cmd
}

// runIn runs a program in the controller's container with the streams of this
// process. It does not escape the output.
func (s *session) runIn(cmd *cobra.Command, pods *podFlags, program []string, wanted streams) error {
	c, err := s.controller(cmd.Context(), pods)
	if err != nil {
		return err
	}
	run, err := c.execute(cmd.Context(), wanted, program)
	if err != nil {
		return err
	}
	if wanted.stdin {
		run.Stdin = s.streams.In
	}
	errs := &lastText{to: s.streams.ErrOut}
	run.Stdout, run.Stderr = s.streams.Out, errs
	err = run.Run()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		return c.explained(failure(cmd.Context(), err, ""), "run %q in the container %q of the pod %s/%s", program[0], c.container, c.pod.Namespace, c.pod.Name)
	}
	if _, ended := programError(errs.text); err != nil && !ended && isForbidden(errors.New(errs.text)) {
		s.note(rightsHint)
	}
	return err
}

// lastText forwards a text and keeps its end.
type lastText struct {
	to   io.Writer
	text string
}

func (l *lastText) Write(text []byte) (int, error) {
	l.text += string(text)
	l.text = l.text[max(0, len(l.text)-mostShown):]
	return l.to.Write(text)
}
