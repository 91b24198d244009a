//go:build image

package certmanager

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sluice/test/cluster"
)

// conditionOf is the status of a condition, "" if there is none.
func conditionOf(o *unstructured.Unstructured, kind string) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, one := range conditions {
		if condition := one.(map[string]any); condition["type"] == kind {
			return condition["status"].(string)
		}
	}
	return ""
}

// renew has cert-manager issue a certificate anew, as `cmctl renew` does, and waits for it.
func (w *world) renew(t *testing.T, namespace, name string) {
	t.Helper()
	place := w.objects.Resource(certificates).Namespace(namespace)
	var before int64
	cluster.Eventually(t, "the renewal of "+name, func(ctx context.Context) error { // others write the status too
		found, err := place.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		before, _, _ = unstructured.NestedInt64(found.Object, "status", "revision")
		conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
		conditions = append(conditions, map[string]any{
			"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "Certificate re-issuance manually triggered",
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339), "observedGeneration": found.GetGeneration(),
		})
		if err := unstructured.SetNestedSlice(found.Object, conditions, "status", "conditions"); err != nil {
			return err
		}
		_, err = place.UpdateStatus(ctx, found, metav1.UpdateOptions{})
		return err
	})
	cluster.Eventually(t, "the next certificate "+name, func(ctx context.Context) error {
		found, err := place.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now, _, _ := unstructured.NestedInt64(found.Object, "status", "revision")
		if now <= before || conditionOf(found, "Issuing") == "True" {
			return fmt.Errorf("its revision is %d, as before", now)
		}
		return nil
	})
}
