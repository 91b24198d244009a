package nginx

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// identity names a process for good: a pid alone is used again.
type identity struct {
	PID int `json:"pid"`
	// Start is when it began, in clock ticks since the machine did.
	Start uint64 `json:"start"`
}

// procStat is a part of /proc/PID/stat.
// Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
type procStat struct {
	State         byte
	Parent, Group int
	Start         uint64
}

// readStat gives the zero value and false for a process that does not exist or
// has ended and waits only to be reaped.
func readStat(pid int) (procStat, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, false
	}
	// The name is in parentheses and may itself hold any byte.
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
	return s, s.State != 'Z' && s.State != 'X'
}

// identify gives the identity of a process that runs.
func identify(pid int) (identity, bool) {
	s, ok := readStat(pid)
	return identity{PID: pid, Start: s.Start}, ok
}

// running says whether that very process still runs.
func (id identity) running() bool {
	now, ok := identify(id.PID)
	return ok && now == id
}

// isNginx says whether a process is nginx by its arguments. nginx writes a title
// such as "nginx: worker process" over them. If a dynamic loader started it,
// the loader's own arguments stay before the title; and of a title that fills
// all the room, as a master's does, the kernel shows the loader's name only.
// Source: https://man7.org/linux/man-pages/man5/proc_pid_cmdline.5.html
func isNginx(pid int, command string) bool {
	arguments := strings.Split(commandLine(pid), "\x00")
	return command != "" && arguments[0] == command ||
		slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "nginx: ") })
}

// isEnding says whether a process has given its memory back, and with it its
// arguments, but may still hold its sockets: a large one takes a while.
func isEnding(pid int) bool { return commandLine(pid) == "" }

func commandLine(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(data)
}

// childrenOf gives the pids of the children, those that have ended but were
// not reaped yet included.
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

// membersOf gives the processes of a process group.
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

// activity is what a master does.
type activity int

const (
	unknown activity = iota
	busy
	idle
)

// activityOf says whether a master has done all that it was asked to by signal.
// nginx's master blocks its signals for as long as it works and unblocks them
// only while it sleeps in sigsuspend. So it is idle if and only if it sleeps
// with SIGHUP neither blocked nor pending.
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

// privateMemory is the memory of a process that it does not share by a file or
// by shared zones, in bytes; 0 where it is not known.
func privateMemory(pid int) int64 {
	number, _, _ := strings.Cut(statusOf(pid).field("RssAnon"), " ")
	kilobytes, _ := strconv.ParseInt(number, 10, 64)
	return kilobytes << 10
}

// procStatus is what /proc/PID/status says, empty where it cannot be read.
// Source: https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
type procStatus string

func statusOf(pid int) procStatus {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return ""
	}
	return procStatus(data)
}

// field gives the value of a field, empty for none. The name of the process, which may
// hold anything, has its line ends escaped.
func (s procStatus) field(name string) string {
	_, rest, _ := strings.Cut(string(s), "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}
