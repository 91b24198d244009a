package kit

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"sluice/test/ports"
)

// StateDir creates a state directory. Its path is short, because that of a unix
// socket is limited to 107 bytes, and unlike t.TempDir the user of nginx's workers
// can enter it.
func StateDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(fastDir(), "slc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// memoryDir is a file system in memory on most machines. Creating the forty or so
// files of a state directory on a disk costs more than starting nginx.
const memoryDir = "/dev/shm"

// fastDir returns memoryDir if tests can write to it and at least 1 GiB is free, or
// else "", the default folder for temporary files.
func fastDir() string {
	const writable = 2 // W_OK
	var fs syscall.Statfs_t
	err := errors.Join(syscall.Access(memoryDir, writable), syscall.Statfs(memoryDir, &fs))
	if err != nil || fs.Bavail*uint64(fs.Bsize) < 1<<30 {
		return ""
	}
	return memoryDir
}

// Replace replaces a file atomically, as editors do: with a new file that is renamed.
// The temporary name is not that of a manifest.
func Replace(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path+".part~", []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".part~", path); err != nil {
		t.Fatal(err)
	}
}

// Port returns a port that nobody listens on; see package ports.
func Port(t testing.TB) int {
	t.Helper()
	return ports.Take(t)
}
