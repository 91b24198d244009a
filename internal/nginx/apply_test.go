package nginx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// After Apply, every new connection gets the new file, even if that file was in force
// before.
func TestApply(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, address := s.started(), freeAddress(t)
		for _, text := range []string{"a", "b", "a", "a"} {
			result := s.apply(p, s.web(address, text))
			for range 20 {
				if got := get(t, address); got != text {
					t.Fatalf("got %q, want %q", got, text)
				}
			}
			if result.Live <= 0 || result.Settled < result.Live {
				t.Errorf("%+v", result)
			}
			t.Logf("nginx %s: live %v, settled %v", s.install.Version, result.Live.Round(time.Millisecond), result.Settled.Round(time.Millisecond))
		}
		if s.read(goodFile) != string(s.web(address, "a")) {
			t.Error("nginx.conf.good is not the last file")
		}
	})
}

// nginx -t does not run init_by_lua: its errors show only at the reload.
func TestApplyWithBrokenLua(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, init := s.started(), s.read("lua/init.lua")
		s.write("lua/init.lua", `error("broken")`)
		if err := p.Test(t.Context(), s.conf("", "")); err != nil {
			t.Errorf("nginx -t sees it now: %v", err)
		}
		refused := new(ReloadError)
		if _, err := p.Apply(t.Context(), s.conf("", "")); !errors.As(err, &refused) || !refused.RolledBack || !strings.Contains(refused.Text, "init_by_lua_file error: ") {
			t.Fatalf("got %v", err)
		}
		s.write("lua/init.lua", init)
		s.apply(p, s.conf("", ""))
	})
}

// The number of workers may change with the file: an old worker that answers
// does not know the new number.
func TestApplyChangesTheNumberOfWorkers(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.started()
		for _, n := range []int{4, 1} {
			conf := strings.Replace(string(s.conf("", "")), "worker_processes 2", fmt.Sprintf("worker_processes %d", n), 1)
			s.apply(p, Conf(conf))
			status, err := s.status(t.Context())
			if err != nil || len(status.Workers) != n {
				t.Errorf("%d workers, want %d (%v)", len(status.Workers), n, err)
			}
		}
	})
}

// refusedConfs look valid until the master loads them; the last two even pass `nginx
// -t`.
func refusedConfs(s *site, address, taken string) map[string]struct {
	conf Conf
	want string
} {
	silent := strings.Replace(string(s.web(address, "bad")), "init_worker_by_lua_file", "#", 1)
	return map[string]struct {
		conf Conf
		want string
	}{
		"syntax":               {s.conf("", "bad;"), `unknown directive "bad" in the file:`},
		"taken port":           {s.web(taken, "bad"), "bind() to " + taken + " failed (98: "},
		"workers that die":     {s.conf("working_directory /no/such/directory;", ""), `chdir("/no/such/directory") failed`},
		"workers not in sight": {Conf(silent), "the new workers did not register within"},
	}
}

func TestApplyRollsBack(t *testing.T) {
	for _, name := range []string{"syntax", "taken port", "workers that die", "workers not in sight"} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *site) {
				other, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer other.Close()
				if name == "workers not in sight" {
					s.options.ReloadTimeout = time.Second
				}
				p, address := s.started(), freeAddress(t)
				s.apply(p, s.web(address, "good"))
				test := refusedConfs(s, address, other.Addr().String())[name]
				began := time.Now()
				_, err = p.Apply(t.Context(), test.conf)
				t.Logf("refused after %v: %v", time.Since(began).Round(time.Millisecond), err)
				refused := new(ReloadError)
				if !errors.As(err, &refused) || !refused.RolledBack || !strings.Contains(refused.Text, test.want) {
					t.Fatalf("got %#v, want %q", err, test.want)
				}
				var unbound []UnboundPort
				if name == "taken port" {
					unbound = []UnboundPort{{other.Addr().(*net.TCPAddr).Port, syscall.EADDRINUSE}}
				}
				if got := UnboundPorts(err); !slices.Equal(got, unbound) {
					t.Errorf("nginx could not listen on %v, want %v", got, unbound)
				}
				if s.read(liveFile) != string(s.web(address, "good")) {
					t.Error("nginx.conf is not the last good file")
				}
				eventually(t, "the good file serves", func() bool { return get(t, address) == "good" })
				s.apply(p, s.web(address, "next"))
				if got := get(t, address); got != "next" {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// TestRefusedFileLeavesNoSocket: a file opens a unix socket and then cannot listen on a
// port in use. nginx leaves the dead socket behind, but later files can still use its
// path.
func TestRefusedFileLeavesNoSocket(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.started()
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		const server = "server { listen unix:%s/run/new.sock; listen %s; return 204; }"
		var failed *ReloadError
		if _, err := p.Apply(t.Context(), s.conf("", fmt.Sprintf(server, s.options.StateDir, taken.Addr()))); !errors.As(err, &failed) || !failed.RolledBack {
			t.Fatalf("a port that is taken: %v", err)
		}
		s.apply(p, s.conf("", fmt.Sprintf(server, s.options.StateDir, freeAddress(t))))
		s.apply(p, s.conf("", ""))
	})
}

// TestWorkersOfALargeFileThatDie: reading a large file may take long, here an hour. Its
// workers, which die of a signal and are restarted again and again, get no more time than
// others to come up.
func TestWorkersOfALargeFileThatDie(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, address := s.started(), freeAddress(t)
		s.apply(p, s.web(address, "good"))
		dying := regexp.MustCompile(`init_worker_by_lua_file [^;]*;`).ReplaceAllString(string(s.web(address, "bad")),
			`init_worker_by_lua_block { local ffi = require("ffi"); ffi.cdef("int raise(int signal);"); ffi.C.raise(9) }`)
		p.longestLoad = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		refused := new(ReloadError)
		if _, err := p.Apply(ctx, Conf(dying)); !errors.As(err, &refused) || !refused.RolledBack {
			t.Fatalf("got %v, want a refusal", err)
		}
		if got := get(t, address); got != "good" {
			t.Errorf("got %q", got)
		}
	})
}

func TestApplyAfterADeathWithinIt(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.started()
		real, asked, killed := p.status, 0, 0
		var before Status
		p.status = func(ctx context.Context) (Status, error) {
			if asked++; asked == 2 { // the first question after SIGHUP
				killed = p.Running()
				_ = unix.Kill(killed, unix.SIGKILL)
			}
			if killed != 0 && p.Running() == killed {
				return before, nil // its new workers may be up already, and did not say so yet
			}
			now, err := real(ctx)
			if asked == 1 {
				before = now
			}
			return now, err
		}
		refused := new(ReloadError)
		if _, err := p.Apply(t.Context(), s.conf("", "")); !errors.As(err, &refused) || refused.RolledBack {
			t.Errorf("got %v", err)
		}
		await(t, p, Died)
		await(t, p, Restarted)
		s.apply(p, s.conf("", ""))
	})
}

// interrupting is a file whose write is interrupted just before nginx has to load it.
type interrupting struct {
	io.WriterTo
	interrupt func()
}

func (i interrupting) WriteTo(w io.Writer) (int64, error) {
	i.interrupt()
	return i.WriterTo.WriteTo(w)
}

// The next reload completes an interrupted one.
func TestApplyInterrupted(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, address := s.started(), freeAddress(t)
		s.apply(p, s.web(address, "good"))
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := p.Apply(ctx, interrupting{s.web(address, "interrupted"), cancel}); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		refused := new(ReloadError)
		if _, err := p.Apply(t.Context(), s.conf("", "bad;")); !errors.As(err, &refused) || !refused.RolledBack {
			t.Fatalf("got %v", err)
		}
		eventually(t, "the last confirmed file serves again", func() bool { return get(t, address) == "good" })
	})
}

func TestDraining(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, address := s.started(), freeAddress(t)
		s.apply(p, s.holding(address))
		held := hold(t, address)
		s.apply(p, s.web(address, "new"))
		eventually(t, "one old worker holds its request", func() bool {
			serving, draining := p.Generations()
			return serving.Workers == 2 && len(draining) == 1 && draining[0].Workers == 1 && draining[0].Memory > 1<<20
		})
		s.write("release", "")
		if err := <-held; err != nil {
			t.Error(err)
		}
		eventually(t, "no worker drains", func() bool {
			_, draining := p.Generations()
			return len(draining) == 0
		})
	})
}

// The oldest generation is ended with its requests; later ones continue.
func TestEndOfAGeneration(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, address := s.started(), freeAddress(t)
		var held []<-chan error
		for range 2 {
			s.apply(p, s.holding(address))
			held = append(held, hold(t, address))
		}
		s.apply(p, s.web(address, "new"))
		serving, draining := p.Generations()
		if len(draining) != 2 || draining[0].Load >= draining[1].Load || draining[1].Load >= serving.Load {
			t.Fatalf("%v drain, %v serves", draining, serving)
		}
		p.End(draining[0])
		if err := <-held[0]; err == nil {
			t.Error("the oldest request was answered")
		}
		eventually(t, "the oldest generation has ended", func() bool {
			_, draining := p.Generations()
			return len(draining) == 1
		})
		s.write("release", "")
		if err := <-held[1]; err != nil {
			t.Errorf("the request of the generation after it: %v", err)
		}
		if got := get(t, address); got != "new" {
			t.Errorf("got %q", got)
		}
	})
}

func TestExternal(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		owner, address := s.started(), freeAddress(t)
		o := s.options
		o.PIDFile = o.path("nginx.pid")
		p := New(s.install, o, s.status)
		if err := p.Start(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if result := s.apply(p, s.web(address, "one")); result.Settled == 0 || get(t, address) != "one" {
			t.Errorf("%+v, %q", result, get(t, address))
		}
		refused := new(TestError)
		if _, err := p.Apply(t.Context(), s.conf("", "bad;")); !errors.As(err, &refused) {
			t.Errorf("got %v", err)
		}
		p.status = func(context.Context) (Status, error) { return Status{}, errors.New("deaf") }
		if result := s.apply(p, s.web(address, "two")); result != (Result{}) {
			t.Errorf("a reload that nobody confirms: %+v", result)
		}
		eventually(t, "the file is in force", func() bool { return get(t, address) == "two" })
		if err := p.Stop(t.Context(), 0); err != nil || owner.Running() == 0 {
			t.Errorf("another's nginx was stopped (%v)", err)
		}
	})
}

func TestExternalWithoutNginx(t *testing.T) {
	t.Parallel()
	s := newSite(t, Options{})
	s.options.PIDFile = s.options.path("other.pid")
	p := New(s.install, s.options, s.status)
	for text, want := range map[string]string{
		"1":       `want a process id (got "1")`,
		"seven":   `want a process id (got "seven")`,
		"4194304": "process 4194304, which " + s.options.PIDFile + " names, is not nginx",
	} {
		s.write("other.pid", text)
		if _, err := p.Apply(t.Context(), Conf(nil)); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// If a sandbox hides the master's state, its log has to suffice.
func TestGaveUp(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"2026/01/02 03:04:05 [emerg] 7#7: bind() to 0.0.0.0:80 failed (98: Address already in use)\n": false,
		"2026/01/02 03:04:05 [emerg] 7#7: still could not bind()\n":                                   true,
		"2026/01/02 03:04:05 [emerg] 7#7: unknown directive \"x\"\n":                                  true,
		"2026/01/02 03:04:05 [emerg] 7#7: unlink() \"/x.sock\" failed\n":                              false,
		"2026/01/02 03:04:05 [emerg] 8#8: a worker's\n":                                               false,
		"2026/01/02 03:04:05 [alert] 7#7: something else\n":                                           false,
	}
	for line, want := range tests {
		log := &errorLog{out: &recorder{}}
		log.note([]byte("2026/01/02 03:04:05 [emerg] 7#7: before the signal\n"))
		l := &reload{run: &run{identity: identity{PID: 7}, log: log}, mark: log.mark()}
		log.note([]byte(line))
		if got := l.gaveUp(); got != want {
			t.Errorf("%s: %t, want %t", line, got, want)
		}
	}
}
