//go:build image

package real

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
)

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

// answersAtNodePort: each node answers at the port that it has for the Service.
func (w *world) answersAtNodePort(t *testing.T, namespace, name string) {
	t.Helper()
	service, err := w.Admin().CoreV1().Services(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range service.Spec.Ports {
		for _, d := range w.nodes {
			r := cluster.Request{URL: port.Name + "://web.example/hostname", To: fmt.Sprintf("%s:%d", d.address, port.NodePort)}
			if answer := cluster.EventuallyStatus(t, r, http.StatusOK); !strings.HasPrefix(answer.Body, "web-") {
				t.Errorf("%s of %s answers %q", port.Name, d.name, answer.Body)
			}
		}
	}
}
