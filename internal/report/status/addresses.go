package status

import (
	"context"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// Address is where an Ingress is reached: an IP address, a hostname, or both of
// one load balancer.
type Address struct{ IP, Hostname string }

// Source gives the addresses of this deployment.
type Source struct {
	read func(context.Context) ([]Address, error)
	// own says that nothing but this deployment is reached by them, so that they
	// lead nowhere when it ends.
	own bool
}

// OfList is a list of IP addresses and hostnames, from --publish-status-address.
func OfList(list []string) (Source, error) {
	return Source{}, nil
}

// OfService is what a Service is reached by, from --publish-service.
func OfService(client *kube.Client, name snapshot.Name) Source {
	return Source{}
}

// OfNodes are the addresses of the nodes that ready replicas run on: their
// external ones, or internal if a node has no other or internal is set (by
// --report-node-internal-ip-address).
func OfNodes(replicas *Replicas, preferred NodeAddress) Source {
	return Source{}
}

// NodeAddress says which addresses of a node are preferred.
type NodeAddress bool

// What OfNodes takes.
const (
	ExternalIP NodeAddress = false
	InternalIP NodeAddress = true
)

// Replicas are the pods with the labels of ours, without those labels that tell
// one rollout from another.
type Replicas struct {
	client *kube.Client
	pod    snapshot.Name
}

// NewReplicas tells the replicas of this pod.
func NewReplicas(client *kube.Client, pod snapshot.Name) *Replicas {
	return &Replicas{client: client, pod: pod}
}
