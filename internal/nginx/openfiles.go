package nginx

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenFiles are the limits of open files for a worker.
type OpenFiles struct {
	// Hard is the hard limit of this process, which nginx inherits. Most is the limit
	// to which a worker can raise it.
	Hard, Most int
}

// OpenFilesHere reads the limits of this process.
func OpenFilesHere() OpenFiles {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return OpenFiles{}
	}
	return openFiles("/", limit.Max)
}

// sysResource is the number of CAP_SYS_RESOURCE, with which a process may raise its
// hard limits; root can lack it. Source:
// https://man7.org/linux/man-pages/man7/capabilities.7.html
const sysResource = 24

// openFiles reads from /proc below a root how far a hard limit can be raised.
func openFiles(root string, hard uint64) OpenFiles {
	kernel := uint64(1 << 20)
	for _, line := range linesOf(root, "/proc/sys/fs/nr_open") {
		if n, err := strconv.ParseUint(line, 10, 31); err == nil {
			kernel = n
		}
	}
	files := OpenFiles{Hard: int(min(hard, kernel))}
	files.Most = files.Hard
	for _, line := range linesOf(root, "/proc/self/status") {
		set, ok := strings.CutPrefix(line, "CapEff:")
		if capabilities, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64); ok && err == nil && capabilities>>sysResource&1 == 1 {
			files.Most = int(kernel)
		}
	}
	return files
}
