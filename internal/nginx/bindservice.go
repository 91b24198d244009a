package nginx

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bindService is the bit of the capability to listen on ports below 1024.
const bindService = 1 << unix.CAP_NET_BIND_SERVICE

// HoldBindService makes NET_BIND_SERVICE effective, in all threads, where this
// process may have it and has it not: our file has the capability as a permitted
// one only, so that it can be run where a container is to have none. It does
// nothing where the capability was not given. main calls it before all else.
//
// It is not for the check of the ports alone: who is to look into a process below
// /proc, as /wait-shutdown does, has to have what that process may have.
// Source: https://man7.org/linux/man-pages/man7/capabilities.7.html, ptrace(2)
func HoldBindService() error {
	header, sets, err := capabilitySets()
	if err != nil || sets[0].Permitted&bindService == 0 || sets[0].Effective&bindService != 0 {
		return err
	}
	sets[0].Effective |= bindService
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets[0])), 0); errno != 0 {
		return fmt.Errorf("make NET_BIND_SERVICE effective: %w", errno)
	}
	// The kernel and Go take a program that gains by its file for one that the
	// user is not to look into: they hide it from its own user, and the stack of a
	// panic. This one has no more than the container was given.
	debug.SetTraceback("single")
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("let the user see the process: %w", err)
	}
	return nil
}

func capabilitySets() (unix.CapUserHeader, [2]unix.CapUserData, error) {
	header, sets := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return header, sets, fmt.Errorf("read the capabilities: %w", err)
	}
	return header, sets, nil
}

// attributes are those that every run of nginx is started with: a process group
// of its own and, as its file has no capabilities, NET_BIND_SERVICE if we may
// have it. `nginx -t` listens, too.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if handsOnBindService() {
		a.AmbientCaps = []uintptr{unix.CAP_NET_BIND_SERVICE}
	}
	return a
}

// handsOnBindService says whether nginx can be given the capability. root's needs
// it from nobody.
func handsOnBindService() bool {
	_, sets, err := capabilitySets()
	if err != nil || os.Geteuid() == 0 || sets[0].Permitted&bindService == 0 {
		return false
	}
	const noAmbientRaise = 1 << 6 // SECBIT_NO_CAP_AMBIENT_RAISE of linux/securebits.h
	bits, err := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0)
	return err == nil && bits&noAmbientRaise == 0
}
