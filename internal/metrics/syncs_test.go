package metrics

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"sluice/internal/report"
)

// TestReloadsRecover: a failed reload is over when nginx has the wanted file again, whether that
// takes a reload or none.
func TestReloadsRecover(t *testing.T) {
	t.Parallel()
	s := newSyncs(nil)
	for at, step := range []struct {
		line report.SyncLine
		want float64
	}{
		{report.SyncLine{Err: errors.New("nginx does not start")}, 0},
		{report.SyncLine{}, 0}, // endpoints, before the first reload
		{report.SyncLine{Reload: true}, 1},
		{report.SyncLine{Err: errors.New("no room")}, 0},
		{report.SyncLine{}, 0},         // endpoints, while the file still waits
		{report.SyncLine{Bytes: 1}, 1}, // the change is taken back
		{report.SyncLine{Err: errors.New("no room")}, 0},
		{report.SyncLine{Reload: true}, 1},
	} {
		s.record(step.line)
		if got := valueOf(t, s.successful); got != step.want {
			t.Errorf("step %d: config_last_reload_successful is %v, want %v", at, got, step.want)
		}
	}
}

func valueOf(t *testing.T, gauge prometheus.Gauge) float64 {
	t.Helper()
	var metric dto.Metric
	if err := gauge.Write(&metric); err != nil {
		t.Fatal(err)
	}
	return metric.GetGauge().GetValue()
}
