package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// awaitSwap waits until another nginx.conf is in place: a reload is under way.
func (s *sluice) awaitSwap(before os.FileInfo) {
	s.t.Helper()
	eventually(s.t, "another nginx.conf", func() bool { return !os.SameFile(before, s.live()) })
}

// live is the file that nginx reads.
func (s *sluice) live() os.FileInfo {
	s.t.Helper()
	info, err := os.Stat(filepath.Join(s.State, "nginx.conf"))
	if err != nil {
		s.t.Fatal(err)
	}
	return info
}

// watchStatus asks a URL until the test ends and keeps the first status other
// than 200. Connections that are refused are no fault: nginx is killed.
func (s *sluice) watchStatus(url string) *atomic.Int64 {
	var wrong atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if a, err := s.get(url); err == nil && a.status != http.StatusOK {
				wrong.CompareAndSwap(0, int64(a.status))
			}
		}
	}()
	s.t.Cleanup(func() { close(stop); <-done })
	return &wrong
}

// TestNginxIsKilledDuringReload: the new file is in place and nginx dies before
// it is confirmed. It comes back with it, and the first request that is
// answered finds its endpoints.
func TestNginxIsKilledDuringReload(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "steady.yaml": ingress("steady", "steady.example", []string{"/ Prefix web"}),
		})
		s.waitBackend("http://steady.example/", "web")
		wrong := s.watchStatus("http://steady.example/")
		for i := range 5 {
			former, before := s.processes(), s.live()
			master := former[len(former)-1]
			s.write("b.yaml", ingress("b", "b.example", []string{fmt.Sprintf("/v%d Prefix web", i)}))
			s.awaitSwap(before)
			kill(t, master)
			s.waitBackend(fmt.Sprintf("http://b.example/v%d", i), "web")
			s.waitBackend("http://steady.example/", "web")
			waitGone(t, former)
		}
		if status := wrong.Load(); status != 0 {
			t.Errorf("a request was answered with %d while nginx came back", status)
		}
	})
}

// TestSluiceIsKilledDuringReload: whichever file nginx took, the next sluice
// brings it to where the manifests are.
func TestSluiceIsKilledDuringReload(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "a.yaml": ingress("a", "a.example", []string{"/one Prefix web"}),
		})
		s.waitBackend("http://a.example/one", "web")
		before := s.live()
		s.write("a.yaml", ingress("a", "a.example", []string{"/two Prefix web"}))
		s.awaitSwap(before)
		s.signal(syscall.SIGKILL)
		<-s.Exited
		s.launch()
		s.waitReady()
		s.waitBackend("http://a.example/two", "web")
		s.waitStatus("http://a.example/one", 404)
	})
}

// TestSluiceIsKilledInQuarantine and comes back: the last good form is served
// before and after, and others change.
func TestSluiceIsKilledInQuarantine(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"a.yaml": ingress("a", "a.example", []string{"/good Prefix web"}), "b.yaml": ingress("b", "b.example", []string{"/one Prefix web"}),
		})
		s.waitBackend("http://a.example/good", "web")
		s.write("a.yaml", bad("a", "a.example"))
		s.waitLine("reason=Refused")
		s.signal(syscall.SIGKILL)
		<-s.Exited
		if a, err := s.get("http://a.example/good"); err != nil || a.backend != "web" {
			t.Errorf("without sluice: status %d, error %v", a.status, err)
		}
		s.write("b.yaml", ingress("b", "b.example", []string{"/two Prefix web"}))
		s.launch()
		s.waitReady()
		s.waitBackend("http://a.example/good", "web")
		s.waitBackend("http://b.example/two", "web")
		s.write("a.yaml", ingress("a", "a.example", []string{"/mended Prefix web"}))
		s.waitBackend("http://a.example/mended", "web")
	})
}

// TestNotReadyWhileNothingIsServed: nginx died, and its port was taken before
// it came back.
func TestNotReadyWhileNothingIsServed(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, oneHost(web))
		s.waitBackend("http://a.example/", "web")
		for _, pid := range s.processes() {
			kill(t, pid)
		}
		var taken net.Listener
		eventually(t, "the port to be free", func() (ok bool) {
			var err error
			taken, err = net.Listen("tcp", fmt.Sprintf(":%d", s.HTTP))
			return err == nil
		})
		eventually(t, "readiness to fail", func() bool { return s.Ready() == http.StatusServiceUnavailable })
		if spam := s.lines("not pushed"); len(spam) > 1 {
			t.Errorf("%d lines of errors about pushes", len(spam))
		}
		taken.Close()
		s.waitReady()
		s.waitBackend("http://a.example/", "web")
	})
}
