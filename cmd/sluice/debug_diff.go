package main

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"sluice/internal/debug"
	"sluice/internal/debugapi"
)

// debugDiffFlags are the flags of sluice debug diff.
type debugDiffFlags struct {
	stateDir, output, namespace string
}

func debugDiffCommand() *cobra.Command {
	var flags debugDiffFlags
	command := &cobra.Command{
		Use:   "diff",
		Short: "Print what manifests would change for a running controller",
		Long: "Send the manifests of standard input to the controller with this state directory, and print what would change if they were\n" +
			"applied: `sluice diff` for the objects that it serves. It applies nothing. The exit status is 0 if nothing changes, 1 if\n" +
			"something changes, and 2 for an error.",
		Example: "  kubectl exec -i deploy/sluice-controller -- sluice debug diff < new.yaml",
		Args:    onlyFlags("the manifests are the standard input"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			changed, err := flags.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
			return diffStatus(changed, err)
		},
	}
	addControllerStateDir(command.Flags(), &flags.stateDir)
	command.Flags().StringVarP(&flags.output, "output", "o", diffText, "text, json or markdown")
	command.Flags().StringVarP(&flags.namespace, "namespace", "n", "", "namespace of objects without one; default if empty")
	return command
}

func (f *debugDiffFlags) run(ctx context.Context, in io.Reader, out io.Writer) (changed bool, err error) {
	if err := validDifferenceFormat(f.output); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	query := url.Values{debugapi.FormatParam: {f.output}}
	if f.namespace != "" {
		query.Set(debugapi.NamespaceParam, f.namespace)
	}
	answer, changed, err := debug.Diff(ctx, withVariables(f.stateDir), query.Encode(), in)
	if err != nil {
		return false, err
	}
	defer answer.Close()
	if isTerminal(out) {
		err = copyShown(out, answer)
	} else {
		_, err = io.Copy(out, answer)
	}
	if err != nil {
		return false, fmt.Errorf("print the differences: %w", err)
	}
	return changed, nil
}
