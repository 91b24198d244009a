package cluster

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"sluice/test/kit"
)

// TestSluiceReachesPods: sluice and its nginx run in the network namespace, as
// root and as an ordinary user, and reach the pods there. What they are told is
// the cluster's own EndpointSlices, but in a folder.
func TestSluiceReachesPods(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "reached")
	c.Apply(t, Web(ns, "web", 2)...)
	want := c.AwaitEndpoints(t, ns, "web", 2)
	slices, err := c.Admin().DiscoveryV1().EndpointSlices(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	objects := []runtime.Object{Service(ns, "web"), IngressClass("nginx"), Ingress(ns, "web", Rule("reached.example", "/", "web", 80))}
	for _, slice := range slices.Items {
		objects = append(objects, &slice)
	}
	nginx, err := kit.BestNginx()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sluice{Sluice: kit.Prepare(t, nginx.Root, manifests(t, objects))}
	s.Start(t, exec.Command(SluicePath(), s.Arguments...))
	t.Cleanup(func() { s.Stop(syscall.SIGTERM, kit.Patience) })
	s.AwaitReady(t)
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

// TestRunSluice: a sluice is told of the cluster by its API server, and can be
// killed, started again and ended.
func TestRunSluice(t *testing.T) {
	c := Shared(t)
	ns := c.NewNamespace(t, "run")
	c.Apply(t, Web(ns, "web", 1)...)
	ingress := Ingress(ns, "web", Rule("run.example", "/", "web", 80))
	ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{"run.example"}, SecretName: "web"}}
	ingress.Annotations = map[string]string{"nginx.ingress.kubernetes.io/ssl-redirect": "false"}
	c.Apply(t, IngressClass("nginx"), c.TLSSecret(t, ns, "web", "run.example"), ingress)
	address := c.AwaitEndpoints(t, ns, "web", 1)[0]
	s := RunSluice(t, c.Kubeconfig(t, "sluice", "system:masters"))
	served := func() {
		t.Helper()
		for _, url := range []string{"http://run.example/", "https://run.example/"} {
			r := s.Request(url)
			r.Roots = c.Roots()
			EventuallyAnswer(t, r, "the pod "+address, func(a *Answer) bool { return a.Echo != nil && a.Echo.IP == address })
		}
	}
	served()
	s.Kill()
	s.Launch(t)
	s.AwaitReady(t)
	served()
	s.Terminate()
	if _, err := s.Request("http://run.example/").Do(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after its end: %v", err)
	}
}
