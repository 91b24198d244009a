//go:build image

package real

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
)

// loads are three kinds of clients of the load balancer, each at 80 requests a second.
func (s *shop) loads(t *testing.T) []*cluster.Load {
	t.Helper()
	address := s.address(t)
	send := func(what, scheme, port, proto string, kept bool) *cluster.Load {
		return cluster.Traffic{
			What: what, URLs: []string{scheme + "://" + s.host + "/hostname"}, To: address + ":" + port,
			Kept: kept, Proto: proto, Clients: 4, Every: 50 * time.Millisecond,
		}.Begin(t)
	}
	return []*cluster.Load{
		send("HTTP/1.1, a connection a request", "http", "80", "HTTP/1.1", false),
		send("HTTP/1.1, kept connections", "http", "80", "HTTP/1.1", true),
		send("HTTP/2", "https", "443", "HTTP/2.0", true),
	}
}

// under does something under load, and wants no request to fail meanwhile, and until
// all pods that are to end have ended.
func (s *shop) under(t *testing.T, what string, do func()) {
	t.Helper()
	loads := s.loads(t)
	time.Sleep(time.Second) // some requests before it begins
	began := time.Now()
	do()
	done := time.Since(began)
	s.awaitEnded(t)
	t.Logf("%s took %.1f s, and %.1f s until the former pods had ended", what, done.Seconds(), time.Since(began).Seconds())
	for _, l := range loads {
		l.NoneFailed(t, 200)
	}
}

// awaitEnded waits until no pod of the release and the shop is ending.
func (s *shop) awaitEnded(t *testing.T) {
	t.Helper()
	for _, namespace := range []string{s.name, s.namespace()} {
		cluster.Eventually(t, "the end of the pods of "+namespace, func(ctx context.Context) error {
			list, err := s.Admin().CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			for _, pod := range list.Items {
				if pod.DeletionTimestamp != nil {
					return fmt.Errorf("%s is ending", pod.Name)
				}
			}
			return nil
		})
	}
}

// TestNothingIsLost: rolling updates of backends and of Sluice, by helm upgrade and
// helm rollback, and the drain of a node, of which a PodDisruptionBudget knows.
func TestNothingIsLost(t *testing.T) {
	w := theWorld(t)
	r := w.install(t, "edge", "restricted", "controller.replicaCount=2")
	s := r.openShop(t)
	s.under(t, "a rolling update of three backends", func() {
		w.kubectl(t, "rollout", "restart", "--namespace", s.namespace(), "deployment/web")
		w.kubectl(t, "rollout", "status", "--namespace", s.namespace(), "deployment/web", "--timeout=5m")
	})
	s.under(t, "helm upgrade to another image", func() {
		w.helm(t, append([]string{"upgrade"}, r.values(t, secondTag, "controller.replicaCount=2")...)...)
		r.rollOut(t)
		r.runs(t, secondTag)
	})
	s.under(t, "helm rollback", func() {
		w.helm(t, "rollback", r.name, "--namespace", r.name)
		r.rollOut(t)
		r.runs(t, firstTag)
	})
	r.spread(t)
	s.under(t, "the drain of a node", func() { w.drain(t, w.nodes[0]) })
	s.under(t, "the eviction of both replicas", func() { r.evictBoth(t) })
	for _, pod := range append(r.pods(t.Context(), t), w.podsIn(t, s.namespace())...) {
		if pod.Spec.NodeName != w.nodes[1].name {
			t.Errorf("%s is on %s, which was drained", pod.Name, pod.Spec.NodeName)
		}
	}
}

// evictBoth evicts both replicas at the same time, of which the PodDisruptionBudget lets
// one go.
func (r *release) evictBoth(t *testing.T) {
	t.Helper()
	refused, replicas := 0, r.pods(t.Context(), t)
	if len(replicas) != 2 {
		t.Fatalf("there are %d replicas, want two", len(replicas))
	}
	for _, pod := range replicas {
		err := r.Admin().PolicyV1().Evictions(r.name).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: r.name, Name: pod.Name}})
		switch {
		case apierrors.IsTooManyRequests(err):
			refused++
		case err != nil:
			t.Error(err)
		}
	}
	if refused != 1 {
		t.Errorf("%d of two evictions were refused, want one", refused)
	}
	r.rollOut(t)
}

// runs: the pods have an image of this tag.
func (r *release) runs(t *testing.T, tag string) {
	t.Helper()
	for _, pod := range r.pods(t.Context(), t) {
		if want := registryHost + "/sluice:" + tag; pod.Spec.Containers[0].Image != want {
			t.Errorf("%s runs %s, want %s", pod.Name, pod.Spec.Containers[0].Image, want)
		}
	}
}

// spread: each node has a replica, and so a drain evicts one.
func (r *release) spread(t *testing.T) {
	t.Helper()
	on := map[string]int{}
	for _, pod := range r.pods(t.Context(), t) {
		on[pod.Spec.NodeName]++
	}
	for _, d := range r.nodes {
		if on[d.name] == 0 {
			t.Errorf("the replicas are on %v, want one on each node", on)
		}
	}
}

// drain drains a node until the end of the test.
func (w *world) drain(t *testing.T, d *node) {
	t.Helper()
	t.Cleanup(func() { w.kubectl(t, "uncordon", d.name) })
	output := w.kubectl(t, "drain", d.name, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=120s")
	t.Log(output)
}

func (w *world) podsIn(t *testing.T, namespace string) []corev1.Pod {
	t.Helper()
	list, err := w.Admin().CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}
