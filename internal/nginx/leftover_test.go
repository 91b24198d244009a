package nginx

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestClaimSweepsIncompleteFiles: incomplete files of a killed Sluice are removed at
// the next start. Complete files stay, and so do all files while another process holds
// the state directory.
func TestClaimSweepsIncompleteFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t, Options{})
	swept := []string{"candidate-123.conf", "nginx.conf.new-456", "processes.json.new-7", "nginx.conf.good.link", "trust/abc.pem.new", "users/abc.new", "users/abc.new-8", "last-good.jsonl.new"}
	kept := []string{"nginx.conf", "nginx.conf.good", "processes.json", "trust/abc.pem", "users/abc", "last-good.jsonl", "default.pem", "lua/candidate-1.conf",
		"temp/auth_cache_a", // the nginx of a former run may still write there
	}
	if err := os.MkdirAll(s.options.path("temp"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(swept, kept...) {
		s.write(name, "text")
	}
	first := s.process()
	if err := first.Claim(); err != nil {
		t.Fatal(err)
	}
	for _, name := range swept {
		if _, err := os.Stat(s.options.path(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	for _, name := range kept {
		if s.read(name) != "text" {
			t.Errorf("%s is lost", name)
		}
	}
	s.write("candidate-9.conf", "text")
	if err := s.process().Claim(); err == nil || s.read("candidate-9.conf") != "text" {
		t.Errorf("another sluice's file was swept: %v", err)
	}
}

// TestKilledTestIsNoVerdict: `nginx -t` that is ended by a signal, for example for lack
// of memory, has rejected nothing.
func TestKilledTestIsNoVerdict(t *testing.T) {
	t.Parallel()
	s := newSite(t, Options{})
	s.write("killed", "#!/bin/sh\necho \"nginx: [emerg] half a word\" >&2\nkill -9 $$\n")
	if err := os.Chmod(s.options.path("killed"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := s.process()
	p.install.argv = []string{s.options.path("killed")}
	err := p.Test(t.Context(), s.conf("", ""))
	var refused *TestError
	if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v", err)
	}
}
