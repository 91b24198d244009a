package e2e

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// smallDisk makes the state directory a file system of a few megabytes. Who may
// not mount one skips the test.
func (s *sluice) smallDisk() {
	s.t.Helper()
	err := syscall.Mount("tmpfs", s.State, "tmpfs", 0, "size=8m,mode=711")
	if errors.Is(err, syscall.EPERM) {
		s.t.Skip("no permission to mount a file system")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	state := s.State
	s.t.Cleanup(func() {
		s.stop()
		if err := syscall.Unmount(state, syscall.MNT_DETACH); err != nil {
			s.t.Error(err)
		}
	})
}

// fillDisk leaves no byte, and gives what makes room again.
func (s *sluice) fillDisk() (free func()) {
	s.t.Helper()
	path := filepath.Join(s.State, "filler")
	f, err := os.Create(path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		s.t.Fatalf("the disk is not full: %v", err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			s.t.Fatal(err)
		}
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestNginxIsKilledWhileTheDiskIsFull: it comes back with what it ran last, and
// what came meanwhile is served once there is room.
func TestNginxIsKilledWhileTheDiskIsFull(t *testing.T) {
	kills := map[string]func(s *sluice) []int{
		"master alone": func(s *sluice) []int { return []int{s.master()} },
		"all":          func(s *sluice) []int { return s.processes() },
	}
	for name, victims := range kills {
		t.Run(name, func(t *testing.T) {
			oneNginx(t, func(t *testing.T, root string) {
				s := prepare(t, root, oneHost(backend(t, "web")))
				s.smallDisk()
				s.launch()
				s.waitReady()
				s.waitBackend("http://a.example/", "web")
				free := s.fillDisk()
				for range 2 {
					former := s.master()
					for _, pid := range victims(s) {
						kill(t, pid)
					}
					eventually(t, "another master", func() bool { now := s.master(); return now != 0 && now != former })
					s.waitBackend("http://a.example/", "web")
					s.waitReady()
					// From now on there is a change that cannot be written.
					s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
					s.waitLine("no space left on device")
				}
				free()
				s.waitBackend("http://b.example/", "web")
			})
		})
	}
}
