package measure

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

// CPU is processor time in seconds.
type CPU struct {
	Controller, Nginx float64
}

// Sum is that of both.
func (c CPU) Sum() float64 { return c.Controller + c.Nginx }

// Plus adds what was used at another time.
func (c CPU) Plus(o CPU) CPU {
	return CPU{Controller: c.Controller + o.Controller, Nginx: c.Nginx + o.Nginx}
}

// Minus leaves what was used since an earlier look.
func (c CPU) Minus(o CPU) CPU {
	return CPU{Controller: c.Controller - o.Controller, Nginx: c.Nginx - o.Nginx}
}

// CPUOf adds up what a process and its descendants used. Children that ended
// are in their parent's figures. All but the process itself is nginx.
func CPUOf(pid int) CPU {
	own, reaped := times(pid)
	total := CPU{Controller: own, Nginx: reaped}
	for _, child := range Descendants(pid) {
		own, reaped := times(child)
		total.Nginx += own + reaped
	}
	return total
}

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

// Descendants are the living children of a process, and theirs.
func Descendants(pid int) []int {
	var found []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		data, _ := os.ReadFile(list)
		for field := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(append(found, child), Descendants(child)...)
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

// AtRest waits until a process and its descendants have no work left and gives
// what they used so far.
func AtRest(pid int) CPU {
	last, since := CPUOf(pid), time.Now()
	for time.Since(since) < 400*time.Millisecond {
		time.Sleep(50 * time.Millisecond)
		if now := CPUOf(pid); now.Sum() > last.Sum() {
			last, since = now, time.Now()
		}
	}
	return last
}

// Memory is in MB. All is that of both at one time.
type Memory struct {
	Controller, Nginx, All float64
}

// Sampler notes the peaks of memory until it is stopped.
type Sampler struct {
	stop chan struct{}
	peak chan Memory
}

// Peak is the most memory that a process ever had, in MB.
func Peak(pid int) float64 { return field(fmt.Sprintf("/proc/%d/status", pid), "VmHWM") }

// Sample looks at a sluice and its nginx again and again. Pages that several
// processes share count once.
func Sample(pid int) *Sampler { return SampleEvery(pid, often) }

// often is how often is looked where nothing is timed meanwhile.
const often = 20 * time.Millisecond

// SampleEvery is Sample with a pause of one's own between two looks, which cost
// time: to add up the pages of a big nginx takes its kernel tens of milliseconds.
func SampleEvery(pid int, pause time.Duration) *Sampler {
	return watchMemory(pause, func() []int { return Descendants(pid) }, pid)
}

// SampleNginx is Sample for a master of nginx.
func SampleNginx(master int) *Sampler {
	return watchMemory(often, func() []int { return append(Descendants(master), master) }, 0)
}

// watchMemory looks at the processes of an nginx, and at a controller if there
// is one. The processes are read one after the other: a look during which one
// came or went counts what it shares twice, so it is not taken.
func watchMemory(pause time.Duration, nginx func() []int, controller int) *Sampler {
	s := &Sampler{stop: make(chan struct{}), peak: make(chan Memory, 1)}
	go func() {
		var peak Memory
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			before := nginx()
			now := look(before, controller)
			if slices.Equal(before, nginx()) {
				peak.Controller, peak.Nginx, peak.All = max(peak.Controller, now.Controller), max(peak.Nginx, now.Nginx), max(peak.All, now.All)
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

func look(nginx []int, controller int) Memory {
	var now Memory
	for _, pid := range nginx {
		now.Nginx += field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss")
	}
	if controller != 0 {
		now.Controller = field(fmt.Sprintf("/proc/%d/status", controller), "VmRSS")
	}
	now.All = now.Controller + now.Nginx
	return now
}

// End stops looking, and gives the peaks.
func (s *Sampler) End() Memory {
	close(s.stop)
	return <-s.peak
}

// Pin has a process, its threads and its descendants run on one processor, so
// that what is measured does not compete with what measures. On a machine with
// one processor there is nothing to choose.
func Pin(pid, processor int) {
	var set unix.CPUSet
	set.Set(processor)
	for _, id := range append(Descendants(pid), pid) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", id))
		for _, thread := range threads {
			if tid, err := strconv.Atoi(filepath.Base(thread)); err == nil {
				_ = unix.SchedSetaffinity(tid, &set)
			}
		}
	}
}
