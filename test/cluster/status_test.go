package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// statusLine gives a status as one line, such as "192.0.2.1:80,443", with the
// errors of ports behind them.
func statusLine(ing *networkingv1.Ingress) string {
	var points []string
	for _, p := range ing.Status.LoadBalancer.Ingress {
		var ports []string
		for _, port := range p.Ports {
			text := fmt.Sprint(port.Port)
			if port.Error != nil {
				text += "!" + *port.Error
			}
			ports = append(ports, text)
		}
		points = append(points, p.IP+p.Hostname+":"+strings.Join(ports, ","))
	}
	return strings.Join(points, " ")
}

func (c *Cluster) ingress(t testing.TB, namespace, name string) *networkingv1.Ingress {
	t.Helper()
	ing, err := c.clients.NetworkingV1().Ingresses(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ing
}

func (c *Cluster) awaitStatusLine(t testing.TB, namespace, name, want string) {
	t.Helper()
	Eventually(t, fmt.Sprintf("the status %q of the Ingress %s/%s", want, namespace, name), func(ctx context.Context) error {
		ing, err := c.clients.NetworkingV1().Ingresses(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && statusLine(ing) != want {
			err = fmt.Errorf("it is %q", statusLine(ing))
		}
		return err
	})
}

// overwriteStatus writes a status as another controller would.
func (c *Cluster) overwriteStatus(t testing.TB, namespace, name, ip string) {
	t.Helper()
	patch := fmt.Sprintf(`{"status":{"loadBalancer":{"ingress":[{"ip":%q}]}}}`, ip)
	_, err := c.clients.NetworkingV1().Ingresses(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "rival"}, "status")
	if err != nil {
		t.Fatal(err)
	}
}

// owners gives who owns the status of an Ingress, such as "sluice Apply".
func owners(ing *networkingv1.Ingress) []string {
	var all []string
	for _, m := range ing.ManagedFields {
		if m.Subresource == "status" && strings.Contains(string(m.FieldsV1.Raw), "f:ingress") {
			all = append(all, m.Manager+" "+string(m.Operation))
		}
	}
	slices.Sort(all)
	return all
}

// lend applies objects until the end of the test.
func (c *Cluster) lend(t testing.TB, objects ...runtime.Object) {
	t.Helper()
	c.Apply(t, objects...)
	t.Cleanup(func() { c.Delete(t, objects...) })
}

// elects gives the flags of a sluice that competes with no other test's, and has
// its status told.
func elects(id string, more ...string) []string {
	return append([]string{"--election-id", id, "--election-ttl", leaseTTL.String()}, more...)
}

func overTLS(ing *networkingv1.Ingress, hosts ...string) *networkingv1.Ingress {
	ing.Spec.TLS = []networkingv1.IngressTLS{{Hosts: hosts}}
	return ing
}

// TestStatusIsAppliedAndLeftToARival: the status is sluice's own, until another
// writer wants it more.
func TestStatusIsAppliedAndLeftToARival(t *testing.T) {
	c := Shared(t)
	c.Apply(t, IngressClass("nginx"))
	c.Apply(t, Web("applied", "web", 1)...)
	c.lend(t, Ingress("applied", "plain", Rule("plain.applied.example", "/", "web", 80)),
		overTLS(Ingress("applied", "safe", Rule("safe.applied.example", "/", "web", 80)), "safe.applied.example"))
	RunSluice(t, c.Kubeconfig(t, "applied", "system:masters"), elects("applied", "--publish-status-address", "lb.example,192.0.2.1,2001:db8::1")...)
	const plain = "192.0.2.1:80 2001:db8::1:80 lb.example:80"
	c.awaitStatusLine(t, "applied", "plain", plain)
	c.awaitStatusLine(t, "applied", "safe", "192.0.2.1:80,443 2001:db8::1:80,443 lb.example:80,443")
	if got := owners(c.ingress(t, "applied", "plain")); !slices.Equal(got, []string{"sluice Apply"}) {
		t.Errorf("the status belongs to %q", got)
	}

	c.overwriteStatus(t, "applied", "plain", "203.0.113.9")
	c.awaitStatusLine(t, "applied", "plain", plain)
	if got := owners(c.ingress(t, "applied", "plain")); !slices.Equal(got, []string{"sluice Apply"}) {
		t.Errorf("the status belongs to %q after it was taken back", got)
	}
	c.overwriteStatus(t, "applied", "plain", "203.0.113.9")
	event := c.awaitEvent(t, "applied", "plain", func(e *corev1.Event) bool { return e.Reason == "Conflict" })
	if !strings.Contains(event.Message, `field manager "rival"`) {
		t.Errorf("the event says %s", event.Message)
	}
	version := c.ingress(t, "applied", "plain").ResourceVersion
	c.awaitStatusLine(t, "applied", "safe", "192.0.2.1:80,443 2001:db8::1:80,443 lb.example:80,443")
	if ing := c.ingress(t, "applied", "plain"); statusLine(ing) != "203.0.113.9:" || ing.ResourceVersion != version {
		t.Errorf("the status is %q, and was written", statusLine(ing))
	}
}

// ofIngressNginx are the rules of ingress-nginx's chart, from version 4.15: a
// sluice that takes its place has no others.
func ofIngressNginx(namespace, election string) []Grant {
	read := []string{"list", "watch"}
	lease := Allow("coordination.k8s.io", []string{"leases"}, "get", "update")
	lease.ResourceNames = []string{election}
	return []Grant{
		Everywhere(
			Allow("", []string{"configmaps", "endpoints", "nodes", "pods", "secrets", "namespaces"}, read...),
			Allow("coordination.k8s.io", []string{"leases"}, read...),
			Allow("", []string{"nodes"}, "get"),
			Allow("", []string{"services"}, "get", "list", "watch"),
			Allow("networking.k8s.io", []string{"ingresses", "ingressclasses"}, "get", "list", "watch"),
			Allow("", []string{"events"}, "create", "patch"),
			Allow("networking.k8s.io", []string{"ingresses/status"}, "update"),
			Allow("discovery.k8s.io", []string{"endpointslices"}, "list", "watch", "get"),
		),
		Within(namespace,
			Allow("", []string{"namespaces"}, "get"),
			Allow("", []string{"configmaps", "pods", "secrets", "endpoints"}, "get", "list", "watch"),
			lease,
			Allow("coordination.k8s.io", []string{"leases"}, "create"),
			Allow("", []string{"events"}, "create", "patch"),
		),
	}
}

// TestStatusWithTheRightsOfIngressNginx: where no patch is granted the status is
// updated, and nothing else of the Ingress is.
func TestStatusWithTheRightsOfIngressNginx(t *testing.T) {
	c := Shared(t)
	c.Apply(t, IngressClass("nginx"))
	c.Apply(t, Web("updated", "web", 1)...)
	ing := Ingress("updated", "web", Rule("updated.example", "/", "web", 80))
	ing.Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-read-timeout": "ten", corev1.LastAppliedConfigAnnotation: "{}"}
	ing.Labels = map[string]string{"team": "shop"}
	c.lend(t, ing)
	s := PrepareSluice(t, c.Account(t, "updated", "controller", ofIngressNginx("updated", "updated")...), elects("updated", "--publish-status-address", "192.0.2.1")...)
	s.Environment = []string{"POD_NAMESPACE=updated", "POD_NAME=sluice-updated"}
	s.Launch(t)
	s.AwaitReady(t)
	c.awaitStatusLine(t, "updated", "web", "192.0.2.1:80")
	now := c.ingress(t, "updated", "web")
	if got := owners(now); !slices.Equal(got, []string{"sluice Update"}) {
		t.Errorf("the status belongs to %q", got)
	}
	if now.Labels["team"] != "shop" || len(now.Annotations) != 2 || len(now.Spec.Rules) != 1 {
		t.Errorf("more than the status was updated: %v", now)
	}
	c.awaitEvent(t, "updated", "web", func(e *corev1.Event) bool { return e.Reason == "InvalidValue" })
}

// replicaPod is a pod that a sluice of the tests says it is.
func replicaPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "sluice", "pod-template-hash": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "echo", Image: "echo"}}},
	}
}

// TestStatusOutlivesTheLeader: the status is the nodes' addresses. When the
// leader ends another goes on, and the status does not flap; with the last
// replica it goes.
func TestStatusOutlivesTheLeader(t *testing.T) {
	c := Shared(t)
	c.Apply(t, IngressClass("nginx"))
	c.Apply(t, Web("outlived", "web", 1)...)
	c.lend(t, Ingress("outlived", "web", Rule("outlived.example", "/", "web", 80)))
	kubeconfig := c.Kubeconfig(t, "outlived", "system:masters")
	var replicas []*Sluice
	for _, name := range []string{"a", "b"} {
		c.Apply(t, replicaPod("outlived", name))
		c.awaitPod(t, "outlived", name)
		s := PrepareSluice(t, kubeconfig, elects("outlived", "--status-update-interval", "5")...)
		s.Environment = []string{"POD_NAMESPACE=outlived", "POD_NAME=" + name}
		s.Launch(t)
		s.AwaitReady(t)
		replicas = append(replicas, s)
		c.awaitHolder(t, "outlived", "outlived", "a")
	}
	c.awaitNodesAsStatus(t, "outlived", "web")
	status := statusLine(c.ingress(t, "outlived", "web"))

	seen := c.watchStatus(t, "outlived", "web")
	replicas[0].Terminate()
	c.awaitHolder(t, "outlived", "outlived", "b")
	c.lend(t, Ingress("outlived", "after", Rule("after.outlived.example", "/", "web", 80)))
	c.awaitStatusLine(t, "outlived", "after", status) // so b writes
	if flaps := seen(); len(flaps) > 0 {
		t.Errorf("the status was %q between", flaps)
	}

	c.Delete(t, replicaPod("outlived", "a"))
	replicas[1].Terminate()
	c.Delete(t, replicaPod("outlived", "b"))
	c.awaitStatusLine(t, "outlived", "web", "")
	c.awaitStatusLine(t, "outlived", "after", "")
	c.awaitHolder(t, "outlived", "outlived", "")
}

// awaitNodesAsStatus waits until the status names each node that a replica is on.
func (c *Cluster) awaitNodesAsStatus(t testing.TB, namespace, ingress string) {
	t.Helper()
	Eventually(t, "the addresses of nodes as status", func(ctx context.Context) error {
		pods, err := c.clients.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=sluice"})
		if err != nil {
			return err
		}
		var want []string
		for _, pod := range pods.Items {
			node, err := c.clients.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
			if err != nil {
				return err
			}
			want = append(want, node.Status.Addresses[0].Address+":80")
		}
		slices.Sort(want)
		if got, want := statusLine(c.ingress(t, namespace, ingress)), strings.Join(slices.Compact(want), " "); got != want {
			return fmt.Errorf("it is %q, want %q", got, want)
		}
		return nil
	})
}

func (c *Cluster) awaitPod(t testing.TB, namespace, name string) {
	t.Helper()
	Eventually(t, "the pod "+name, func(ctx context.Context) error {
		pod, err := c.clients.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && !isReady(pod) {
			err = fmt.Errorf("it is not ready")
		}
		return err
	})
}

func (c *Cluster) awaitHolder(t testing.TB, namespace, lease, want string) {
	t.Helper()
	Eventually(t, fmt.Sprintf("the Lease %s/%s of %q", namespace, lease, want), func(ctx context.Context) error {
		l, err := c.clients.CoordinationV1().Leases(namespace).Get(ctx, lease, metav1.GetOptions{})
		if err == nil && (l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity != want) {
			err = fmt.Errorf("it says %v", l.Spec)
		}
		return err
	})
}

// watchStatus watches an Ingress. Asked once, it gives the statuses that there
// were since, other than the one at the beginning.
func (c *Cluster) watchStatus(t testing.TB, namespace, name string) func() []string {
	t.Helper()
	now := c.ingress(t, namespace, name)
	watcher, err := c.clients.NetworkingV1().Ingresses(namespace).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: now.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	return func() (others []string) {
		// What is written now comes after all that has been.
		mark := c.ingress(t, namespace, name)
		mark.Labels = map[string]string{"mark": fmt.Sprint(time.Now().UnixNano())}
		if _, err := c.clients.NetworkingV1().Ingresses(namespace).Update(t.Context(), mark, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		defer watcher.Stop()
		for event := range watcher.ResultChan() {
			ing, ok := event.Object.(*networkingv1.Ingress)
			if !ok {
				t.Fatalf("the watch gives %v", event.Object)
			}
			if line := statusLine(ing); line != statusLine(now) {
				others = append(others, line)
			}
			if ing.Labels["mark"] == mark.Labels["mark"] {
				return others
			}
		}
		t.Fatal("the watch ended")
		return nil
	}
}

// TestStatusSaysWhatIsDenied: the ports of an Ingress whose protection is wrong
// have an error, until it is mended.
func TestStatusSaysWhatIsDenied(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	c.Apply(t, IngressClass("nginx"))
	c.Apply(t, Web("denied", "web", 1)...)
	ing := Ingress("denied", "web", Rule("denied.example", "/", "web", 80))
	ing.Annotations = map[string]string{"nginx.ingress.kubernetes.io/whitelist-source-range": "not an address"}
	c.lend(t, ing)
	RunSluice(t, c.Kubeconfig(t, "denied", "system:masters"), elects("denied", "--watch-namespace", "denied", "--publish-status-address", "192.0.2.1")...)
	c.awaitStatusLine(t, "denied", "web", "192.0.2.1:80!sluice.io/Denied")
	ing.Annotations = map[string]string{"nginx.ingress.kubernetes.io/whitelist-source-range": "127.0.0.0/8"}
	c.Apply(t, ing)
	c.awaitStatusLine(t, "denied", "web", "192.0.2.1:80")
}
