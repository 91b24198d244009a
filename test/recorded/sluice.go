package recorded

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sluice/test/kit"
)

// Sluice is a running Sluice with its nginx, on a folder of manifests.
type Sluice struct {
	*kit.Sluice
	manifests string
	probes    int
}

// Start runs Sluice on the files, until the test ends, and waits until it is
// ready.
func Start(t *testing.T, root string, files map[string]string, flags []string) *Sluice {
	t.Helper()
	s := &Sluice{manifests: filepath.Join(t.TempDir(), "manifests")}
	if err := os.Mkdir(s.manifests, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		s.write(t, name, content)
	}
	s.Sluice = kit.Prepare(t, root, s.manifests, append([]string{"--configmap", configMap, "--post-shutdown-grace-period", "1"}, flags...)...)
	s.Start(t, exec.Command(binary, s.Arguments...))
	t.Cleanup(func() { s.stop(t) })
	s.AwaitReady(t)
	return s
}

// Restart ends Sluice and its nginx, and starts them again with the state that they left, on the
// same files. It waits until they are ready.
func (s *Sluice) Restart(t *testing.T) {
	t.Helper()
	s.Stop(syscall.SIGTERM, kit.Patience)
	s.Start(t, exec.Command(binary, s.Arguments...))
	s.AwaitReady(t)
}

func (s *Sluice) stop(t *testing.T) {
	s.Stop(syscall.SIGTERM, kit.Patience)
	if t.Failed() {
		t.Logf("log of sluice:\n%s", s.Log.Text(t))
	}
}

// write puts a file in place.
func (s *Sluice) write(t *testing.T, name, content string) {
	t.Helper()
	kit.Replace(t, filepath.Join(s.manifests, name+".yaml"), content)
}

// change puts a file in place together with a new host, and waits until a
// worker answers for that host and the sync is over: then all of the file is
// in force.
func (s *Sluice) change(t *testing.T, name, content string) {
	t.Helper()
	s.probes++
	host := fmt.Sprintf("probe%d.%s.example.net", s.probes, name)
	probe := object{
		"apiVersion": versions["Ingress"], "kind": "Ingress", "metadata": object{"name": fmt.Sprintf("probe%d", s.probes), "namespace": "probes"},
		"spec": object{"ingressClassName": "nginx", "rules": []object{{"host": host, "http": object{"paths": pathObjects([]string{"/ Prefix nothing"}, nil)}}}},
	}
	before := len(s.Log.Text(t))
	s.write(t, name, content+asJSON(t, probe))
	kit.Await(t, "the change of "+name, func() bool {
		s.MustRun(t)
		c := &Call{Request: &Request{}, Scheme: "http", Path: "/", lines: [][2]string{{"Host", host}}}
		e := s.send(c) // the probe's Service does not exist
		return e.response != nil && e.response.StatusCode == http.StatusServiceUnavailable && strings.Contains(s.Log.Text(t)[before:], "msg=sync ")
	})
}
