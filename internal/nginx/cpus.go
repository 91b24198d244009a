package nginx

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// CPUs returns the number of workers that can run in parallel: the CPUs in the
// affinity mask of this process, limited by the quotas of its control groups and
// their parents. A fraction of a CPU counts as one.
func CPUs() int { return cpus("/", maskedCPUs()) }

// maskedCPUs is the number of CPUs of the affinity mask, which nginx inherits.
func maskedCPUs() int {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return runtime.NumCPU()
	}
	return mask.Count()
}

// cpus reads quotas from /proc and /sys below a root.
func cpus(root string, mask int) int {
	least := max(mask, 1)
	group, found := cpuGroup(root)
	if !found {
		return least
	}
	for at := group.path; ; at = path.Dir(at) {
		if quota, ok := group.quota(filepath.Join(root, group.mount, at)); ok {
			least = min(least, quota)
		}
		if at == "/" {
			return least
		}
	}
}

// controlGroup is the control group of this process for CPU time.
type controlGroup struct {
	// mount is the mount point of the hierarchy, and path is the group in it.
	mount, path string
	// quota returns the CPUs that a folder of the hierarchy allows, rounded up, and
	// false if there is no limit.
	quota func(folder string) (int, bool)
}

// cpuGroup finds the group. If a hierarchy of version 1 has the CPU controller, the
// one of version 2 does not. Source:
// https://man7.org/linux/man-pages/man7/cgroups.7.html
func cpuGroup(root string) (controlGroup, bool) {
	var unified, own controlGroup
	for _, line := range linesOf(root, "/proc/self/cgroup") {
		number, rest, _ := strings.Cut(line, ":")
		controllers, at, ok := strings.Cut(rest, ":")
		switch {
		case !ok:
		case number == "0" && controllers == "":
			unified = controlGroup{path: at, quota: quotaV2}
		case slices.Contains(strings.Split(controllers, ","), "cpu"):
			own = controlGroup{path: at, quota: quotaV1}
		}
	}
	for _, m := range cpuMounts(root) {
		group := unified
		if m.controller {
			group = own
		}
		if group.path != "" && (own.path == "" || m.controller) {
			group.mount, group.path = m.point, below(m.root, group.path)
			return group, true
		}
	}
	return controlGroup{}, false
}

// below returns a path as seen from a mount that shows the hierarchy below root; "/"
// if the mount does not show it.
func below(root, at string) string {
	rest, ok := strings.CutPrefix(at, strings.TrimSuffix(root, "/"))
	if !ok || !strings.HasPrefix(rest, "/") {
		return "/"
	}
	return path.Clean(rest)
}

// cpuMount is a mount of a control group hierarchy: that of the CPU controller
// (version 1), or of all controllers without their own (version 2).
type cpuMount struct {
	root, point string
	controller  bool
}

// cpuMounts reads /proc/self/mountinfo.
// Source: https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
func cpuMounts(root string) []cpuMount {
	var mounts []cpuMount
	for _, line := range linesOf(root, "/proc/self/mountinfo") {
		before, after, _ := strings.Cut(line, " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		if len(place) < 5 || len(kind) < 3 {
			continue
		}
		m := cpuMount{root: place[3], point: strings.ReplaceAll(place[4], `\040`, " ")}
		m.controller = kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), "cpu")
		if m.controller || kind[0] == "cgroup2" {
			mounts = append(mounts, m)
		}
	}
	return mounts
}

// quotaV2 reads "200000 100000" or "max 100000".
// Source: https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files
func quotaV2(folder string) (int, bool) {
	for _, line := range linesOf(folder, "cpu.max") {
		quota, period, _ := strings.Cut(line, " ")
		return rounded(quota, period)
	}
	return 0, false
}

// quotaV1 reads two files; a quota of -1 means no limit. Source:
// https://docs.kernel.org/scheduler/sched-bwc.html
func quotaV1(folder string) (int, bool) {
	quota, period := linesOf(folder, "cpu.cfs_quota_us"), linesOf(folder, "cpu.cfs_period_us")
	if len(quota) == 0 || len(period) == 0 {
		return 0, false
	}
	return rounded(quota[0], period[0])
}

// rounded divides and rounds up. It returns false if there is no limit.
func rounded(quota, period string) (int, bool) {
	q, err := strconv.Atoi(quota)
	p, fault := strconv.Atoi(period)
	if err != nil || fault != nil || q <= 0 || p <= 0 {
		return 0, false
	}
	return (q-1)/p + 1, true
}

// linesOf returns the lines of a file, and none if the file does not exist.
func linesOf(root, name string) []string {
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}
