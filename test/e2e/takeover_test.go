package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killed is a sluice that was killed while its nginx serves a.example, and that
// is about to read its manifests from the returned pipe.
func killed(t *testing.T, root string) (*sluice, *os.File) {
	t.Helper()
	s := start(t, root, oneHost(backend(t, "web")))
	s.waitBackend("http://a.example/", "web")
	s.signal(syscall.SIGKILL)
	<-s.Exited
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close(); writer.Close() })
	s.stdin = reader
	s.set("--manifests", "-")
	return s, writer
}

// servesOn fails the test if a.example is not answered all the time.
func (s *sluice) servesOn(during time.Duration) {
	s.t.Helper()
	for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if a, err := s.get("http://a.example/"); err != nil || a.backend != "web" {
			s.t.Fatalf("while the source has not answered: status %d, error %v", a.status, err)
		}
	}
}

// health asks a health check and gives the status, 0 if nothing answers.
func (s *sluice) health(path string) int {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", s.Healthz, path))
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// TestRestartWaitsForTheSource: the nginx of a sluice that was killed goes on
// serving until the next one has objects to serve.
func TestRestartWaitsForTheSource(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s, manifests := killed(t, root)
		s.launch()
		eventually(t, "the liveness check, which the former nginx answers", func() bool { return s.health("/healthz") == http.StatusOK })
		s.servesOn(time.Second)
		if status := s.health("/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("ready with status %d before there are any objects", status)
		}
		var all strings.Builder
		for _, name := range []string{"class.yaml", "web.yaml", "a.yaml"} {
			content, err := os.ReadFile(filepath.Join(s.manifests, name))
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString("---\n" + string(content))
		}
		fmt.Fprint(manifests, all.String(), "---\n", ingress("b", "b.example", []string{"/ Prefix web"}))
		manifests.Close()
		s.waitReady()
		s.waitBackend("http://a.example/", "web")
		s.waitBackend("http://b.example/", "web")
	})
}

// TestRestartWaitsForTheAPIServer: the same where the objects are in a cluster
// whose API server is away.
func TestRestartWaitsForTheAPIServer(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s, _ := killed(t, root)
		config := filepath.Join(t.TempDir(), "kubeconfig")
		text := "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n" +
			"users: [{name: u, user: {token: none}}]\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.unset("--manifests")
		s.set("--kubeconfig", config)
		s.launch()
		eventually(t, "the liveness check, which the former nginx answers", func() bool { return s.health("/healthz") == http.StatusOK })
		s.servesOn(2 * time.Second)
	})
}

// TestStopEndsTheFormerNginx: whoever stops sluice before it has taken over
// leaves nothing behind.
func TestStopEndsTheFormerNginx(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s, _ := killed(t, root)
		s.launch()
		eventually(t, "the liveness check", func() bool { return s.health("/healthz") == http.StatusOK })
		s.servesOn(100 * time.Millisecond)
		s.signal(syscall.SIGTERM)
		s.ended()
		if s.Err != nil {
			t.Errorf("sluice ended with %v", s.Err)
		}
		if a, err := s.get("http://a.example/"); err == nil {
			t.Errorf("nginx is left behind: it answers with %d", a.status)
		}
	})
}
