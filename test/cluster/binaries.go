package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

// kubernetesVersion finds the version that binaries/go.mod pins.
var kubernetesVersion = regexp.MustCompile(`k8s\.io/kubernetes (v\S+)`)

// findBinaries finds the folder that binaries/build.sh has made last for the
// version of Kubernetes that is pinned. It does not build: that takes minutes,
// and the network.
func findBinaries() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	module, err := os.ReadFile(filepath.Join(filepath.Dir(here), "binaries", "go.mod"))
	if err != nil {
		return "", err
	}
	version := kubernetesVersion.FindSubmatch(module)
	if version == nil {
		return "", fmt.Errorf("binaries/go.mod pins no version of k8s.io/kubernetes")
	}
	cache := os.Getenv("SLUICE_CLUSTER_CACHE")
	if cache == "" {
		cache = filepath.Join(filepath.Dir(here), "..", "..", ".cache")
	}
	pattern := filepath.Join(cache, "control-plane-"+string(version[1])+"-*", "complete")
	marks, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	newest, when := "", time.Time{}
	for _, mark := range marks {
		if info, err := os.Stat(mark); err == nil && info.ModTime().After(when) {
			newest, when = filepath.Dir(mark), info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("there is no control plane: nothing is at %s; `make cluster` builds it (some six minutes, once), and SLUICE_CLUSTER_CACHE names a folder that has it", pattern)
	}
	return filepath.Abs(newest)
}
