package kit

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStopKillsWhatGoesOn(t *testing.T) {
	t.Parallel()
	for name, attributes := range map[string]*syscall.SysProcAttr{"alone": nil, "as the leader of a group": {Setpgid: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.Command("sh", "-c", `trap "" TERM; echo began; exec sleep 60`)
			command.SysProcAttr = attributes
			log := Log(filepath.Join(t.TempDir(), "log"))
			p := Start(t, command, log)
			Await(t, "the trap", func() bool { return strings.Contains(log.Text(t), "began") })
			if p.Ended() {
				t.Fatalf("it ended by itself: %v", p.Err)
			}
			p.Stop(syscall.SIGTERM, 50*time.Millisecond)
			p.Stop(syscall.SIGTERM, time.Minute)
			if status := command.ProcessState.Sys().(syscall.WaitStatus); !p.Ended() || status.Signal() != syscall.SIGKILL {
				t.Errorf("ended %t, %v", p.Ended(), p.Err)
			}
		})
	}
}

func TestLinesOfLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	Replace(t, path, "one a\ntwo\nthree a\nfour a that is being wr")
	if got := Log(path).Lines(t, "a"); !slices.Equal(got, []string{"one a", "three a"}) {
		t.Errorf("got %q", got)
	}
	if got := Tail(Log(path).Lines(t, ""), 2); got != "two\nthree a" {
		t.Errorf("got %q", got)
	}
}

// TestReloads: one that has begun is waited for, one that failed or whose controller ended is not.
func TestReloads(t *testing.T) {
	t.Parallel()
	const began, ended = "[notice] 1#1: signal 1 (SIGHUP) received from 2, reconfiguring", `level=INFO msg=sync took=3ms reload=true changed=1`
	for _, test := range []struct {
		lines []string
		count int
		busy  bool
	}{
		{nil, 0, false},
		{[]string{began, ended, "msg=sync took=1ms reload=false"}, 1, false},
		{[]string{began, ended, began}, 1, true},
		{[]string{began, `msg="sync failed; nginx keeps its configuration" reload=true`, began, ended}, 1, false},
		{[]string{began, `msg="nginx found" version=1.26.3`}, 0, false},
	} {
		if count, busy := countReloads(test.lines); count != test.count || busy != test.busy {
			t.Errorf("%q: %d, %t, want %d, %t", test.lines, count, busy, test.count, test.busy)
		}
	}
}

func TestPauseGrows(t *testing.T) {
	t.Parallel()
	for since, want := range map[time.Duration]time.Duration{0: 5 * time.Millisecond, 800 * time.Millisecond: 20 * time.Millisecond, time.Hour: 40 * time.Millisecond} {
		if got := Pause(time.Now().Add(-since), 5*time.Millisecond); got.Round(5*time.Millisecond) != want {
			t.Errorf("after %s: %s, want %s", since, got, want)
		}
	}
}

func TestChildren(t *testing.T) {
	t.Parallel()
	command := exec.Command("sh", "-c", "sleep 60 & sleep 60 & wait")
	p := Start(t, command, Log(filepath.Join(t.TempDir(), "log")))
	var children []int
	Await(t, "two children", func() bool { children = Children(p.PID()); return len(children) == 2 })
	for _, pid := range children {
		if len(Children(pid)) > 0 {
			t.Errorf("the child %d has children", pid)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	p.Stop(syscall.SIGKILL, Patience)
	if got := Children(p.PID()); len(got) > 0 {
		t.Errorf("who has ended has the children %d", got)
	}
}
