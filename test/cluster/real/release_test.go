//go:build image

package real

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
)

// Tags of Sluice's image in the registry; what they name is the same.
const (
	firstTag  = "1"
	secondTag = "2"
)

// pushed is Sluice's image in the registry, put there once.
var pushed = sync.OnceValue(func() error {
	for _, tag := range []string{firstTag, secondTag} {
		output, err := exec.Command("skopeo", "copy", "oci-archive:"+os.Getenv("SLUICE_IMAGE"), "docker://"+registryHost+"/sluice:"+tag).CombinedOutput()
		if err != nil {
			return fmt.Errorf("push SLUICE_IMAGE: %w: %s", err, output)
		}
	}
	return nil
})

// release is Sluice as the chart installs it, in a namespace of its own that enforces
// a standard of Pod Security.
type release struct {
	*world
	name       string // of the release, and of its namespace, class and controller
	controller string // the name of the controller's objects
}

// values are the arguments of helm install and helm upgrade: the values that every
// release has, and more of the kind --set.
func (r *release) values(t testing.TB, tag string, more ...string) []string {
	t.Helper()
	arguments := []string{
		r.name, filepath.Join(checkout(t), "charts", "sluice"), "--namespace", r.name,
		"--set", "controller.image.repository=" + registryHost + "/sluice", "--set-string", "controller.image.tag=" + tag,
		"--set", "controller.ingressClassResource.name=" + r.name, "--set", "controller.ingressClassResource.controllerValue=example.com/" + r.name,
		"--set", "controller.ingressClass=" + r.name,
	}
	for _, value := range more {
		arguments = append(arguments, "--set", value)
	}
	return arguments
}

// install installs a release, waits until it is rolled out, and removes it after the
// test.
func (w *world) install(t *testing.T, name, standard string, more ...string) *release {
	t.Helper()
	if err := pushed(); err != nil {
		t.Fatal(err)
	}
	r := &release{w, name, name + "-sluice-controller"}
	w.kubectl(t, "create", "namespace", name)
	w.kubectl(t, "label", "namespace", name, "pod-security.kubernetes.io/enforce="+standard)
	w.helm(t, append([]string{"install"}, r.values(t, firstTag, more...)...)...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.trouble(t))
			logs, _ := w.try(t, "kubectl", "logs", "--namespace", name, "--selector", "app.kubernetes.io/component=controller", "--tail=60", "--prefix")
			t.Log(logs)
		}
		r.remove(t)
	})
	r.rollOut(t)
	return r
}

// rollOut waits until the controller is what was asked for last.
func (r *release) rollOut(t *testing.T) {
	t.Helper()
	kind := "deployment/"
	if _, err := r.try(t, "kubectl", "get", "--namespace", r.name, "daemonset/"+r.controller); err == nil {
		kind = "daemonset/"
	}
	if output, err := r.try(t, "kubectl", "rollout", "status", "--namespace", r.name, kind+r.controller, "--timeout=5m"); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// remove uninstalls the release. Nobody waits for its pods: the next test has its own.
func (r *release) remove(t *testing.T) {
	t.Helper()
	r.helm(t, "uninstall", r.name, "--namespace", r.name, "--ignore-not-found")
	r.kubectl(t, "delete", "pods", "--all", "--namespace", r.name, "--grace-period=1", "--wait=false")
	r.kubectl(t, "delete", "namespace", r.name, "--wait=false")
}

// pods are the controller's, but for those that end.
func (r *release) pods(ctx context.Context, t *testing.T) []corev1.Pod {
	t.Helper()
	list, err := r.Admin().CoreV1().Pods(r.name).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=controller"})
	if err != nil {
		t.Fatal(err)
	}
	var found []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			found = append(found, pod)
		}
	}
	return found
}

// pod is the only one.
func (r *release) pod(t *testing.T) corev1.Pod {
	t.Helper()
	found := r.pods(t.Context(), t)
	if len(found) != 1 {
		t.Fatalf("there are %d pods of the controller, want one", len(found))
	}
	return found[0]
}

// in runs a command in the controller's container.
func (r *release) in(t *testing.T, pod string, command ...string) (string, error) {
	t.Helper()
	return r.try(t, append([]string{"kubectl", "exec", "--namespace", r.name, pod, "--"}, command...)...)
}

// isContained: the first process of the container is Sluice as its user, gains no
// right, has none but NET_BIND_SERVICE, and cannot write to some folders.
func (w *world) isContained(t *testing.T, namespace, deployment string, folders ...string) {
	t.Helper()
	in := func(arguments ...string) (string, error) {
		return w.try(t, append([]string{"kubectl", "exec", "--namespace", namespace, "deployment/" + deployment, "--"}, arguments...)...)
	}
	status, err := in("cat", "/proc/1/status")
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"Uid": "101\t101\t101\t101", "NoNewPrivs": "1", "Seccomp": "2", "CapBnd": "0000000000000400", "CapInh": "0000000000000000",
	} {
		if !strings.Contains(status, "\n"+field+":\t"+want+"\n") {
			t.Errorf("%s is not %q:\n%s", field, want, status)
		}
	}
	for _, folder := range folders {
		if output, err := in("touch", folder+"/written"); err == nil {
			t.Errorf("touch in %s: %v %s", folder, err, output)
		}
	}
	if _, err := in("touch", "/var/lib/sluice/written"); err != nil {
		t.Errorf("touch where the state is: %v", err)
	}
}

// address is that of the release's load balancer, or in the cluster.
func (r *release) address(t *testing.T) string {
	t.Helper()
	address := ""
	cluster.Eventually(t, "the address of "+r.controller, func(ctx context.Context) error {
		service, err := r.Admin().CoreV1().Services(r.name).Get(ctx, r.controller, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if service.Spec.Type != corev1.ServiceTypeLoadBalancer {
			address = service.Spec.ClusterIP
		} else if len(service.Status.LoadBalancer.Ingress) > 0 {
			address = service.Status.LoadBalancer.Ingress[0].IP
		}
		if address == "" {
			return fmt.Errorf("it has none yet")
		}
		return nil
	})
	return address
}
