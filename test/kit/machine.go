package kit

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"sluice/test/ports"
)

// StateDir makes a state directory. Its path is short, because that of a unix
// socket may have 107 bytes, and the user of nginx's workers may pass it, unlike
// that of t.TempDir.
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

// memoryDir is a file system in memory on most machines. Making the some forty
// files of a state directory on a disk costs more than nginx's start.
const memoryDir = "/dev/shm"

// fastDir is memoryDir where tests may write to it and at least 1 GiB is free, or
// else "", the usual folder for temporary files.
func fastDir() string {
	const writable = 2 // W_OK
	var fs syscall.Statfs_t
	err := errors.Join(syscall.Access(memoryDir, writable), syscall.Statfs(memoryDir, &fs))
	if err != nil || fs.Bavail*uint64(fs.Bsize) < 1<<30 {
		return ""
	}
	return memoryDir
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

// Port gives a port that nobody listens on; see package ports.
func Port(t testing.TB) int {
	t.Helper()
	return ports.Take(t)
}
