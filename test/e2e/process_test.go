package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sluice/test/kit"
)

// master is the process id of the nginx master of this sluice, 0 if none.
func (s *sluice) master() int {
	content, err := os.ReadFile(filepath.Join(s.State, "nginx.pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || !alive(pid) {
		return 0
	}
	return pid
}

// workers are the children of a master that go on.
func workers(master int) []int {
	return slices.DeleteFunc(kit.Children(master), func(pid int) bool { return !alive(pid) })
}

// processes are the nginx master of this sluice and its workers. One that was killed may not be back yet, though its
// workers still answer.
func (s *sluice) processes() []int {
	s.t.Helper()
	var master int
	eventually(s.t, "an nginx", func() bool {
		master = s.master()
		return master != 0
	})
	return append(workers(master), master)
}

// parentOf reads a /proc/PID/stat (proc(5): pid, name in brackets, state, ppid).
func parentOf(stat string) (pid, parent int) {
	content, err := os.ReadFile(stat)
	if err != nil {
		return 0, 0
	}
	_, rest, found := strings.Cut(string(content), ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 2 || fields[0] == "Z" {
		return 0, 0
	}
	pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(stat)))
	parent, _ = strconv.Atoi(fields[1])
	return pid, parent
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if pid == 0 { // all of the test's own group, see kill(2)
		t.Fatal("there is no process to kill")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

func alive(pid int) bool {
	_, parent := parentOf(fmt.Sprintf("/proc/%d/stat", pid))
	return parent != 0
}

// gone fails the test if a process goes on.
func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d goes on", pid)
		}
	}
}

// waitGone waits until none of some former processes goes on.
func waitGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("former process %d to end", pid), func() bool { return !alive(pid) })
	}
}

// crash is one way in which nginx may die.
type crash struct {
	name string
	kill func(t *testing.T, master int, workers []int)
}

func crashes() []crash {
	return []crash{
		{"master alone", func(t *testing.T, master int, _ []int) { kill(t, master) }},
		{"all processes", func(t *testing.T, master int, workers []int) {
			kill(t, master)
			for _, pid := range workers {
				kill(t, pid)
			}
		}},
		{"one worker", func(t *testing.T, _ int, workers []int) { kill(t, workers[0]) }},
	}
}

// TestNginxIsKilledAndComesBack kills nginx with SIGKILL. It must come back
// with endpoints and certificates, and no former worker may stay.
func TestNginxIsKilledAndComesBack(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		for _, crash := range crashes() {
			t.Run(crash.name, func(t *testing.T) {
				web := backend(t, "web")
				s := start(t, root, map[string]string{
					"class.yaml": class, "web.yaml": service("web", web),
					"ingress.yaml": ingress("shop", "shop.example", []string{"/ Prefix web"}),
				})
				s.waitBackend("http://shop.example/", "web")
				master := s.master()
				former := workers(master)
				if master == 0 || len(former) == 0 {
					t.Fatalf("no nginx found: master %d, workers %v", master, former)
				}
				crash.kill(t, master, former)
				killedWorker := crash.name == "one worker"
				eventually(t, "a new nginx", func() bool {
					now := s.master()
					return now != 0 && (now != master) != killedWorker && len(workers(now)) > 0
				})
				s.waitBackend("http://shop.example/", "web")
				if !killedWorker {
					waitGone(t, former)
				}
				s.write("ingress.yaml", ingress("shop", "shop.example", []string{"/new Prefix web"}))
				s.waitBackend("http://shop.example/new", "web")
				s.waitStatus("http://shop.example/", 404)
			})
		}
	})
}

// TestSluiceIsKilledAndComesBack kills sluice alone: nginx goes on serving, and
// the next sluice takes over.
func TestSluiceIsKilledAndComesBack(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"ingress.yaml": ingress("shop", "shop.example", []string{"/ Prefix web"}),
		})
		former := s.master()
		if err := s.Command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-s.Exited
		a, err := s.get("http://shop.example/")
		if err != nil || a.backend != "web" {
			t.Errorf("without sluice nginx no longer serves: %v, %v", a.status, err)
		}
		s.launch()
		s.waitReady()
		s.waitBackend("http://shop.example/", "web")
		eventually(t, "the former master to end", func() bool { return !alive(former) })
	})
}

// TestNothingStaysBehind stops sluice: no nginx process may go on.
func TestNothingStaysBehind(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s := start(t, root, map[string]string{"class.yaml": class})
		pids := s.processes()
		s.stop()
		gone(t, pids)
	})
}
