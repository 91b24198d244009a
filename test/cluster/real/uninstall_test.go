//go:build image

package real

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
)

// TestUninstall: as docs/install.md says it, no Ingress keeps an address. Helm alone would
// take away the rights before the last pod has used them.
func TestUninstall(t *testing.T) {
	t.Parallel()
	w := theWorld(t)
	r := w.install(t, "removed", "restricted")
	s := r.openShop(t)
	awaitAddresses := func(count int) {
		t.Helper()
		cluster.Eventually(t, fmt.Sprintf("%d addresses in the status", count), func(ctx context.Context) error {
			ingress, err := w.Admin().NetworkingV1().Ingresses(s.namespace()).Get(ctx, "web", metav1.GetOptions{})
			if err == nil && len(ingress.Status.LoadBalancer.Ingress) != count {
				err = fmt.Errorf("they are %v", ingress.Status.LoadBalancer.Ingress)
			}
			return err
		})
	}
	awaitAddresses(1)
	w.kubectl(t, "scale", "--namespace", r.name, "deployment", "--all", "--replicas=0")
	w.kubectl(t, "wait", "--namespace", r.name, "--for=delete", "pod", "--all", "--timeout=1m")
	w.helm(t, "uninstall", r.name, "--namespace", r.name, "--wait")
	awaitAddresses(0)
}
