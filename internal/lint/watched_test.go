package lint

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"sluice/internal/snapshot"
)

// Namespaces whose labels are not known are one finding, however many they are.
func TestUnlabelledNamespacesAreOneFinding(t *testing.T) {
	t.Parallel()
	selector := labels.SelectorFromSet(labels.Set{"team": "web"})
	const two = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: b}, spec: {defaultBackend: {service: {name: a, port: {number: 1}}}}}\n---\n" +
		"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: a}, spec: {defaultBackend: {service: {name: a, port: {number: 1}}}}}\n"
	objects := read(two).Objects
	found := FindUnlabelled(objects, snapshot.Watch{Selector: selector})
	const want = "Namespace a: metadata.labels: it and 1 more with Ingresses are not among the manifests, so that it is not known whether --watch-namespace-selector (team=web) selects them: Ingresses there are taken as served"
	if len(found) != 1 || found[0].String() != want || SeverityOf(found[0]) != Warning {
		t.Errorf("got %v", found)
	}
	if found := FindUnlabelled(objects, snapshot.Watch{}); len(found) > 0 {
		t.Errorf("without a selector: got %v", found)
	}
	if left := objects.Watched(snapshot.Watch{Selector: selector}).Ingresses; len(left) != 2 {
		t.Errorf("%d Ingresses are watched", len(left))
	}
}
