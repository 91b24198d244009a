//go:build image

package real

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"sluice/test/cluster"
)

// Addresses of the outer network namespace, where the tests run.
const (
	planeAddress  = "10.255.0.1"
	clientAddress = "192.0.2.7"
)

// enter makes the mounts of this process its own, and sets up the network that the
// nodes are joined to.
func enter() error {
	err := errors.Join(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("proc", "/proc", "proc", 0, ""), // that of the pid namespace
	)
	if err != nil {
		return err
	}
	return cluster.IP(`
link set lo up
link add lan type bridge
address add ` + planeAddress + `/24 dev lan
link set lan up
address add ` + clientAddress + `/32 dev lo
`)
}

// cgroups are the mounted hierarchies of control groups: one, or one for each
// controller.
func cgroups() ([]string, error) {
	const root = "/sys/fs/cgroup"
	if _, err := os.Stat(root + "/cgroup.controllers"); err == nil {
		return []string{root}, nil
	}
	found, err := filepath.Glob(root + "/*/cgroup.procs")
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there are no control groups at %s", root)
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found, err
}

// cgroupOf names the control group of a test run, which the nodes' are in.
func cgroupOf(sluice string) string { return filepath.Base(filepath.Dir(sluice)) }

// makeCgroup makes the control group that a node's pods are in.
func makeCgroup(name string) (string, error) {
	name = filepath.Join("/", cgroupOf(cluster.SluicePath()), name)
	all, err := cgroups()
	for _, hierarchy := range all {
		err = errors.Join(err, os.MkdirAll(filepath.Join(hierarchy, name), 0o755))
		// A new group has no processors and no memory nodes, and then can have no processes.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			content, missing := os.ReadFile(filepath.Join(hierarchy, file))
			if missing != nil {
				continue
			}
			for _, folder := range []string{filepath.Dir(name), name} {
				err = errors.Join(err, os.WriteFile(filepath.Join(hierarchy, folder, file), content, 0))
			}
		}
	}
	return name, err
}

// removeCgroups removes the control groups of a test run, whose processes have ended.
func removeCgroups(sluice string) {
	all, _ := cgroups()
	for _, hierarchy := range all {
		var folders []string
		_ = filepath.WalkDir(filepath.Join(hierarchy, cgroupOf(sluice)), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				folders = append(folders, path)
			}
			return nil
		})
		for _, folder := range slices.Backward(folders) { // what is below goes first
			if err := os.Remove(folder); err != nil {
				fmt.Fprintln(os.Stderr, "remove the control group:", err)
			}
		}
	}
}
