package controller

import (
	"errors"
	"fmt"
	"testing"

	"sluice/internal/nginx"
)

// TestWholeFileIsTestedToFindOutWhy: also for an external nginx, but not before an
// nginx that died has restarted.
func TestWholeFileIsTestedToFindOutWhy(t *testing.T) {
	t.Parallel()
	first, other := &plan{}, &plan{}
	died := &nginx.ReloadError{Text: "nginx ended", Ended: true}
	a := &applier{}
	for i, step := range []struct {
		plan *plan
		err  error
		want bool
	}{
		{first, nil, false},
		{first, nginx.ErrNotRunning, false},
		{first, errors.New("no space left on device"), false},
		{first, &nginx.ReloadError{Text: "refused", RolledBack: true}, true},
		{first, fmt.Errorf("apply: %w", &nginx.TestError{Text: "refused"}), true},
		{first, died, false},
		{first, died, true}, // it died of the same plan again
		{other, died, false},
	} {
		if got := a.wantsReason(&outcome{plan: step.plan, err: step.err}); got != step.want {
			t.Errorf("step %d, %v: got %v", i, step.err, got)
		}
	}
}
