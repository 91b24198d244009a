package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// slowBackend answers after release is closed, and says when it was asked.
func slowBackend(t *testing.T) (server *httptest.Server, asked, release chan struct{}) {
	t.Helper()
	asked, release = make(chan struct{}, 16), make(chan struct{})
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `{"Backend": "slow"}`)
	}))
	t.Cleanup(server.Close)
	return server, asked, release
}

func (s *sluice) signal(signal syscall.Signal) {
	s.t.Helper()
	if err := s.Command.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
}

// ended waits for the end and gives the exit code.
func (s *sluice) ended() int {
	s.t.Helper()
	eventually(s.t, "sluice to end", s.Ended)
	return s.Command.ProcessState.ExitCode()
}

// TestStopLetsRequestsFinish: SIGTERM fails readiness at once, nginx serves on
// for the grace period, what is under way is answered, and the end is a success.
func TestStopLetsRequestsFinish(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		slow, asked, release := slowBackend(t)
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "slow.yaml": service("slow", slow),
			"a.yaml": ingress("a", "a.example", []string{"/slow Prefix slow", "/ Prefix web"}),
		}, "--shutdown-grace-period", "5", "--post-shutdown-grace-period", "60")
		s.waitBackend("http://a.example/", "web")
		pids := s.processes()
		answered := make(chan string, 1)
		go func() {
			a, err := s.get("http://a.example/slow")
			answered <- fmt.Sprintf("%d %s %v", a.status, a.backend, err)
		}()
		<-asked
		s.signal(syscall.SIGTERM)
		eventually(t, "readiness to fail", func() bool { return s.Ready() == http.StatusServiceUnavailable })
		if a, err := s.get("http://a.example/"); err != nil || a.backend != "web" {
			t.Errorf("within the grace period: status %d, error %v", a.status, err)
		}
		eventually(t, "nginx to stop accepting", func() bool {
			_, err := s.get("http://a.example/")
			return err != nil
		})
		close(release)
		if got := <-answered; got != "200 slow <nil>" {
			t.Errorf("the request under way got: %s", got)
		}
		if code := s.ended(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		gone(t, pids)
	})
}

// TestSecondSignalStopsAtOnce although a request is under way, and leaves
// nothing behind.
func TestSecondSignalStopsAtOnce(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		slow, asked, release := slowBackend(t)
		defer close(release)
		s := start(t, root, map[string]string{
			"class.yaml": class, "slow.yaml": service("slow", slow), "a.yaml": ingress("a", "a.example", []string{"/ Prefix slow"}),
		}, "--shutdown-grace-period", "3600", "--post-shutdown-grace-period", "3600")
		pids := s.processes()
		go func() { _, _ = s.get("http://a.example/") }()
		<-asked
		s.signal(syscall.SIGTERM)
		s.waitLine("msg=stopping")
		s.signal(syscall.SIGTERM)
		s.ended()
		gone(t, pids)
	})
}

// launchWithInput starts a sluice that reads its manifests from the standard
// input, and gives the end to write to.
func launchWithInput(t *testing.T, root string) (s *sluice, input *os.File) {
	t.Helper()
	s = prepare(t, root, nil)
	s.set("--manifests", "-")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writer.Close() })
	s.stdin = reader
	s.launch()
	reader.Close()
	return s, writer
}

// TestStopWhileStandardInputIsOpen: nobody ever ends the input.
func TestStopWhileStandardInputIsOpen(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s, _ := launchWithInput(t, root)
		s.waitLine("nginx started")
		pids := s.processes()
		s.signal(syscall.SIGTERM)
		if code := s.ended(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		gone(t, pids)
	})
}

// TestStandardInput serves what it says, and goes on after its end.
func TestStandardInput(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s, input := launchWithInput(t, root)
		_, err := io.WriteString(input, class+service("web", web)+ingress("a", "a.example", []string{"/ Prefix web"}))
		if err := errors.Join(err, input.Close()); err != nil {
			t.Fatal(err)
		}
		s.waitReady()
		s.waitBackend("http://a.example/", "web")
	})
}

// TestSecondSluiceInOneStateDir fails, and changes no file of the first.
func TestSecondSluiceInOneStateDir(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		first := start(t, root, oneHost(web))
		first.waitBackend("http://a.example/", "web")
		files := []string{"placeholder.key", "last-good.jsonl", "nginx.conf", "lua/sluice/balancer.lua"}
		before := map[string]os.FileInfo{}
		for _, name := range files {
			info, err := os.Stat(filepath.Join(first.State, name))
			if err != nil {
				t.Fatal(err)
			}
			before[name] = info
		}
		second := prepare(t, root, nil)
		second.set("--state-dir", first.State)
		fails(t, second, "--state-dir", "in use by another sluice")
		for _, name := range files {
			now, err := os.Stat(filepath.Join(first.State, name))
			if err != nil || !os.SameFile(before[name], now) || !now.ModTime().Equal(before[name].ModTime()) {
				t.Errorf("%s was written by the second sluice (error %v)", name, err)
			}
		}
		first.waitBackend("http://a.example/", "web")
	})
}
