package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
--fail-on or a worse one, or if something is not known, and 2 if the cluster cannot be read.`

// migrateFlags are those of sluice migrate, besides kubectl's. They are passed on as they are
// given, so that sluice checks their values.
func migrateFlags() *pflag.FlagSet {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.StringP("output", "o", "text", "text, json, csv, html or sarif")
	set.String("fail-on", "different", "exit with 1 if an Ingress has this status or a worse one: different, 503 or left-out, from the best to the worst; or never")
	set.StringArrayP("filename", "f", nil, "folder or file with manifests to read besides the cluster; may be given several times")
	set.StringArray("values", nil, "file with values of ingress-nginx's Helm chart; may be given several times")
	set.Bool("allow-empty", false, "allow a cluster without a served Ingress")
	set.String("configmap", "", "ConfigMap with the settings of ingress-nginx, as NAMESPACE/NAME; by default that of its Deployment")
	set.StringSlice("ingress-class", nil, "names of the classes of ingress-nginx, separated by commas; by default those of its Deployment, or nginx")
	set.String("controller-class", "", "spec.controller of the IngressClass objects of ingress-nginx; by default that of its Deployment, or k8s.io/ingress-nginx")
	set.Bool("ingress-class-by-name", false, "an IngressClass with a name of --ingress-class is one of ingress-nginx, whatever its spec.controller")
	set.Bool("watch-ingress-without-class", false, "ingress-nginx also serves Ingresses that name no class")
	set.String("watch-namespace", "", "the only namespace that ingress-nginx watches; by default that of its Deployment, or all")
	set.String("watch-namespace-selector", "", "labels of the namespaces that ingress-nginx watches, such as team=web; by default those of its Deployment")
	set.String("annotations-prefix", "", "prefix of the annotations; by default that of its Deployment, or nginx.ingress.kubernetes.io")
	set.String("default-backend-service", "", "Service for requests that no rule matches, as NAMESPACE/NAME; by default that of its Deployment")
	set.String("tcp-services-configmap", "", "ConfigMap with the TCP services, as NAMESPACE/NAME; by default that of its Deployment")
	set.String("udp-services-configmap", "", "ConfigMap with the UDP services, as NAMESPACE/NAME; by default that of its Deployment")
	return set
}

func migrateCommand(s *session) *cobra.Command {
	var program string
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "Report what changes for each Ingress of an ingress-nginx",
		Long:    migrateLong,
		Example: migrateExample,
		Args:    noMore,
	}
	passed := migrateFlags()
	cmd.Flags().AddFlagSet(passed)
	cmd.Flags().StringVar(&program, "sluice", "", "path or name of sluice (default $SLUICE, or sluice on the PATH)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.migrate(cmd, program, passed) }
	return cmd
}

// notOfSluice are the flags of kubectl that sluice migrate has not, as they say how
// kubectl itself works.
var notOfSluice = map[string]bool{"cache-dir": true, "match-server-version": true}

// migrate runs sluice migrate with its flags and with kubectl's for the cluster.
func (s *session) migrate(cmd *cobra.Command, sluice string, passed *pflag.FlagSet) error {
	path, err := exec.LookPath(cmp.Or(sluice, os.Getenv("SLUICE"), "sluice"))
	if err != nil {
		return fmt.Errorf("find sluice: %w (want it on the PATH, or its path in --sluice or $SLUICE)", err)
	}
	arguments := []string{"migrate", "--from-cluster"}
	for _, flag := range givenFlags(passed) {
		arguments = append(arguments, flag.argument)
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
