// Package prometheus tests the dashboards and alerts of charts/sluice with a real Prometheus,
// which scrapes a real Sluice under load. It needs Debian's package prometheus.
//
//   - Each expression of each panel and each variable of a dashboard returns data.
//   - So do the metrics of each alert; each alert fires in a scenario of its own, and no other
//     alert does (promtool).
//   - Each metric that the published dashboards of ingress-nginx use is there with its labels
//     (testdata/published.csv).
package prometheus

import (
	"os"
	"testing"

	"sluice/test/kit"
)

// sluicePath is the binary under test, built once.
var sluicePath string

func TestMain(m *testing.M) {
	os.Exit(kit.WithSluice(func(path string) int { sluicePath = path; return m.Run() }))
}
