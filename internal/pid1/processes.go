package pid1

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// process identifies a running process by its pid and start time, because pids are
// reused.
type process struct {
	pid, parent, group, session int

	start string
}

// processes returns the visible running processes, without zombies.
func processes() []process {
	entries, _ := os.ReadDir("/proc")
	var found []process
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if p, runs := lookAt(pid); runs {
				found = append(found, p)
			}
		}
	}
	return found
}

// lookAt reads /proc/PID/stat. The name in it is in parentheses and can contain any
// byte. Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func lookAt(pid int) (p process, runs bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || bytes.ContainsAny(fields[0], "ZX") {
		return process{}, false
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	group, _ := strconv.Atoi(string(fields[2]))
	session, _ := strconv.Atoi(string(fields[3]))
	return process{pid: pid, parent: parent, group: group, session: session, start: string(fields[19])}, true
}

// running reports whether this process still runs.
func (p process) running() bool {
	now, runs := lookAt(p.pid)
	return runs && now.start == p.start
}

// runsNginx reports whether an nginx of this controller runs: a child in the session
// of the controller but in another process group. Workers that outlive their master
// keep that group. Other orphans are children of the first process too, but kubectl
// exec gives each command its own session.
func (p process) runsNginx() bool {
	for _, other := range processes() {
		if other.parent == p.pid && other.session == p.session && other.group != p.group {
			return true
		}
	}
	return false
}

// isOurs reports whether a process runs the same binary in the same container. The
// containers of a pod can share a pid namespace.
func (p process) isOurs() bool {
	return same(p.pid, "exe") && same(p.pid, "ns/mnt")
}

// same compares the target of a link below /proc/PID with that of this process.
func same(pid int, name string) bool {
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return false
	}
	ours, err := os.Stat("/proc/self/" + name)
	return err == nil && os.SameFile(theirs, ours)
}

// arguments are the arguments of a process.
func (p process) arguments() []string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}

// others returns the other processes of this container that run this binary with
// wanted arguments.
func others(wanted func(arguments []string) bool) []process {
	var found []process
	for _, p := range processes() {
		if p.pid != os.Getpid() && p.isOurs() && wanted(p.arguments()) {
			found = append(found, p)
		}
	}
	return found
}
