package nginx

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"sluice/internal/model"
)

// The files of the state directory.
const (
	liveFile = "nginx.conf"
	goodFile = "nginx.conf.good"
	// bootstrapFile exists from the start, so that nginx can restart even if the disk
	// is full.
	bootstrapFile = "nginx.conf.bootstrap"
	recordFile    = "processes.json"
	lockFile      = "lock"
	socketDir     = "run"
	longestName   = "control.sock"
)

// longestSocket is the size of sun_path without the terminating zero. Source:
// https://man7.org/linux/man-pages/man7/unix.7.html
const longestSocket = 107

// defaultUser is the account that nginx uses by default.
const defaultUser = "nobody"

// PrepareState creates the layout of the state directory, with the modes and owners
// that workers need: run/ and temp/* belong to the workers, and everything else is
// ours to write and theirs to read. It can be called repeatedly.
func PrepareState(o Options) error {
	if !filepath.IsAbs(o.StateDir) {
		return fmt.Errorf("state directory %q: want an absolute path", o.StateDir)
	}
	if socket := o.path(socketDir, longestName); len(socket) > longestSocket {
		return fmt.Errorf("state directory %s: the path is too long for unix sockets: want at most %d bytes", o.StateDir, longestSocket-len("/run/"+longestName))
	}
	if err := os.MkdirAll(o.StateDir, 0o711); err != nil {
		return fmt.Errorf("make the state directory: %w", err)
	}
	if err := os.Chmod(o.StateDir, 0o711); err != nil {
		return fmt.Errorf("make the state directory: %w", err)
	}
	if err := makeDirs(o, 0o711, "temp", trustDir, model.UsersDir); err != nil {
		return err
	}
	if err := makeDirs(o, 0o755, "lua"); err != nil {
		return err
	}
	theirs := []string{socketDir, "temp/body", "temp/proxy", "temp/fastcgi", "temp/uwsgi", "temp/scgi"}
	if err := makeDirs(o, 0o700, theirs...); err != nil {
		return err
	}
	return giveToWorkers(o, theirs)
}

func makeDirs(o Options, mode os.FileMode, names ...string) error {
	for _, name := range names {
		err := os.Mkdir(o.path(name), mode)
		if errors.Is(err, os.ErrExist) || err == nil {
			// The umask may have cleared bits.
			err = os.Chmod(o.path(name), mode)
		}
		if err != nil {
			return fmt.Errorf("make the state directory: %w", err)
		}
	}
	return nil
}

// workerID is the account of the workers: nginx changes the account only as root.
func workerID(o Options) (int, error) {
	if os.Geteuid() != 0 {
		return os.Geteuid(), nil
	}
	account, err := user.Lookup(cmp.Or(o.User, defaultUser))
	if err != nil {
		return 0, fmt.Errorf("user for nginx's workers: %w", err)
	}
	id, err := strconv.Atoi(account.Uid)
	if err != nil {
		return 0, fmt.Errorf("user for nginx's workers: %w", err)
	}
	return id, nil
}

// giveToWorkers makes the workers' account the owner of their directories.
func giveToWorkers(o Options, dirs []string) error {
	id, err := workerID(o)
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	for _, dir := range dirs {
		if err := os.Chown(o.path(dir), id, -1); err != nil {
			return fmt.Errorf("give %s to nginx's workers: %w", dir, err)
		}
	}
	return reachable(o.StateDir, cmp.Or(o.User, defaultUser), id)
}

// reachable checks that the account of the workers, which usually owns nothing and is
// in no group, can enter every directory above the state directory.
func reachable(dir, name string, id int) error {
	if id == 0 {
		return nil
	}
	for above := filepath.Dir(dir); above != "/"; above = filepath.Dir(above) {
		info, err := os.Stat(above)
		if err != nil {
			return fmt.Errorf("state directory: %w", err)
		}
		if info.Mode().Perm()&0o001 == 0 && !ownedBy(info, id) {
			return fmt.Errorf("state directory %s: user %s, which nginx's workers run as, cannot pass %s (mode %#o): choose another state directory or allow all to pass it", dir, name, above, info.Mode().Perm())
		}
	}
	return nil
}

func ownedBy(info os.FileInfo, id int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == id
}
