package cluster

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// updates is how many rolling updates happen in a row.
const updates = 5

// shopUnderUpdate is a Deployment of three pods behind a sluice of their own.
type shopUnderUpdate struct {
	cluster    *Cluster
	deployment *appsv1.Deployment
	sluice     *Sluice
}

// openShop serves a Deployment in a namespace of its own.
func openShop(t *testing.T, name string, d *appsv1.Deployment) *shopUnderUpdate {
	t.Helper()
	c := Shared(t)
	c.Apply(t, Namespace(name))
	c.lend(t, classOf(name))
	c.Apply(t, d, Service(name, "web"), ingressOf(name, name, "web", Rule(name+".example", "/", "web", 80)))
	c.AwaitEndpoints(t, name, "web", int(*d.Spec.Replicas))
	s := RunSluice(t, c.Kubeconfig(t, "admin", "system:masters"), alone(name)...)
	EventuallyStatus(t, s.Request("http://"+name+".example/"), http.StatusOK)
	return &shopUnderUpdate{cluster: c, deployment: d, sluice: s}
}

// update rolls the Deployment's pods, some times in a row, and waits until all
// former pods are gone.
func (u *shopUnderUpdate) update(t *testing.T, times int) {
	t.Helper()
	namespace, count := u.deployment.Namespace, int(*u.deployment.Spec.Replicas)
	began := time.Now()
	for i := range times {
		before := u.cluster.AwaitEndpoints(t, namespace, "web", count)
		u.deployment.Spec.Template.Annotations["revision"] = fmt.Sprint(i)
		u.cluster.Apply(t, u.deployment)
		u.cluster.AwaitDeployment(t, namespace, u.deployment.Name)
		for _, address := range u.cluster.AwaitEndpoints(t, namespace, "web", count) {
			if slices.Contains(before, address) {
				t.Errorf("update %d: the pod at %s is a former one", i+1, address)
			}
		}
	}
	u.cluster.awaitPodCount(t, namespace, count)
	t.Logf("%d rolling updates of %d pods took %.1f s", times, count, time.Since(began).Seconds())
}

// loads are three kinds of clients, some hundred requests a second together, who
// ask what the pods think about for a while.
func (u *shopUnderUpdate) loads(t *testing.T, thought time.Duration) (idempotent []*Load, posts *Load) {
	t.Helper()
	send := func(what, method string, kept bool) *Load {
		return Traffic{
			What: what, Method: method, URLs: []string{"http://" + u.deployment.Namespace + ".example/"},
			To: u.sluice.at(), Kept: kept, Clients: 3, Pause: 20 * time.Millisecond, Thought: thought,
		}.Begin(t)
	}
	idempotent = []*Load{
		send("GET, a connection a request", http.MethodGet, false), send("GET, kept connections", http.MethodGet, true),
	}
	return idempotent, send("POST, a connection a request, never sent twice", http.MethodPost, false)
}

// awaitPodCount waits until there are so many pods, those included that are
// stopping.
func (c *Cluster) awaitPodCount(t *testing.T, namespace string, count int) {
	t.Helper()
	Eventually(t, fmt.Sprintf("%d pods in %s", count, namespace), func(ctx context.Context) error {
		list, err := c.clients.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) != count {
			err = fmt.Errorf("there are %d", len(list.Items))
		}
		return err
	})
}

// TestRollingUpdatesLoseNothing: the pods have a preStop delay, as everybody is
// told to give theirs, for when a pod is deleted the kubelet stops it and the
// EndpointSlice says so at the same time, without waiting for each other.
// Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination-flow
func TestRollingUpdatesLoseNothing(t *testing.T) {
	t.Parallel()
	d := Deployment("rolled", "web", 3)
	d.Spec.Template.Annotations = map[string]string{StopDelayAnnotation: "3s", StartDelayAnnotation: "100ms"}
	u := openShop(t, "rolled", d)
	before := u.sluice.reloads(t)
	idempotent, posts := u.loads(t, 0)
	u.update(t, updates)
	for _, l := range append(idempotent, posts) {
		l.NoneFailed(t, 100)
	}
	if now := u.sluice.reloads(t); now != before {
		t.Errorf("%d reloads for changes of endpoints", now-before)
	} else {
		t.Logf("0 reloads")
	}
}

// TestPodsThatStopAtOnce: what is idempotent goes to another pod when one is
// gone before its EndpointSlice says so. What a POST gets then is printed: nginx
// sends it again only where the connection was refused, so that nothing is done
// twice.
func TestPodsThatStopAtOnce(t *testing.T) {
	t.Parallel()
	none := int64(0)
	for _, way := range []struct {
		name  string
		grace *int64
	}{
		{"listen no more and finish what they have begun", nil},
		{"are cut off in the middle of requests", &none},
	} {
		t.Run(way.name, func(t *testing.T) {
			name := fmt.Sprintf("stopped-%t", way.grace == nil)
			d := Deployment(name, "web", 3)
			d.Spec.Template.Annotations = map[string]string{StartDelayAnnotation: "100ms"}
			d.Spec.Template.Spec.TerminationGracePeriodSeconds = way.grace
			u := openShop(t, name, d)
			idempotent, posts := u.loads(t, 30*time.Millisecond)
			u.update(t, updates)
			for _, l := range idempotent {
				l.NoneFailed(t, 20)
			}
			posts.Tell(t)
		})
	}
}
