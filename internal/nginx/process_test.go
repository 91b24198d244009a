package nginx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestStartAndStop(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.started()
		master := p.Running()
		status, err := s.status(t.Context())
		if err != nil || status.Load != 1 || len(status.Workers) != 2 {
			t.Errorf("status %v, %v; want two workers of load 1", status, err)
		}
		if err := p.Start(t.Context(), nil); err == nil {
			t.Error("started twice")
		}
		if err := p.Stop(t.Context(), patience); err != nil {
			t.Fatal(err)
		}
		if p.Running() != 0 || len(membersOf(master)) != 0 {
			t.Errorf("left: %v", membersOf(master))
		}
		if left := s.entries("run"); len(left) != 0 {
			t.Errorf("sockets are left: %q", left)
		}
		if _, err := p.Apply(t.Context(), s.conf("", "")); !errors.Is(err, ErrNotRunning) {
			t.Errorf("Apply after Stop: %v", err)
		}
	})
}

func TestStartFails(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.process()
		err := p.Start(t.Context(), s.conf("", "bad 1;"))
		if err == nil || !strings.Contains(err.Error(), `nginx did not start: unknown directive "bad"`) {
			t.Fatalf("got %v", err)
		}
		if err := p.Start(t.Context(), s.conf("", "")); err != nil {
			t.Errorf("a second try: %v", err)
		}
	})
}

// slowly is a log with a slow reader.
type slowly struct{ io.Writer }

func (w slowly) Write(line []byte) (int, error) {
	time.Sleep(200 * time.Millisecond)
	return w.Writer.Write(line)
}

// TestReasonOfAStartIsWaitedFor: Start returns nginx's message even if its log is read
// late, as on a busy machine.
func TestReasonOfAStartIsWaitedFor(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.options.Stderr = slowly{s.log}
		err := s.process().Start(t.Context(), s.conf("", "gzip_types text/html; bad 1;"))
		if err == nil || !strings.Contains(err.Error(), `nginx did not start: unknown directive "bad"`) {
			t.Errorf("got %v", err)
		}
	})
}

// TestMasterThatLooksLikeSomethingElseEnds: a script as the nginx binary, which never
// registers and whose process shows another command than the recorded one.
func TestMasterThatLooksLikeSomethingElseEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t, Options{ReloadTimeout: 300 * time.Millisecond})
	s.write("other", "#!/bin/sh\nsleep 600 &\nexec sleep 601\n")
	if err := os.Chmod(s.options.path("other"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := New(s.install, s.options, s.status)
	p.install.argv = []string{s.options.path("other")}
	started := make(chan error, 1)
	go func() { started <- p.Start(context.Background(), s.conf("", "")) }()
	select {
	case err := <-started:
		if err == nil {
			t.Error("it started")
		}
	case <-time.After(patience):
		t.Error("Start waits for ever")
	}
	group := p.currentRun().PID
	defer func() {
		if len(membersOf(group)) > 0 {
			_ = unix.Kill(-group, unix.SIGKILL)
		}
	}()
	eventually(t, "the end of its processes", func() bool { return len(membersOf(group)) == 0 })
}

func TestStateDirectoryIsLocked(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		first := s.started()
		second := New(s.install, s.options, s.status)
		err := second.Start(t.Context(), s.conf("", ""))
		if want := "state directory " + s.options.StateDir + " is in use by another sluice: choose another one"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if first.Running() == 0 {
			t.Error("the first nginx was ended")
		}
	})
}

// Neither the service-account token nor anything else of our environment may reach
// nginx, and no core dump may contain keys.
func TestNginxGetsNothingOfOurs(t *testing.T) {
	t.Setenv("SLUICE_TEST_SECRET", "secret")
	t.Setenv("TZ", "Asia/Tokyo")
	s := newSite(t, Options{})
	s.write("lua/init.lua", `ngx.log(ngx.ERR, "TZ=", os.getenv("TZ"), " secret=", os.getenv("SLUICE_TEST_SECRET"))`+"\n"+s.read("lua/init.lua"))
	master := s.started().Running()
	if !strings.Contains(s.log.String(), "TZ=Asia/Tokyo secret=nil") {
		t.Error("the environment is not what it should be")
	}
	for _, pid := range append(childrenOf(master), master) {
		limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
		if err != nil || !strings.Contains(string(limits), "\nMax core file size        0                    0 ") {
			t.Errorf("limits of %d: %s (%v)", pid, limits, err)
		}
	}
}

func TestStopLetsRequestsEnd(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, address := s.started(), freeAddress(t)
		s.apply(p, s.holding(address))
		held := hold(t, address)
		stopped := make(chan error, 1)
		go func() { stopped <- p.Stop(context.Background(), patience) }()
		eventually(t, "the port is closed", func() bool {
			_, err := http.Get("http://" + address)
			return err != nil
		})
		if p.Running() == 0 {
			t.Error("nginx ended before the request")
		}
		s.write("release", "")
		if err := errors.Join(<-held, <-stopped); err != nil {
			t.Error(err)
		}
	})
}

func TestStopEndsByForce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, address := s.started(), freeAddress(t)
		s.apply(p, s.holding(address))
		held, master := hold(t, address), p.Running()
		if err := p.Stop(t.Context(), 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if err := <-held; err == nil {
			t.Error("the request was answered")
		}
		if left := membersOf(master); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// hold makes a request that lasts until the file "release" exists. It returns once
// nginx handles the request; the channel returns the result.
func hold(t *testing.T, address string) <-chan error {
	t.Helper()
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		defer response.Body.Close()
		_, err := io.Copy(io.Discard, response.Body)
		done <- err
	}()
	return done
}

func TestRestart(t *testing.T) {
	kills := map[string]func(master int){
		// Its orphan workers go on serving and hold the ports.
		"master alone": func(master int) { _ = unix.Kill(master, unix.SIGKILL) },
		// Its unix sockets stay behind.
		"all": func(master int) {
			for _, pid := range append(childrenOf(master), master) {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		},
	}
	for name, kill := range kills {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *site) {
				p, address := s.started(), freeAddress(t)
				s.apply(p, s.web(address, "before"))
				master, workers := p.Running(), childrenOf(p.Running())
				kill(master)
				await(t, p, Died)
				await(t, p, Restarted)
				for _, pid := range workers {
					if stat, ok := readStat(pid); ok && stat.Group == master {
						t.Errorf("worker %d is left", pid)
					}
				}
				if _, err := http.Get("http://" + address); err == nil {
					t.Error("the bootstrap file does not serve this port, somebody does")
				}
				if s.read(liveFile) != string(s.conf("", "")) {
					t.Error("nginx.conf is not the bootstrap file")
				}
				s.apply(p, s.web(address, "after"))
				if got := get(t, address); got != "after" {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// abandon simulates a crash of ours: nothing is stopped, and the kernel releases the
// lock.
func abandon(t *testing.T, p *Process) {
	t.Helper()
	p.end()
	<-p.finished
	if err := p.unlockState(); err != nil {
		t.Fatal(err)
	}
}

func TestStartTakesOver(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		former, address := New(s.install, s.options, s.status), freeAddress(t)
		if err := former.Start(t.Context(), s.conf("", "")); err != nil {
			t.Fatal(err)
		}
		s.apply(former, s.web(address, "former"))
		abandon(t, former)
		if got := get(t, address); got != "former" {
			t.Errorf("nginx does not outlive us: %q", got)
		}
		s.write("temp/auth_cache_gone", "")
		p := s.started()
		if _, err := os.Stat(s.options.path("temp/auth_cache_gone")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a cache is left: %v", err)
		}
		if left := membersOf(former.currentRun().PID); len(left) != 0 {
			t.Errorf("former processes are left: %v", left)
		}
		s.apply(p, s.web(address, "new"))
		if got := get(t, address); got != "new" {
			t.Errorf("got %q", got)
		}
	})
}

func TestStartTakesOverOrphans(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		former, address := New(s.install, s.options, s.status), freeAddress(t)
		if err := former.Start(t.Context(), s.conf("", "")); err != nil {
			t.Fatal(err)
		}
		s.apply(former, s.web(address, "former"))
		abandon(t, former)
		if err := former.currentRun().signal(unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-former.currentRun().done
		if got := get(t, address); got != "former" {
			t.Errorf("orphans do not serve: %q", got)
		}
		s.apply(s.started(), s.web(address, "new"))
		if got := get(t, address); got != "new" {
			t.Errorf("got %q", got)
		}
	})
}

// A process that has reused a recorded pid must survive.
func TestTakeoverSparesOthers(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.started()
		right := p.recordOf(p.currentRun())
		if got := len(former(right)); got != 3 {
			t.Fatalf("%d processes match the right record, want 3", got)
		}
		wrong := record{Boot: right.Boot, Command: right.Command, Master: identity{right.Master.PID, right.Master.Start - 1}}
		for _, id := range right.Workers {
			wrong.Workers = append(wrong.Workers, identity{id.PID, id.Start + 1})
		}
		self, _ := identify(os.Getpid())
		wrong.Workers = append(wrong.Workers, self) // the very process, but no nginx
		if found := former(wrong); len(found) != 0 {
			t.Errorf("these would be ended: %v", found)
		}
	})
}

func TestRecordOfAnotherBootIsPassedOver(t *testing.T) {
	t.Parallel()
	p := New(Install{}, Options{StateDir: stateDir(t)}, nil)
	for _, text := range []string{`{"boot":"other","master":{"pid":7,"start":7}}`, `{`, ``} {
		if err := os.WriteFile(p.options.path(recordFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := p.readRecord(); got.Master.PID != 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	var b backoff
	var got []time.Duration
	for range 10 {
		got = append(got, b.after(0)/time.Millisecond)
	}
	if want := []time.Duration{0, 100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
	if got := b.after(time.Minute); got != 0 {
		t.Errorf("after a minute: %v", got)
	}
}
