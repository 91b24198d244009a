package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
)

const migrateExample = `  # What changes for each Ingress of the cluster
  kubectl sluice migrate

  # The same as a page to send around
  kubectl sluice migrate -o html > report.html

  # One namespace, with the values of the Helm release
  helm get values ingress-nginx -n ingress-nginx -o yaml > values.yaml
  kubectl sluice migrate --namespace shop --values values.yaml`

const migrateLong = `Report how Sluice would serve the Ingresses of a cluster in which ingress-nginx runs: ready, different, 503 or left-out, with the remedy
for each. The cluster needs no Sluice, and nothing is changed. The contents of Secrets are not read.

All Ingresses are read, as they affect each other; --namespace shows those of one namespace. The command runs "sluice migrate", so it
needs the program sluice: on the PATH, or named with --sluice or in $SLUICE. The exit status is 1 if an Ingress has the status of
--fail-on or a worse one, and 2 if the cluster cannot be read.`

// migrateFlags are passed on to sluice migrate.
type migrateFlags struct {
	program, output, failOn string
	files, values           []string
}

func migrateCommand(s *session) *cobra.Command {
	var flags migrateFlags
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "Report what changes for each Ingress of an ingress-nginx",
		Long:    migrateLong,
		Example: migrateExample,
		Args:    noMore,
	}
	set := cmd.Flags()
	set.StringVar(&flags.program, "sluice", "", "path or name of sluice (default $SLUICE, or sluice on the PATH)")
	set.StringVarP(&flags.output, "output", "o", "text", "text, json, csv, html or sarif")
	set.StringVar(&flags.failOn, "fail-on", "different", "the best status of an Ingress that makes the exit status 1: different, 503, left-out or never")
	set.StringArrayVarP(&flags.files, "filename", "f", nil, "folder or file with manifests to read besides the cluster; may be given several times")
	set.StringArrayVar(&flags.values, "values", nil, "file with values of ingress-nginx's Helm chart; may be given several times")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.migrate(cmd, flags) }
	return cmd
}

// notOfSluice are the flags of kubectl that sluice migrate has not, as they say how
// kubectl itself works.
var notOfSluice = map[string]bool{"cache-dir": true, "match-server-version": true}

// migrate runs sluice migrate with kubectl's flags for the cluster.
func (s *session) migrate(cmd *cobra.Command, f migrateFlags) error {
	path, err := exec.LookPath(cmp.Or(f.program, os.Getenv("SLUICE"), "sluice"))
	if err != nil {
		return fmt.Errorf("find sluice: %w (want it on the PATH, or its path in --sluice or $SLUICE)", err)
	}
	arguments := []string{"migrate", "--from-cluster", "--output=" + f.output, "--fail-on=" + f.failOn}
	for _, file := range f.files {
		arguments = append(arguments, "--filename="+file)
	}
	for _, file := range f.values {
		arguments = append(arguments, "--values="+file)
	}
	for _, flag := range givenFlags(s.flags) {
		if !notOfSluice[flag.name] {
			arguments = append(arguments, flag.argument)
		}
	}
	program := exec.CommandContext(cmd.Context(), path, arguments...)
	program.Stdin, program.Stdout, program.Stderr = s.streams.In, s.streams.Out, s.streams.ErrOut
	program.WaitDelay = endingPatience
	program.Cancel = func() error { return program.Process.Signal(syscall.SIGTERM) }
	err = program.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("run sluice: %w", err)
	}
	return err
}
