package nginx

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOnlyDeadSocketsAreCleared: a listening socket stays and notices nothing, and so
// does a bound one that does not listen yet.
func TestOnlyDeadSocketsAreCleared(t *testing.T) {
	t.Parallel()
	o := Options{StateDir: stateDir(t)}
	if err := os.Mkdir(o.path(socketDir), 0o700); err != nil {
		t.Fatal(err)
	}
	socket := func(name string) int {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err == nil {
			err = unix.Bind(fd, &unix.SockaddrUnix{Name: o.path(socketDir, name)})
		}
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	unix.Close(socket("dead.sock"))
	bound, live := socket("bound.sock"), socket("live.sock")
	defer unix.Close(bound)
	defer unix.Close(live)
	if err := unix.Listen(live, 8); err != nil {
		t.Fatal(err)
	}
	if err := (&Process{options: o}).clearDeadSockets(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(o.path(socketDir))
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if !slices.Equal(left, []string{"bound.sock", "live.sock"}) {
		t.Errorf("left are %q", left)
	}
	if _, _, err := unix.Accept(live); err != unix.EAGAIN {
		t.Errorf("somebody connected to the live one (error %v)", err)
	}
}
