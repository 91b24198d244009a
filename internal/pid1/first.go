// Package pid1 is what a program owes to the container that it is the first
// process of: orphans are reaped, whoever waits for its end can see it, and nobody
// waits for who reads its log.
//
//	os.Exit(container.First(func() int { ... }))
package pid1

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// firstPID is that of the first process of a container, to which the kernel
// gives all processes whose parents have ended.
const firstPID = 1

// The kernel makes orphans children of the first thread of the first process. It
// is kept for them: no other goroutine runs there, so that what os/exec starts
// are children of other threads, and the two are never taken for each other.
// Source: find_new_reaper in kernel/exit.c of Linux
func init() {
	if os.Getpid() == firstPID {
		runtime.LockOSThread()
	}
}

// First runs a program and gives the status that it ends with. It is to be called
// by main itself. As the first process it reaps orphans meanwhile, which nobody
// else would: workers of a master that was killed, and what shells in the
// container have left behind.
func First(program func() int) int {
	if os.Getpid() != firstPID {
		return program()
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	status := make(chan int, 1)
	go func() { status <- program() }()
	for {
		reapOrphans()
		select {
		case <-ended:
		case s := <-status:
			return s
		}
	}
}

// reapOrphans reaps the children of this very thread that have ended. Those of
// other threads are left to os/exec, which waits for what it has started.
func reapOrphans() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WNOTHREAD|unix.WALL, nil)
		if err == nil && pid > 0 || err == unix.EINTR {
			continue
		}
		return
	}
}
