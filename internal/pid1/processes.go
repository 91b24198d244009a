package pid1

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// process is one that runs. A pid alone is used again, so that its start goes
// with it.
type process struct {
	pid, parent, group, session int

	start string
}

// processes are those that run, as far as they can be seen: not those that have
// ended and wait to be reaped.
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

// lookAt reads /proc/PID/stat. The name in it is in parentheses and may itself
// hold any byte.
// Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
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

// running says whether that very process still runs.
func (p process) running() bool {
	now, runs := lookAt(p.pid)
	return runs && now.start == p.start
}

// runsNginx says whether a child of a controller runs that can be of its nginx:
// in the session of the controller, but in another process group, which is that
// of the master also for workers that have outlived it. Other orphans are children
// of the first process, too, but kubectl exec gives each command a session.
func (p process) runsNginx() bool {
	for _, other := range processes() {
		if other.parent == p.pid && other.session == p.session && other.group != p.group {
			return true
		}
	}
	return false
}

// isOurs says whether a process runs the same binary as this one, in the same
// container: one pod can show the processes of all its containers to each.
func (p process) isOurs() bool {
	return same(p.pid, "exe") && same(p.pid, "ns/mnt")
}

// same compares what a name below /proc/PID leads to with that of this process.
func same(pid int, name string) bool {
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return false
	}
	ours, err := os.Stat("/proc/self/" + name)
	return err == nil && os.SameFile(theirs, ours)
}

// arguments are those that a process was started with.
func (p process) arguments() []string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}

// others are the processes of this container that run this binary, with
// arguments that are wanted, without this one.
func others(wanted func(arguments []string) bool) []process {
	var found []process
	for _, p := range processes() {
		if p.pid != os.Getpid() && p.isOurs() && wanted(p.arguments()) {
			found = append(found, p)
		}
	}
	return found
}
