package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"sluice/test/kit"
)

// unread starts a sluice whose standard error is a pipe, and stops reading it once
// it is ready: then the pipe is full. The file is the end to read from.
func unread(t *testing.T, root string, manifests map[string]string) (s *sluice, log *os.File) {
	t.Helper()
	s = prepare(t, root, manifests)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close(); writer.Close() })
	s.stderr = writer
	s.launch()
	s.waitReady()
	fill(t, writer)
	return s, reader
}

// fill leaves no room in a pipe. It opens it anew, as the other processes that
// write to it must not be told that it is full.
func fill(t *testing.T, pipe *os.File) {
	t.Helper()
	path := fmt.Sprintf("/proc/self/fd/%d", pipe.Fd())
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	for _, size := range []int{4096, 1} {
		for err = nil; err == nil; {
			_, err = syscall.Write(fd, bytes.Repeat([]byte("\n"), size))
		}
		if !errors.Is(err, syscall.EAGAIN) {
			t.Fatal(err)
		}
	}
}

// refusing gives manifests of a.example, whose path /refused leads to a port that
// nobody listens on: each request there is a line of nginx's error log.
func refusing(t *testing.T) map[string]string {
	t.Helper()
	manifests := oneHost(backend(t, "web"))
	nobody := backend(t, "nobody")
	nobody.Close()
	manifests["nobody.yaml"] = service("nobody", nobody) + ingress("b", "b.example", []string{"/ Prefix nobody"})
	return manifests
}

// TestNobodyReadsTheLog: the standard error is a pipe that is full. Requests are
// answered, also those that nginx logs errors of, changes are served, SIGTERM ends
// all, and what was said comes once somebody reads.
func TestNobodyReadsTheLog(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s, log := unread(t, root, refusing(t))
		for n := range 1000 {
			if a, err := s.get("http://b.example/"); err != nil || a.status != http.StatusBadGateway {
				t.Fatalf("request %d: status %d, error %v", n, a.status, err)
			}
		}
		changed := time.Now()
		s.write("c.yaml", ingress("c", "c.example", []string{"/ Prefix web"}, "no-such-annotation: x"))
		s.waitBackend("http://c.example/", "web")
		usual := time.Since(changed) // says how busy the machine is
		pids, began := s.processes(), time.Now()
		s.signal(syscall.SIGTERM)
		if code := s.ended(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if took := time.Since(began); took > 10*time.Second+10*usual {
			t.Errorf("it ended after %v, and a change was served after %v", took, usual)
		}
		gone(t, pids)
		log.Close()
	})
}

// TestTheReaderOfTheLogComesBack: what was said meanwhile is not lost.
func TestTheReaderOfTheLogComesBack(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s, log := unread(t, root, refusing(t))
		for range 10 {
			s.waitStatus("http://b.example/", http.StatusBadGateway)
		}
		s.write("c.yaml", ingress("c", "c.example", []string{"/ Prefix web"}))
		s.waitBackend("http://c.example/", "web")
		if err := log.SetReadDeadline(time.Now().Add(kit.Patience)); err != nil {
			t.Fatal(err)
		}
		var read []byte
		for buffer := make([]byte, 64<<10); bytes.Count(read, []byte("connect() failed")) < 10 || !bytes.Contains(read, []byte("hosts=[c.example]")); {
			n, err := log.Read(buffer)
			if err != nil {
				t.Fatalf("%v after\n%s", err, bytes.TrimSpace(read))
			}
			read = append(read, buffer[:n]...)
		}
	})
}

// TestTheReaderOfTheLogEnds: sluice serves on, and stops when it is asked to.
func TestTheReaderOfTheLogEnds(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		s, log := unread(t, root, refusing(t))
		log.Close()
		s.stderr.Close()
		for range 10 {
			s.waitStatus("http://b.example/", http.StatusBadGateway)
		}
		s.write("c.yaml", ingress("c", "c.example", []string{"/ Prefix web"}))
		s.waitBackend("http://c.example/", "web")
		pids := s.processes()
		s.signal(syscall.SIGTERM)
		if code := s.ended(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		gone(t, pids)
	})
}

// TestTheAccessLogIsReadAtTheEnd: the standard output is a socket, as systemd gives
// it, and its reader begins only when nginx has ended: no line is lost.
func TestTheAccessLogIsReadAtTheEnd(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		reader, writer := os.NewFile(uintptr(ends[0]), "reader"), os.NewFile(uintptr(ends[1]), "writer")
		defer reader.Close()
		s := prepare(t, root, oneHost(backend(t, "web")))
		s.stdout = writer
		s.launch()
		writer.Close()
		s.waitReady()
		s.waitBackend("http://a.example/", "web")
		const requests = 3000
		for n := range requests {
			if a, err := s.get(fmt.Sprintf("http://a.example/counted/%d", n)); err != nil || a.status != http.StatusOK {
				t.Fatalf("request %d: status %d, error %v", n, a.status, err)
			}
		}
		pids := s.processes()
		s.signal(syscall.SIGTERM)
		waitGone(t, pids)
		log, err := io.ReadAll(reader)
		if lines := bytes.Count(log, []byte("GET /counted/")); err != nil || lines != requests {
			t.Errorf("%d lines of %d arrived, error %v", lines, requests, err)
		}
		if code := s.ended(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}
