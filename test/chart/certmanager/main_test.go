//go:build image

package certmanager

import (
	"testing"

	"sluice/test/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }

// TestCertManager: cert-manager makes the certificates of the admission webhook and of hosts.
func TestCertManager(t *testing.T) {
	w := newWorld(t)
	w.startCertManager(t)
	w.install(t)
	t.Run("webhook", func(t *testing.T) { t.Parallel(); testWebhook(t, w) })
	t.Run("hosts", func(t *testing.T) { t.Parallel(); testHosts(t, w) })
}
