//go:build image

package real

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sluice/test/cluster"
)

// balance gives each Service of type LoadBalancer an address, as a cloud does or
// MetalLB: both nodes are ways to it, and kube-proxy knows it.
func (w *world) balance(t *testing.T) {
	t.Helper()
	ways := "route add 10.255.1.0/24"
	for _, d := range w.nodes {
		ways += " nexthop via " + d.address
	}
	if err := cluster.IP(ways + "\n"); err != nil {
		t.Fatal(err)
	}
	go func() {
		for given := map[types.UID]bool{}; ; time.Sleep(100 * time.Millisecond) {
			list, err := w.Admin().CoreV1().Services("").List(context.Background(), metav1.ListOptions{})
			if err != nil {
				continue // the tests end, or the API server is busy
			}
			for _, service := range list.Items {
				if service.Spec.Type == corev1.ServiceTypeLoadBalancer && !given[service.UID] && w.give(service, len(given)+1) == nil {
					given[service.UID] = true
				}
			}
		}
	}()
}

// give gives a Service the n-th address of load balancers.
func (w *world) give(service corev1.Service, n int) error {
	patch, err := json.Marshal(map[string]any{"status": corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{
		Ingress: []corev1.LoadBalancerIngress{{IP: fmt.Sprintf("10.255.1.%d", n)}},
	}}})
	if err != nil {
		return err
	}
	_, err = w.Admin().CoreV1().Services(service.Namespace).Patch(context.Background(), service.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
