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

// HoldBindService makes NET_BIND_SERVICE effective in all threads, if this process may
// have it. Our file has the capability as permitted only, so that it also runs in a
// container without it. Without the capability it does nothing. main calls it first.
//
// The capability is needed for more than the check of ports: /wait-shutdown inspects
// our process below /proc, and so needs the same capabilities. Source:
// https://man7.org/linux/man-pages/man7/capabilities.7.html, ptrace(2)
func HoldBindService() error {
	header, sets, err := capabilitySets()
	if err != nil || sets[0].Permitted&bindService == 0 || sets[0].Effective&bindService != 0 {
		return err
	}
	sets[0].Effective |= bindService
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets[0])), 0); errno != 0 {
		return fmt.Errorf("make NET_BIND_SERVICE effective: %w", errno)
	}
	// The kernel and Go treat a program with file capabilities as privileged: they
	// hide it from its own user, and suppress stack traces. This program has no more
	// than the container was given.
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

// attributes are the process attributes for every run of nginx, including `nginx -t`:
// its own process group and, because its file has no capabilities, NET_BIND_SERVICE
// if we may have it.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if handsOnBindService() {
		a.AmbientCaps = []uintptr{unix.CAP_NET_BIND_SERVICE}
	}
	return a
}

// handsOnBindService reports whether we pass the capability on to nginx. An nginx of
// root has it anyway.
func handsOnBindService() bool {
	_, sets, err := capabilitySets()
	if err != nil || os.Geteuid() == 0 || sets[0].Permitted&bindService == 0 {
		return false
	}
	const noAmbientRaise = 1 << 6 // SECBIT_NO_CAP_AMBIENT_RAISE of linux/securebits.h
	bits, err := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0)
	return err == nil && bits&noAmbientRaise == 0
}
