package cluster

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"sluice/test/kit"
)

// TestSluiceReachesPods: sluice and its nginx run in the network namespace, as
// root and as an ordinary user, and reach the pods there. What they are told is
// the cluster's own EndpointSlices, but in a folder.
func TestSluiceReachesPods(t *testing.T) {
	c := Shared(t)
	c.Apply(t, Web("reached", "web", 2)...)
	want := c.AwaitEndpoints(t, "reached", "web", 2)
	slices, err := c.Admin().DiscoveryV1().EndpointSlices("reached").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	objects := []runtime.Object{Service("reached", "web"), IngressClass("nginx"), Ingress("reached", "web", Rule("reached.example", "/", "web", 80))}
	for _, slice := range slices.Items {
		objects = append(objects, &slice)
	}
	nginx, err := kit.BestNginx()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sluice{Sluice: kit.Prepare(t, nginx.Root, manifests(t, objects))}
	s.Start(t, exec.Command(SluicePath(), s.Arguments...))
	t.Cleanup(func() { s.Stop(syscall.SIGTERM, Patience) })
	s.AwaitReady(t, Patience)
	for _, address := range want {
		EventuallyAnswer(t, s.Request("http://reached.example/"), "the pod "+address, func(a *Answer) bool {
			return a.Status == http.StatusOK && a.Echo != nil && a.Echo.IP == address
		})
	}
}

// manifests writes objects to a file of a new folder, and gives the folder.
func manifests(t *testing.T, objects []runtime.Object) string {
	t.Helper()
	var documents []string
	for _, o := range untyped(t, objects) {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(text))
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "objects.yaml"), []byte(strings.Join(documents, "---\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}
