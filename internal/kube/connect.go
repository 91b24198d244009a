package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
)

// Options configure a Client.
type Options struct {
	// Kubeconfig is the path of a kubeconfig file; empty for the service account
	// of the pod that this process runs in.
	Kubeconfig string
	// Server is the URL of the API server; empty for that of the kubeconfig.
	Server string
	// CertificateAuthority is a file with the authorities for the API server's
	// certificate; empty for those of the kubeconfig.
	CertificateAuthority string
	// QPS and Burst limit the requests per second, for all kinds together.
	QPS   float32
	Burst int
	// UserAgent names this program to the API server.
	UserAgent string
	// Dial connects to the API server; nil for TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// ErrNoCluster means that there is neither a kubeconfig nor a service account.
var ErrNoCluster = errors.New("no cluster: want a kubeconfig file, or to run in a pod with a service account")

// silence turns off client-go's log, because the callers log the errors of lists and
// watches themselves. There is one logger for the process.
var silence = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// Connect returns a client. It does not wait for the API server.
func Connect(o Options) (*Client, error) {
	silence()
	config, err := load(o)
	if err != nil {
		return nil, err
	}
	config.UserAgent, config.Dial = o.UserAgent, o.Dial
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(o.QPS, o.Burst)
	// Warnings of the API server are for the authors of objects.
	config.WarningHandler = rest.NoWarnings{}
	return newClient(config)
}

func load(o Options) (*rest.Config, error) {
	if o.Kubeconfig == "" && o.Server == "" {
		config, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, ErrNoCluster
		}
		if err != nil {
			return nil, fmt.Errorf("use the service account of the pod: %w", err)
		}
		return config, nil
	}
	if o.Kubeconfig != "" {
		if _, err := os.Stat(o.Kubeconfig); err != nil {
			return nil, fmt.Errorf("read the kubeconfig: %w", err)
		}
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}
	overrides := &clientcmd.ConfigOverrides{}
	overrides.ClusterInfo.Server, overrides.ClusterInfo.CertificateAuthority = o.Server, o.CertificateAuthority
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return config, nil
}
