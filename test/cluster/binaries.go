package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"sluice/test/kit"
)

// kubernetesVersion finds the version that binaries/go.mod pins.
var kubernetesVersion = regexp.MustCompile(`k8s\.io/kubernetes (v\S+)`)

// The sets of programs that binaries/build.sh builds.
const (
	planeSet       = "control-plane"
	nodeSet        = "node"
	certManagerSet = "cert-manager"
)

// NodeProgram is the path of a program that real nodes need, such as kubelet.
func NodeProgram(name string) (string, error) { return programOf(nodeSet, name) }

// CertManagerProgram is the path of cert-manager, of Pebble, or of another file beside them.
func CertManagerProgram(name string) (string, error) { return programOf(certManagerSet, name) }

func programOf(set, name string) (string, error) {
	folder, err := findBinaries(set)
	return filepath.Join(folder, name), err
}

// findBinaries finds the folder with a set that binaries/build.sh has made last for
// the version of Kubernetes that is pinned. It does not build: that takes minutes,
// and the network.
func findBinaries(set string) (string, error) {
	root, err := kit.ModuleRoot()
	if err != nil {
		return "", err
	}
	module, err := os.ReadFile(filepath.Join(root, "test", "cluster", "binaries", "go.mod"))
	if err != nil {
		return "", err
	}
	version := kubernetesVersion.FindSubmatch(module)
	if version == nil {
		return "", fmt.Errorf("binaries/go.mod pins no version of k8s.io/kubernetes")
	}
	cache := os.Getenv("SLUICE_CLUSTER_CACHE")
	if cache == "" {
		cache = filepath.Join(root, ".cache")
	}
	pattern := filepath.Join(cache, set+"-"+string(version[1])+"-*", "complete")
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
		return "", fmt.Errorf("nothing is at %s: `make cluster` builds the control plane (some six minutes, once) and `make test-image` the programs of nodes and cert-manager, and SLUICE_CLUSTER_CACHE names a folder that has them", pattern)
	}
	return filepath.Abs(newest)
}
