package nginx

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// machine makes a root with files.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Mounts of trees of control groups, as they are in practice.
const (
	unifiedMount  = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
	ownOfUnified  = "31 23 0:28 /system.slice/docker-1.scope /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw"
	cpuMountV1    = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct"
	ownOfCPUV1    = "32 31 0:29 /docker/1 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct"
	cpusetMountV1 = "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset"
	hybridMount   = "34 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"
)

func TestCPUs(t *testing.T) {
	t.Parallel()
	const group, mounts, v2, v1 = "proc/self/cgroup", "proc/self/mountinfo", "sys/fs/cgroup/", "sys/fs/cgroup/cpu,cpuacct/"
	for name, test := range map[string]struct {
		files map[string]string
		mask  int
		want  int
	}{
		"nothing to read":               {nil, 8, 8},
		"no mask":                       {nil, 0, 1},
		"no group":                      {map[string]string{group: "", mounts: unifiedMount, v2 + "cpu.max": "100000 100000"}, 8, 8},
		"no mount":                      {map[string]string{group: "0::/", v2 + "cpu.max": "100000 100000"}, 8, 8},
		"no limit":                      {map[string]string{group: "0::/", mounts: unifiedMount, v2 + "cpu.max": "max 100000"}, 8, 8},
		"whole CPUs":                    {map[string]string{group: "0::/", mounts: unifiedMount, v2 + "cpu.max": "200000 100000"}, 8, 2},
		"rounded up":                    {map[string]string{group: "0::/", mounts: unifiedMount, v2 + "cpu.max": "200001 100000"}, 8, 3},
		"a part of one":                 {map[string]string{group: "0::/", mounts: unifiedMount, v2 + "cpu.max": "1000 100000"}, 8, 1},
		"another period":                {map[string]string{group: "0::/", mounts: unifiedMount, v2 + "cpu.max": "100000 25000"}, 8, 4},
		"the mask is less":              {map[string]string{group: "0::/", mounts: unifiedMount, v2 + "cpu.max": "400000 100000"}, 3, 3},
		"nonsense":                      {map[string]string{group: "0::/\nx", mounts: "x - y\n" + unifiedMount, v2 + "cpu.max": "0 100000"}, 8, 8},
		"a period of 0":                 {map[string]string{group: "0::/", mounts: unifiedMount, v2 + "cpu.max": "100000 0"}, 8, 8},
		"the own group":                 {map[string]string{group: "0::/pods/p/c", mounts: unifiedMount, v2 + "pods/p/c/cpu.max": "150000 100000", v2 + "other/cpu.max": "1 100000"}, 8, 2},
		"a parent":                      {map[string]string{group: "0::/pods/p/c", mounts: unifiedMount, v2 + "pods/p/c/cpu.max": "max 100000", v2 + "pods/cpu.max": "300000 100000"}, 8, 3},
		"the least of all":              {map[string]string{group: "0::/pods/p/c", mounts: unifiedMount, v2 + "pods/p/c/cpu.max": "400000 100000", v2 + "pods/p/cpu.max": "200000 100000", v2 + "pods/cpu.max": "300000 100000"}, 8, 2},
		"a mount of the own group only": {map[string]string{group: "0::/system.slice/docker-1.scope", mounts: ownOfUnified, v2 + "cpu.max": "200000 100000"}, 8, 2},
		"below that group":              {map[string]string{group: "0::/system.slice/docker-1.scope/x", mounts: ownOfUnified, v2 + "x/cpu.max": "100000 100000", v2 + "cpu.max": "200000 100000"}, 8, 1},
		"a group that it does not show": {map[string]string{group: "0::/system.slice/docker-12", mounts: ownOfUnified, v2 + "cpu.max": "200000 100000"}, 8, 2},
		"outside of the namespace":      {map[string]string{group: "0::/../other", mounts: unifiedMount, v2 + "cpu.max": "200000 100000"}, 8, 2},
		"version 1":                     {map[string]string{group: "4:cpu,cpuacct:/pods/c\n3:cpuset:/", mounts: cpusetMountV1 + "\n" + cpuMountV1, v1 + "pods/c/cpu.cfs_quota_us": "150000", v1 + "pods/c/cpu.cfs_period_us": "100000"}, 8, 2},
		"version 1, a parent":           {map[string]string{group: "4:cpu,cpuacct:/pods/c", mounts: cpuMountV1, v1 + "pods/c/cpu.cfs_quota_us": "-1", v1 + "pods/c/cpu.cfs_period_us": "100000", v1 + "pods/cpu.cfs_quota_us": "100000", v1 + "pods/cpu.cfs_period_us": "100000"}, 8, 1},
		"version 1, no limit":           {map[string]string{group: "4:cpu,cpuacct:/", mounts: cpuMountV1, v1 + "cpu.cfs_quota_us": "-1", v1 + "cpu.cfs_period_us": "100000"}, 8, 8},
		"version 1, no period":          {map[string]string{group: "4:cpu,cpuacct:/", mounts: cpuMountV1, v1 + "cpu.cfs_quota_us": "100000"}, 8, 8},
		"version 1, the own group only": {map[string]string{group: "4:cpu,cpuacct:/docker/1", mounts: ownOfCPUV1, v1 + "cpu.cfs_quota_us": "200000", v1 + "cpu.cfs_period_us": "100000"}, 8, 2},
		"both, the CPUs in version 1":   {map[string]string{group: "4:cpu,cpuacct:/\n0::/", mounts: hybridMount + "\n" + cpuMountV1, "sys/fs/cgroup/unified/cpu.max": "100000 100000", v1 + "cpu.cfs_quota_us": "300000", v1 + "cpu.cfs_period_us": "100000"}, 8, 3},
		"both, the CPUs in version 2":   {map[string]string{group: "3:cpuset:/\n0::/", mounts: cpusetMountV1 + "\n" + hybridMount, "sys/fs/cgroup/unified/cpu.max": "100000 100000"}, 8, 1},
		"a space in the mount":          {map[string]string{group: "0::/", mounts: `31 23 0:28 / /sys/c\040g rw - cgroup2 x rw`, "sys/c g/cpu.max": "100000 100000"}, 8, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := cpus(machine(t, test.files), test.mask); got != test.want {
				t.Errorf("%d CPUs, want %d", got, test.want)
			}
		})
	}
}

func TestCPUsHere(t *testing.T) {
	t.Parallel()
	if got := CPUs(); got < 1 || got > runtime.NumCPU() {
		t.Errorf("%d of %d CPUs", got, runtime.NumCPU())
	}
}

func TestOpenFiles(t *testing.T) {
	t.Parallel()
	const status, kernel = "proc/self/status", "proc/sys/fs/nr_open"
	for name, test := range map[string]struct {
		files map[string]string
		hard  uint64
		want  OpenFiles
	}{
		"nothing to read":     {nil, 4096, OpenFiles{4096, 4096}},
		"no limit":            {nil, 1<<64 - 1, OpenFiles{1 << 20, 1 << 20}},
		"no right to more":    {map[string]string{status: "Name:\tsluice\nCapEff:\t000001fffeffffff", kernel: "2000000"}, 4096, OpenFiles{4096, 4096}},
		"a right to more":     {map[string]string{status: "Name:\tsluice\nCapEff:\t0000000001000000", kernel: "2000000"}, 4096, OpenFiles{4096, 2_000_000}},
		"more than there are": {map[string]string{kernel: "65536"}, 1 << 20, OpenFiles{65536, 65536}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := openFiles(machine(t, test.files), test.hard); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
	if here := OpenFilesHere(); here.Hard < 1 || here.Most < here.Hard {
		t.Errorf("here %+v", here)
	}
}
