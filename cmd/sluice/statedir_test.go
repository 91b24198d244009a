package main

import (
	"path/filepath"
	"testing"
)

// What root has as its state directory by default can be passed by nginx's
// workers, which the home of root cannot.
func TestStateDirectoryByDefault(t *testing.T) {
	t.Setenv("HOME", "/srv/shop")
	for _, test := range []struct {
		user       int
		home, want string
	}{
		{0, "", "/var/lib/sluice"},
		{0, "/srv/state", "/srv/state/sluice"},
		{1000, "", filepath.Join("/srv/shop", ".local/state/sluice")},
		{1000, "/srv/state", "/srv/state/sluice"},
	} {
		if got := stateDirOf(test.user, test.home); got != test.want {
			t.Errorf("user %d, $XDG_STATE_HOME %q: %s, want %s", test.user, test.home, got, test.want)
		}
	}
}
