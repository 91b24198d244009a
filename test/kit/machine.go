package kit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

// StateDir makes a state directory. Its path is short, because that of a unix
// socket may have 107 bytes, and the user of nginx's workers may pass it, unlike
// that of t.TempDir.
func StateDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "slc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Replace puts a file in place whole, as editors do: a new one renamed over the
// old. No manifest is read under the name that it has before.
func Replace(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path+".part~", []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".part~", path); err != nil {
		t.Fatal(err)
	}
}

// The ports that are given out.
const (
	lowestPort = 10_000
	portCount  = 22_000
)

// Where this process begins, and how many ports it has looked at.
var (
	firstPort  = rand.IntN(portCount)
	portsTried atomic.Int64
)

// Port gives a port that nobody listens on, at any address. Three things keep
// others from taking it before it is used:
//
//   - It is below those that the kernel gives to outgoing connections and to
//     listeners that ask for any port, from 32768 on as a rule: one of these
//     would keep nginx from listening. Source: ip(7), ip_local_port_range.
//   - It is given out only once. nginx listens with reuseport, so two of them on
//     one port would not fail but share the requests.
//   - Other test processes, which may run at the same time, begin elsewhere by
//     chance and go upwards from there, so that two hardly ever look at the same
//     port at the same moment.
func Port(t testing.TB) int {
	t.Helper()
	for {
		n := portsTried.Add(1)
		if n > portCount {
			t.Fatal("no free port is left")
		}
		port := lowestPort + (firstPort+int(n))%portCount
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			listener.Close()
			return port
		}
	}
}
