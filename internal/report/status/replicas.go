package status

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// ofRollout are the labels that differ between rollouts of one deployment.
var ofRollout = []string{"pod-template-hash", "controller-revision-hash", "pod-template-generation"}

// Replicas are the pods with the same labels as this one, of any rollout.
type Replicas struct {
	client *kube.Client
	pod    snapshot.Name
}

// NewReplicas returns the replicas of this pod, including itself.
func NewReplicas(client *kube.Client, pod snapshot.Name) *Replicas {
	return &Replicas{client: client, pod: pod}
}

// ready returns the replicas that receive requests.
func (r *Replicas) ready(ctx context.Context) ([]corev1.Pod, error) {
	var own corev1.Pod
	if err := r.client.Get(ctx, kube.Pods, r.pod, &own); err != nil {
		return nil, fmt.Errorf("read the own Pod %s: %w", r.pod, err)
	}
	list := corev1.PodList{Items: []corev1.Pod{own}}
	alike := maps.Clone(own.Labels)
	for _, label := range ofRollout {
		delete(alike, label)
	}
	if len(alike) > 0 { // an empty selector would select every Pod of the namespace
		options := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(alike).String()}
		if err := r.client.List(ctx, kube.Pods, r.pod.Namespace, options, &list); err != nil {
			return nil, fmt.Errorf("list the Pods with the labels of Pod %s: %w", r.pod, err)
		}
	}
	var ready []corev1.Pod
	for _, pod := range list.Items {
		if isReady(&pod) {
			ready = append(ready, pod)
		}
	}
	return ready, nil
}

func isReady(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// others returns the number of other ready replicas.
func (r *Replicas) others(ctx context.Context) (int, error) {
	ready, err := r.ready(ctx)
	n := 0
	for _, pod := range ready {
		if pod.Name != r.pod.Name {
			n++
		}
	}
	return n, err
}

// nodeAddresses returns the addresses of the nodes that ready replicas run on.
func (r *Replicas) nodeAddresses(ctx context.Context, preferred corev1.NodeAddressType) ([]Address, error) {
	ready, err := r.ready(ctx)
	if err != nil {
		return nil, err
	}
	var all []Address
	seen := map[string]bool{}
	for _, pod := range ready {
		if seen[pod.Spec.NodeName] {
			continue
		}
		seen[pod.Spec.NodeName] = true
		var node corev1.Node
		err := r.client.Get(ctx, kube.Nodes, snapshot.Name{Name: pod.Spec.NodeName}, &node)
		switch {
		case apierrors.IsForbidden(err):
			// A Role of one namespace cannot grant reading nodes; a Pod knows the
			// internal addresses of its node.
			for _, ip := range pod.Status.HostIPs {
				all = append(all, parseAll([]string{ip.IP})...)
			}
		case apierrors.IsNotFound(err):
			// The node was just deleted, and the Pod will be too.
		case err != nil:
			return nil, fmt.Errorf("read the addresses of Node %s: %w", pod.Spec.NodeName, err)
		default:
			all = append(all, ofNode(&node, preferred)...)
		}
	}
	return all, nil
}
