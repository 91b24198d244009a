package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ticks is the unit of times in /proc/PID/stat, the same on all Linux that Go
// runs on.
// Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
const ticks = 100

// cpu is processor time in seconds.
type cpu struct {
	controller, nginx float64
}

func (c cpu) sum() float64 { return c.controller + c.nginx }

func (c cpu) minus(o cpu) cpu {
	return cpu{controller: c.controller - o.controller, nginx: c.nginx - o.nginx}
}

// cpuOf adds up what a process and its descendants used. Children that ended
// are in their parent's figures. All but the process itself is nginx.
func cpuOf(pid int) cpu {
	own, reaped := times(pid)
	total := cpu{controller: own, nginx: reaped}
	for _, child := range descendants(pid) {
		own, reaped := times(child)
		total.nginx += own + reaped
	}
	return total
}

// nginxCPU is cpuOf for a master of nginx.
func nginxCPU(master int) float64 { return cpuOf(master).sum() }

// times gives what a process used itself, and what its children did that it has
// reaped, in seconds; 0 for a process that is gone.
func times(pid int) (own, reaped float64) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	at := func(i int) float64 { v, _ := strconv.ParseFloat(fields[i], 64); return v }
	return (at(11) + at(12)) / ticks, (at(13) + at(14)) / ticks
}

// descendants are the living children of a process, and theirs.
func descendants(pid int) []int {
	var found []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		data, _ := os.ReadFile(list)
		for field := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(append(found, child), descendants(child)...)
			}
		}
	}
	return found
}

// field reads a line of a file of /proc such as "Pss: 123 kB", in MB.
func field(path, name string) float64 {
	data, _ := os.ReadFile(path)
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kB, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kB * 1024 / 1e6
		}
	}
	return 0
}

// memory is in MB.
type memory struct {
	controller, nginx, sum float64
}

// sampler notes the peaks of memory until it is stopped.
type sampler struct {
	stop chan struct{}
	peak chan memory
}

// sample looks at a sluice and its nginx again and again. Pages that several
// processes share count once.
func sample(pid int) *sampler {
	return watchMemory(func() []int { return descendants(pid) }, pid)
}

// sampleNginx is sample for a master of nginx.
func sampleNginx(master int) *sampler {
	return watchMemory(func() []int { return append(descendants(master), master) }, 0)
}

// watchMemory looks at the processes of an nginx, and at a controller if there
// is one. The processes are read one after the other: a look during which one
// came or went counts what it shares twice, so it is not taken.
func watchMemory(nginx func() []int, controller int) *sampler {
	s := &sampler{stop: make(chan struct{}), peak: make(chan memory, 1)}
	go func() {
		var peak memory
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			before := nginx()
			now := look(before, controller)
			if slices.Equal(before, nginx()) {
				peak.controller, peak.nginx = max(peak.controller, now.controller), max(peak.nginx, now.nginx)
				peak.sum = max(peak.sum, now.controller+now.nginx)
			}
			select {
			case <-s.stop:
				s.peak <- peak
				return
			case <-tick.C:
			}
		}
	}()
	return s
}

func look(nginx []int, controller int) memory {
	var now memory
	for _, pid := range nginx {
		now.nginx += field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss")
	}
	if controller != 0 {
		now.controller = field(fmt.Sprintf("/proc/%d/status", controller), "VmRSS")
	}
	return now
}

// end gives the peaks.
func (s *sampler) end() memory {
	close(s.stop)
	return <-s.peak
}

// pin has a process, its threads and its descendants run on one processor, so
// that what is measured does not compete with what measures. On a machine with
// one processor there is nothing to choose.
func pin(pid, processor int) {
	var set unix.CPUSet
	set.Set(processor)
	for _, id := range append(descendants(pid), pid) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", id))
		for _, thread := range threads {
			if tid, err := strconv.Atoi(filepath.Base(thread)); err == nil {
				_ = unix.SchedSetaffinity(tid, &set)
			}
		}
	}
}
