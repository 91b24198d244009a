//go:build image

package real

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sluice/test/cluster"
	"sluice/test/kit"
)

// TestKubeletRestarts: while a node's kubelet is away, and when it is back, nothing is
// lost, no container is started again, and in Sluice's neither Sluice nor nginx. The kubelet that is
// back asks for new tokens for its pods, as one does for those that grow old; Sluice uses the new one.
func TestKubeletRestarts(t *testing.T) {
	w := theWorld(t)
	r := w.install(t, "kubelet", "restricted")
	s := r.openShop(t)
	d, pod := r.nodeOf(t), r.pod(t)
	user := cluster.ServiceAccount(r.name, r.name+"-sluice")
	former := r.token(t, pod)
	if !w.used(t, user, former) {
		t.Errorf("the API server does not know that %s uses the token %s", user, former)
	}
	containers, masters := s.containers(t), mastersOf(t, pod)
	if len(containers) != 5 || len(masters) != 2 {
		t.Errorf("want the containers of Sluice, three backends and CoreDNS, and Sluice and nginx in the first; got %v and %v", containers, masters)
	}
	s.under(t, "a restart of a kubelet", func() {
		d.kubelet.Stop(syscall.SIGTERM, kit.Patience)
		time.Sleep(5 * time.Second) // it is away
		d.startKubelet(t)
		w.awaitNode(t, d, corev1.ConditionTrue)
		kit.Await(t, "another token in the pod's volume", func() bool { return r.token(t, pod) != former })
	})
	began := time.Now()
	kit.Await(t, "a request with the new token", func() bool { return w.used(t, user, r.token(t, pod)) })
	t.Logf("the new token was used %.1f s after it had come", time.Since(began).Seconds())
	if now := s.containers(t); !maps.Equal(now, containers) {
		t.Errorf("the containers are %v, and were %v", now, containers)
	}
	if now := mastersOf(t, pod); !slices.Equal(now, masters) {
		t.Errorf("in the container of Sluice run %v, and ran %v", now, masters)
	}
	cluster.EventuallyStatus(t, s.request("/hostname"), 200)
}

// containers are those of the release, the shop and the cluster itself, each with its id and how
// often it was started again.
func (s *shop) containers(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, namespace := range []string{s.name, s.namespace(), "kube-system"} {
		for _, pod := range s.podsIn(t, namespace) {
			for _, c := range pod.Status.ContainerStatuses {
				found[namespace+"/"+pod.Name+"/"+c.Name] = fmt.Sprintf("%s, started again %d times", c.ContainerID, c.RestartCount)
			}
		}
	}
	return found
}

// mastersOf are the processes in Sluice's container that a reload does not replace: Sluice and the
// master of nginx.
func mastersOf(t *testing.T, pod corev1.Pod) []process {
	t.Helper()
	return slices.DeleteFunc(processes(t, pod), func(p process) bool {
		return strings.HasPrefix(p.name, "nginx: ") && !strings.HasPrefix(p.name, "nginx: master")
	})
}

// token is the id of the token in the pod's volume. It needs no kubelet.
func (r *release) token(t *testing.T, pod corev1.Pod) string {
	t.Helper()
	running := processes(t, pod)
	if len(running) == 0 {
		t.Fatalf("the pod %s has no process", pod.Name)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/run/secrets/kubernetes.io/serviceaccount/token", running[0].pid))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), ".")
	if len(parts) != 3 {
		t.Fatalf("the token has %d parts", len(parts))
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct{ JTI string }
	if err == nil {
		err = json.Unmarshal(content, &claims)
	}
	if err != nil {
		t.Fatal(err)
	}
	return claims.JTI
}

// used says whether a service account has asked the API server for something with a
// token.
func (w *world) used(t *testing.T, user, token string) bool {
	t.Helper()
	for _, asked := range w.Asked(t, user) {
		if asked.Credential == "JTI="+token {
			return true
		}
	}
	return false
}
