package nginx

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestTestAsideGivesWay: a reload does not wait for a background test, which starts
// again afterwards. Before a real file runs, it does wait.
func TestTestAsideGivesWay(t *testing.T) {
	t.Parallel()
	s := newSite(t, Options{})
	p, address := s.started(), freeAddress(t)
	s.write("slow", strings.ReplaceAll("#!/bin/sh\necho begun >> STATE/begun\ncase $(wc -l < STATE/begun) in\n1) exec sleep 1;;\n2) exec sleep 60;;\nesac\n", "STATE", s.options.StateDir))
	if err := os.Chmod(s.options.path("slow"), 0o755); err != nil {
		t.Fatal(err)
	}
	argv := p.install.argv
	p.install.argv = []string{s.options.path("slow")}
	defer func() { p.install.argv = argv }()
	for begun, wait := range []time.Duration{time.Second, 0} {
		tested := make(chan error, 1)
		began := time.Now()
		go func() { tested <- p.TestAside(t.Context(), s.conf("", "")) }()
		eventually(t, "the test to begin", func() bool {
			text, _ := os.ReadFile(s.options.path("begun"))
			return strings.Count(string(text), "\n") == begun+1
		})
		if err := p.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < wait || took > patience {
			t.Errorf("a turn came after %v, want about %v", took, wait)
		}
		p.release()
		if err := <-tested; err != nil {
			t.Errorf("the test said %v", err)
		}
		s.apply(p, s.web(address, "served"))
	}
	if text := s.read("begun"); strings.Count(text, "\n") != 3 {
		t.Errorf("%d tests began, want one before and two after", strings.Count(text, "\n"))
	}
}
