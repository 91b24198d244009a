package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/kit"
)

// pollEvery is how often is looked whether something has happened, at first: see kit.Pause.
const pollEvery = 20 * time.Millisecond

// Eventually polls until a check gives no error. If that does not come within
// kit.Patience, the test fails with the last error.
func Eventually(t testing.TB, what string, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	if err := poll(ctx, check); err != nil {
		t.Fatalf("waited %s in vain for %s: %v", kit.Patience, what, err)
	}
}

// poll calls check until it gives no error or the context is done, and then
// gives the last error that was not only for want of time.
func poll(ctx context.Context, check func(ctx context.Context) error) error {
	var last error
	for began := time.Now(); ; {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(kit.Pause(began, pollEvery)):
		}
	}
}

// AwaitDeployment waits until all pods of a Deployment are of its newest form,
// and ready, and none of an older form is left.
func (c *Cluster) AwaitDeployment(t testing.TB, namespace, name string) {
	t.Helper()
	Eventually(t, fmt.Sprintf("the Deployment %s/%s", namespace, name), func(ctx context.Context) error {
		d, err := c.clients.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		s, want := d.Status, *d.Spec.Replicas
		if s.ObservedGeneration < d.Generation || s.Replicas != want || s.UpdatedReplicas != want || s.ReadyReplicas != want {
			return fmt.Errorf("of %d pods %d are there, %d of the newest form, %d ready", want, s.Replicas, s.UpdatedReplicas, s.ReadyReplicas)
		}
		return nil
	})
}

// AwaitEndpoints waits until the EndpointSlices of a Service have so many ready
// addresses, and gives them, sorted.
func (c *Cluster) AwaitEndpoints(t testing.TB, namespace, service string, count int) []string {
	t.Helper()
	var addresses []string
	Eventually(t, fmt.Sprintf("%d ready endpoints of the Service %s/%s", count, namespace, service), func(ctx context.Context) error {
		var err error
		if addresses, err = c.Endpoints(ctx, namespace, service); err == nil && len(addresses) != count {
			err = fmt.Errorf("there are %q", addresses)
		}
		return err
	})
	return addresses
}

// Endpoints are the ready addresses in the EndpointSlices of a Service, sorted.
func (c *Cluster) Endpoints(ctx context.Context, namespace, service string) ([]string, error) {
	slices, err := c.clients.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service})
	if err != nil {
		return nil, err
	}
	return readyAddresses(slices.Items), nil
}

func readyAddresses(all []discoveryv1.EndpointSlice) []string {
	var addresses []string
	for _, slice := range all {
		for _, endpoint := range slice.Endpoints {
			if ready := endpoint.Conditions.Ready; ready == nil || *ready {
				addresses = append(addresses, endpoint.Addresses...)
			}
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// Pods are the pods of a Deployment that builders of this package made, without
// those that are being deleted, sorted by name.
func (c *Cluster) Pods(t testing.TB, namespace, app string) []corev1.Pod {
	t.Helper()
	list, err := c.clients.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}
