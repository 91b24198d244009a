// Package ports gives tests ports to listen on. Tests that run at the same time
// never get the same one, whatever test binary they are in.
//
//	address := fmt.Sprintf("127.0.0.1:%d", ports.Take(t))
//
// The ports are divided into blocks. A process reserves a block by listening on
// an abstract unix socket named after it. The kernel allows one such listener in
// a network namespace, which is also what a port belongs to, and releases the
// name when the process ends, however it ends. Source: unix(7).
package ports

import (
	"fmt"
	"net"
	"sync"
	"testing"
)

// The ports that are given out, lowest up to lowest+count-1. They are below those
// that the kernel gives to outgoing connections and to listeners that ask for any
// port, from 32768 on unless an administrator changed that. Source: ip(7),
// ip_local_port_range.
const (
	lowest    = 10_000
	count     = 22_000
	blockSize = 200
)

// taken is what this process has reserved.
var taken struct {
	sync.Mutex
	// next is the next port to look at, end the end of its block.
	next, end int
	// block is the next block to try.
	block int
	// reservations are kept open until the process ends.
	reservations []net.Listener
}

// Take gives a port on which nobody listens, at any address, by TCP or UDP. It
// gives each port only once: nginx listens with reuseport, so a second nginx on
// one port would not fail but share its requests.
func Take(t testing.TB) int {
	t.Helper()
	taken.Lock()
	defer taken.Unlock()
	for {
		if taken.next == taken.end {
			reserve(t)
		}
		port := taken.next
		taken.next++
		if free(port) {
			return port
		}
	}
}

// reserve takes the next block that no other process has.
func reserve(t testing.TB) {
	t.Helper()
	for ; taken.block < count/blockSize; taken.block++ {
		start := lowest + taken.block*blockSize
		reservation, err := net.Listen("unix", fmt.Sprintf("@sluice-test-ports-%d", start))
		if err != nil {
			continue
		}
		taken.reservations = append(taken.reservations, reservation)
		taken.next, taken.end = start, start+blockSize
		taken.block++
		return
	}
	t.Fatal("every block of ports is reserved by a test that runs")
}

// free says whether nobody listens on a port. A program that is no test may do so,
// or an nginx that outlived its test.
func free(port int) bool {
	address := fmt.Sprintf(":%d", port)
	stream, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	defer stream.Close()
	packets, err := net.ListenPacket("udp", address)
	if err != nil {
		return false
	}
	packets.Close()
	return true
}
