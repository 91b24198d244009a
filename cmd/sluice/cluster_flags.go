package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/pflag"

	"sluice/internal/cluster"
	"sluice/internal/kube"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// clusterFlags are the flags for watching a cluster.
type clusterFlags struct {
	watchFlags
	kubeconfig           string
	apiserverHost        string
	certificateAuthority string
	secrets              string
	qps                  float32
	burst                int
	topology             bool
}

func (f *clusterFlags) add(flags *pflag.FlagSet) {
	f.watchFlags.add(flags)
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster; if empty, the service account of the pod")
	flags.StringVar(&f.apiserverHost, "apiserver-host", "", "URL of the API server; if empty, that of the kubeconfig or the pod")
	flags.StringVar(&f.certificateAuthority, "certificate-authority", "", "file with the authorities of the API server's certificate; if empty, those of the kubeconfig")
	flags.StringVar(&f.secrets, "watch-secrets", string(cluster.SecretsByMetadata), "metadata (watch the metadata of all Secrets and read the referenced ones), "+
		"referenced (read each referenced Secret by name, and again every ten seconds or more, which needs only the permission get) or all (watch all with their content)")
	flags.BoolVar(&f.topology, "enable-topology-aware-routing", false, "prefer the endpoints that Kubernetes intends for the zone of this node, for Services with the annotation service.kubernetes.io/topology-mode: Auto or the trafficDistribution PreferClose or PreferSameZone")
	flags.Float32Var(&f.qps, "kube-api-qps", 200, "the most requests per second to the API server, on average; --watch-secrets=referenced reads ten Secrets at a time instead")
	flags.IntVar(&f.burst, "kube-api-burst", 400, "the most requests to the API server at once")
}

// validate returns an error with the flag, its value and a valid one.
func (f *clusterFlags) validate() error {
	if !slices.Contains(cluster.SecretModes, cluster.SecretMode(f.secrets)) {
		return fmt.Errorf("--watch-secrets: want metadata, referenced or all (got %q)", f.secrets)
	}
	if _, err := f.watch(); err != nil {
		return err
	}
	if !(f.qps > 0) || math.IsInf(float64(f.qps), 0) {
		return fmt.Errorf("--kube-api-qps: want more than 0 requests a second (got %v)", f.qps)
	}
	if f.burst < 1 {
		return fmt.Errorf("--kube-api-burst: want 1 request or more (got %d)", f.burst)
	}
	return nil
}

// client prepares the client of the API server.
func (f *clusterFlags) client() (*kube.Client, error) {
	client, err := kube.Connect(kube.Options{
		Kubeconfig: f.kubeconfig, Server: f.apiserverHost, CertificateAuthority: f.certificateAuthority,
		QPS: f.qps, Burst: f.burst, UserAgent: "sluice/" + version,
	})
	if errors.Is(err, kube.ErrNoCluster) {
		return nil, errors.New("want --kubeconfig with the kubeconfig of a cluster, or --manifests with a folder (got neither, and this is no pod with a service account)")
	}
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	return client, nil
}

// source prepares the source that watches the cluster.
func (f *clusterFlags) source(client *kube.Client, o translate.Options, published snapshot.Name) *cluster.Source {
	return cluster.New(cluster.Options{
		Client: client, Namespace: f.namespace, NamespaceSelector: f.namespaceSelector,
		Secrets: cluster.SecretMode(f.secrets), Translate: o,
		Services: []snapshot.Name{published}, Replicas: published,
	})
}
