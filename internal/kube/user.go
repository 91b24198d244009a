package kube

import (
	"errors"
	"fmt"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ConnectAsUser returns the client that kubectl would use: with the kubeconfig file
// at path or, if path is empty, $KUBECONFIG, ~/.kube/config or the pod; and with the
// current context if context is empty.
func ConnectAsUser(path, context, userAgent string) (*Client, error) {
	return ConnectWith(path, &clientcmd.ConfigOverrides{CurrentContext: context}, userAgent)
}

// ConnectWith is ConnectAsUser with the flags of kubectl.
func ConnectWith(path string, overrides *clientcmd.ConfigOverrides, userAgent string) (*Client, error) {
	silence()
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no kubeconfig: want --kubeconfig, $KUBECONFIG or ~/.kube/config")
	}
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.UserAgent, config.QPS, config.WarningHandler = userAgent, -1, rest.NoWarnings{}
	return newClient(config)
}

// ForConfig returns a client for a given configuration, such as that of kubectl's
// flags. It does not wait for the API server.
func ForConfig(config *rest.Config) (*Client, error) {
	silence()
	return newClient(config)
}

// Unreached adds to a connection error that the API server was not reached, and its
// address. It returns other errors, and nil, unchanged.
func Unreached(host string, err error) error {
	var request *url.Error
	if !errors.As(err, &request) {
		return err
	}
	return fmt.Errorf("the cluster cannot be reached at %s: %w", host, request.Err)
}
