package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"sluice/internal/kube"
)

// session holds kubectl's flags and the streams of one call of the plugin.
type session struct {
	config *genericclioptions.ConfigFlags
	// flags are the flags of config.
	flags   *pflag.FlagSet
	streams genericiooptions.IOStreams
	// kubectl is the program's path or name; empty for $KUBECTL, or else "kubectl".
	kubectl string
}

func newSession(streams genericiooptions.IOStreams) *session {
	s := &session{config: genericclioptions.NewConfigFlags(true), flags: pflag.NewFlagSet("kubectl", pflag.ContinueOnError), streams: streams}
	s.config.AddFlags(s.flags)
	return s
}

// addFlags adds the flags of every command.
func (s *session) addFlags(flags *pflag.FlagSet) {
	flags.AddFlagSet(s.flags)
	flags.StringVar(&s.kubectl, "kubectl", "", "path or name of kubectl, which runs programs in the pod (default $KUBECTL, or kubectl on the PATH)")
}

// cluster is the API server that the flags select.
type cluster struct {
	*kube.Client
	session *session
	// namespace is --namespace, else that of the context.
	namespace string
	// guessed is set if neither a kubeconfig nor --server names the API server.
	guessed bool
}

// connect returns the client. It does not wait for the API server.
func (s *session) connect() (*cluster, error) {
	config, err := s.config.ToRESTConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no kubeconfig: want --kubeconfig, $KUBECONFIG or ~/.kube/config (--context says which cluster of it is meant)")
	}
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w (--kubeconfig and --context say which is meant)", err)
	}
	loader := s.config.ToRawKubeConfigLoader()
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("find the namespace: %w (--namespace names one)", err)
	}
	config.QPS = -1 // a few requests of one person
	config.WarningHandler = rest.NoWarnings{}
	client, err := kube.ForConfig(config)
	if err != nil {
		return nil, err
	}
	guessed := *s.config.APIServer == "" && !slices.ContainsFunc(loader.ConfigAccess().GetLoadingPrecedence(), isThere)
	return &cluster{Client: client, session: s, namespace: namespace, guessed: guessed}, nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// patience is the timeout of a command; --request-timeout can be shorter.
const patience = time.Minute

// bounded returns the context of a command with that timeout.
func bounded(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return context.WithTimeout(cmd.Context(), patience)
}

// note prints a remark to standard error.
func (s *session) note(format string, arguments ...any) {
	fmt.Fprintln(s.streams.ErrOut, printableLines(fmt.Sprintf(format, arguments...)))
}
