package nginx

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRebase: nginx restarts with the last file that it accepted, never with a rejected
// one.
func TestRebase(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, first, second := s.started(), freeAddress(t), freeAddress(t)
		comesBack := func(address, text string) {
			t.Helper()
			if err := p.currentRun().signal(unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			await(t, p, Died)
			await(t, p, Restarted)
			if got := get(t, address); got != text {
				t.Errorf("after a crash: %q", got)
			}
		}
		if err := p.Rebase(t.Context(), s.web(first, "first")); err != nil {
			t.Fatal(err)
		}
		comesBack(first, "first")
		var failed *ReloadError
		if err := p.Rebase(t.Context(), s.conf("", "bad 1;")); !errors.As(err, &failed) || !failed.RolledBack {
			t.Fatalf("a file that nginx refuses: %v", err)
		}
		comesBack(first, "first")
		if err := p.Rebase(t.Context(), s.web(second, "second")); err != nil {
			t.Fatal(err)
		}
		comesBack(second, "second")
	})
}
