package nginx

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// identity identifies a process uniquely; pids are reused.
type identity struct {
	PID int `json:"pid"`
	// Start is the start time in clock ticks since boot.
	Start uint64 `json:"start"`
}

// procStat is a part of /proc/PID/stat.
// Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
type procStat struct {
	State         byte
	Parent, Group int
	Start         uint64
	// CPU is the processor time that it has used.
	CPU time.Duration
}

// readStat reads /proc/PID/stat. It returns false for a process that does not exist
// or is a zombie.
func readStat(pid int) (procStat, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, false
	}
	// The name is in parentheses and can contain any byte.
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return procStat{}, false
	}
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) < 20 {
		return procStat{}, false
	}
	s := procStat{State: fields[0][0]}
	s.Parent, _ = strconv.Atoi(fields[1])
	s.Group, _ = strconv.Atoi(fields[2])
	s.Start, _ = strconv.ParseUint(fields[19], 10, 64)
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	s.CPU = time.Duration(user+system) * time.Second / userHZ
	return s, s.State != 'Z' && s.State != 'X'
}

// identify returns the identity of a running process.
func identify(pid int) (identity, bool) {
	s, ok := readStat(pid)
	return identity{PID: pid, Start: s.Start}, ok
}

// running reports whether this process still runs.
func (id identity) running() bool {
	now, ok := identify(id.PID)
	return ok && now == id
}

// isNginx reports whether the arguments of a process are those of nginx. nginx
// overwrites them with a title such as "nginx: worker process". If a dynamic loader
// started it, the loader's own arguments stay before the title. If the title fills
// the whole space, as that of a master does, the kernel shows the loader's name only.
// Source: https://man7.org/linux/man-pages/man5/proc_pid_cmdline.5.html
func isNginx(pid int, command string) bool {
	arguments := strings.Split(commandLine(pid), "\x00")
	return command != "" && arguments[0] == command ||
		slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "nginx: ") })
}

// isEnding reports whether a process has released its memory, including its
// arguments. It can still hold its sockets, because the end of a large process takes
// a while.
func isEnding(pid int) bool { return commandLine(pid) == "" }

func commandLine(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(data)
}

// childrenOf returns the pids of the children, including zombies.
func childrenOf(pid int) []int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return scan(func(s procStat) bool { return s.Parent == pid })
	}
	var pids []int
	for field := range strings.FieldsSeq(string(data)) {
		if n, err := strconv.Atoi(field); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}

// membersOf returns the processes of a process group.
func membersOf(group int) []int {
	return scan(func(s procStat) bool { return s.Group == group })
}

func scan(wanted func(procStat) bool) []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, ok := readStat(pid); ok && wanted(s) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// activity is the state of a master.
type activity int

const (
	unknown activity = iota
	busy
	idle
)

// activityOf reports whether a master has handled all signals. nginx's master blocks
// its signals while it works, and unblocks them only while it sleeps in sigsuspend.
// So it is idle if and only if it sleeps with SIGHUP neither blocked nor pending.
// Source: ngx_master_process_cycle in src/os/unix/ngx_process_cycle.c
func activityOf(master int) activity {
	status := statusOf(master)
	state, blocked := status.field("State"), status.field("SigBlk")
	if state == "" || blocked == "" {
		return unknown
	}
	if state[0] != 'S' || hasSignal(blocked) || hasSignal(status.field("SigPnd")) || hasSignal(status.field("ShdPnd")) {
		return busy
	}
	return idle
}

func hasSignal(mask string) bool {
	bits, err := strconv.ParseUint(mask, 16, 64)
	return err != nil || bits&(1<<(uint(unix.SIGHUP)-1)) != 0
}

// privateMemory is the memory of a process, in bytes, without memory shared through
// files or shared zones; 0 if unknown.
func privateMemory(pid int) int64 {
	number, _, _ := strings.Cut(statusOf(pid).field("RssAnon"), " ")
	kilobytes, _ := strconv.ParseInt(number, 10, 64)
	return kilobytes << 10
}

// procStatus is the content of /proc/PID/status, empty if it cannot be read. Source:
// https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
type procStatus string

func statusOf(pid int) procStatus {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return ""
	}
	return procStatus(data)
}

// field returns the value of a field, empty if missing. The process name can contain
// anything, but its line ends are escaped.
func (s procStatus) field(name string) string {
	_, rest, _ := strings.Cut(string(s), "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}
