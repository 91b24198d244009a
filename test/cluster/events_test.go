package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// eventsOf gives the events of an object, found as kubectl describe does.
func (c *Cluster) eventsOf(ctx context.Context, namespace string, object metav1.Object) ([]corev1.Event, error) {
	list, err := c.clients.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fmt.Sprintf("involvedObject.name=%s,involvedObject.uid=%s", object.GetName(), object.GetUID()),
	})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// awaitEvent waits for an event of an Ingress that is meant.
func (c *Cluster) awaitEvent(t testing.TB, namespace, ingress string, meant func(*corev1.Event) bool) *corev1.Event {
	t.Helper()
	var found *corev1.Event
	Eventually(t, "an event of the Ingress "+ingress, func(ctx context.Context) error {
		all, err := c.eventsOf(ctx, namespace, c.ingress(t, namespace, ingress))
		if err != nil {
			return err
		}
		for _, e := range all {
			if meant(&e) {
				found = &e
				return nil
			}
		}
		return fmt.Errorf("there are %v", all)
	})
	return found
}

// TestEventsOfAnIngress: a mistake is told where its owner looks; while it stands
// it is said once, its end is said too, and when it comes back it is counted.
func TestEventsOfAnIngress(t *testing.T) {
	const annotation = "nginx.ingress.kubernetes.io/proxy-read-timeout"
	c := Shared(t)
	c.Apply(t, IngressClass("nginx"))
	c.Apply(t, Web("told", "web", 1)...)
	c.lend(t, Ingress("told", "web", Rule("told.example", "/", "web", 80)))
	s := PrepareSluice(t, c.Kubeconfig(t, "told", "system:masters"), elects("told", "--publish-status-address", "192.0.2.1")...)
	s.Environment = []string{"POD_NAMESPACE=told", "POD_NAME=sluice-told"}
	s.Launch(t)
	s.AwaitReady(t)
	write := func(limit string) {
		ing := Ingress("told", "web", Rule("told.example", "/", "web", 80))
		ing.Annotations = map[string]string{annotation: limit}
		c.Apply(t, ing)
	}
	write("ten")
	e := c.awaitEvent(t, "told", "web", func(*corev1.Event) bool { return true })
	ing := c.ingress(t, "told", "web")
	if e.Type != corev1.EventTypeWarning || e.Reason != "InvalidValue" || e.Count != 1 || e.ReportingController != "sluice" || e.ReportingInstance != "sluice-told" {
		t.Errorf("the event is %v", e)
	}
	if o := e.InvolvedObject; o.APIVersion != "networking.k8s.io/v1" || o.Kind != "Ingress" || o.UID != ing.UID || o.ResourceVersion == "" {
		t.Errorf("it is about %v", o)
	}
	if !strings.HasPrefix(e.Message, annotation+": want ") || !strings.Contains(e.Message, `"ten"`) {
		t.Errorf("it says %s", e.Message)
	}

	// Another change of the Ingress is another sync, and no other event.
	withHost := Ingress("told", "web", Rule("other.told.example", "/", "web", 80))
	withHost.Annotations = map[string]string{annotation: "ten"}
	c.Apply(t, withHost)
	EventuallyStatus(t, s.Request("http://other.told.example/"), 200)
	write("5")
	EventuallyStatus(t, s.Request("http://told.example/"), 200)
	if all, err := c.eventsOf(t.Context(), "told", ing); err != nil || len(all) != 1 || all[0].Count != 1 {
		t.Errorf("the events are %v, %v", all, err)
	}
	end := c.awaitEvent(t, "told", "web", func(e *corev1.Event) bool { return e.Type == corev1.EventTypeNormal })
	if end.Reason != "Mended" || !strings.HasPrefix(end.Message, annotation+": mended; it was InvalidValue: want ") {
		t.Errorf("its end is told as %v", end)
	}
	write("ten")
	again := c.awaitEvent(t, "told", "web", func(e *corev1.Event) bool { return e.Type == corev1.EventTypeWarning && e.Count == 2 })
	if again.Name != e.Name || again.LastTimestamp.Before(&e.LastTimestamp) || !again.FirstTimestamp.Equal(&e.FirstTimestamp) {
		t.Errorf("it became %v", again)
	}
}

// TestEventsOfOthers: a mistake in an object of the whole cluster is told in the
// namespace default.
func TestEventsOfOthers(t *testing.T) {
	c := Shared(t)
	class := IngressClass("parametrized")
	class.Spec.Parameters = &networkingv1.IngressClassParametersReference{Kind: "Deployment", Name: "none"}
	c.lend(t, class)
	RunSluice(t, c.Kubeconfig(t, "others", "system:masters"), elects("others", "--publish-status-address", "192.0.2.1")...)
	object, err := c.clients.NetworkingV1().IngressClasses().Get(t.Context(), "parametrized", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	Eventually(t, "an event of the IngressClass", func(ctx context.Context) error {
		all, err := c.eventsOf(ctx, metav1.NamespaceDefault, object)
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("there is none")
		}
		return err
	})
}
