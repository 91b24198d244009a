// Package pid1 does what the first process of a container has to do: it reaps
// orphans, lets other processes wait for the end of nginx, and buffers the log so
// that nobody waits for its reader.
//
//	os.Exit(pid1.First(func() int { ... }))
package pid1

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// firstPID is the pid of the first process of a container, which the kernel makes the
// parent of all orphans.
const firstPID = 1

// The kernel makes orphans children of the first thread of the first process. That
// thread is reserved for them: no other goroutine runs on it, so processes that
// os/exec starts are children of other threads, and the two kinds never mix. Source:
// find_new_reaper in kernel/exit.c of Linux
func init() {
	if os.Getpid() == firstPID {
		runtime.LockOSThread()
	}
}

// First runs a program and returns its exit status. main itself must call it. As the
// first process it also reaps orphans: workers of a killed master, and processes that
// shells in the container left behind.
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

// reapOrphans reaps the zombie children of this thread. os/exec waits for the
// children of other threads.
func reapOrphans() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WNOTHREAD|unix.WALL, nil)
		if err == nil && pid > 0 || err == unix.EINTR {
			continue
		}
		return
	}
}
