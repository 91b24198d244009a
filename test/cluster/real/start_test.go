//go:build image

package real

import "testing"

// TestClusterStarts: the nodes are ready, and so is CoreDNS, which is a pod.
func TestClusterStarts(t *testing.T) { theWorld(t) }
