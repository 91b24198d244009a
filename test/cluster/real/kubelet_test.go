//go:build image

package real

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sluice/test/cluster"
	"sluice/test/kit"
)

// TestKubeletRestarts: while a node's kubelet is away, and when it is back, nothing is
// lost and Sluice's container is not started again. The kubelet that is back asks for new tokens
// for its pods, as one does for those that grow old; Sluice uses the new one.
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
	if now := r.pod(t); now.Name != pod.Name || now.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("the pod is %s with %+v, and was %s", now.Name, now.Status.ContainerStatuses[0], pod.Name)
	}
	cluster.EventuallyStatus(t, s.request("/hostname"), 200)
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
