package e2e

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestAWorkerHangs: one reload waits for a worker that does nothing any more, the next do not. The
// changes of others are served meanwhile, and certificates are renewed.
func TestAWorkerHangs(t *testing.T) {
	eachNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "secret.yaml": secret("cert", newKeyPair(t, 1, "a.example")),
			"a.yaml": withTLS(ingress("a", "a.example", []string{"/ Prefix web"}), "cert", "a.example"),
		})
		eventually(t, "the first certificate", s.presents("a.example", 1))
		hung := workers(s.master())[:1]
		if err := syscall.Kill(hung[0], syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(hung[0], syscall.SIGCONT) })
		serve := func(version int) time.Duration {
			began := time.Now()
			s.write("b.yaml", ingress("b", "b.example", []string{fmt.Sprintf("/v%d Prefix web", version)}))
			eventually(t, fmt.Sprintf("version %d", version), func() bool {
				a, err := s.get(fmt.Sprintf("http://b.example/v%d", version))
				return err == nil && a.backend == "web"
			})
			return time.Since(began)
		}
		serve(1)
		began := time.Now()
		s.write("secret.yaml", secret("cert", newKeyPair(t, 2, "a.example")))
		eventually(t, "the renewed certificate", s.presents("a.example", 2))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("a certificate was renewed after %v", took)
		}
		s.waitLine("old workers of nginx still accept connections")
		for version := 2; version < 5; version++ {
			if took := serve(version); took > 5*time.Second {
				t.Errorf("version %d was served after %v", version, took)
			}
		}
		if lines := s.lines("old workers of nginx still accept connections"); len(lines) != 1 {
			t.Errorf("want one warning, got %q", lines)
		}
		if err := syscall.Kill(hung[0], syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		waitGone(t, hung)
	})
}
