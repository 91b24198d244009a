package nginx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sluice/internal/model"
)

// record is the content of processes.json: the processes that may still hold our
// ports after a crash. If only the master is killed, its workers keep serving and
// keep every port from the next master.
type record struct {
	// Boot is the boot id of the machine, from which start times count.
	Boot string `json:"boot"`
	// Command is the command of the master.
	Command string     `json:"command"`
	Master  identity   `json:"master"`
	Workers []identity `json:"workers"`
}

// bootID changes with each start of the machine.
func bootID() string {
	data, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data))
}

// recordOf returns the record of a run as it is now.
func (p *Process) recordOf(r *run) record {
	rec := record{Boot: bootID(), Command: p.install.argv[0], Master: r.identity}
	for _, pid := range childrenOf(r.PID) {
		if id, ok := identify(pid); ok {
			rec.Workers = append(rec.Workers, id)
		}
	}
	return rec
}

// record writes processes.json atomically. If there is no room for a new file, it
// overwrites the old one, which has room for a few more processes.
func (p *Process) record(r *run) error {
	data, err := json.Marshal(p.recordOf(r))
	if err != nil {
		return fmt.Errorf("record nginx's processes: %w", err)
	}
	if err = p.replace(recordFile, Conf(data)); err == nil {
		return nil
	}
	if overwrite(p.options.path(recordFile), data) == nil {
		return nil
	}
	return err
}

func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Truncate(int64(len(data))), f.Close())
}

// Former returns the number of processes of a former run that may serve until Start.
func (p *Process) Former() int {
	if p.external() {
		return 0
	}
	return len(former(p.readRecord()))
}

// Inherit makes Stop end the nginx of a former run. It is for a sluice that stops
// before Start.
func (p *Process) Inherit() { p.inherited = true }

// quitFormer ends the processes of a former run: gracefully, and by force after
// grace.
func (p *Process) quitFormer(ctx context.Context, grace time.Duration) error {
	rec := p.readRecord()
	for _, id := range former(rec) {
		_ = unix.Kill(id.PID, unix.SIGQUIT)
	}
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	_ = poll(ctx, func() (bool, error) { return len(former(rec)) == 0, nil })
	return p.endFormer(rec)
}

// readRecord returns an empty record if none can be read: then there is nothing to
// end.
func (p *Process) readRecord() record {
	data, err := os.ReadFile(p.options.path(recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return record{}
	}
	var rec record
	if err == nil {
		err = json.Unmarshal(data, &rec)
	}
	if err != nil || rec.Boot != bootID() {
		p.options.Logger.Warn("the record of former processes is unusable: ignoring it", "error", err)
		return record{}
	}
	return rec
}

// fits reports whether the arguments of a process are those of nginx, or already
// gone.
func (rec record) fits(pid int) bool { return isNginx(pid, rec.Command) || isEnding(pid) }

// former returns the recorded processes that still run, and the other members of the
// recorded master's group (workers that started after the record was written). Pid
// and start time must match, because pids are reused.
func former(rec record) []identity {
	var found []identity
	for _, id := range append([]identity{rec.Master}, rec.Workers...) {
		if id.PID > 1 && id.running() && rec.fits(id.PID) {
			found = append(found, id)
		}
	}
	if rec.Master.PID <= 1 {
		return found
	}
	// The kernel does not reuse a pid while a group of that number exists. So the
	// group is the recorded one, unless a process with that pid and another start
	// time runs.
	if now, ok := identify(rec.Master.PID); ok && now != rec.Master {
		return found
	}
	for _, pid := range membersOf(rec.Master.PID) {
		if id, ok := identify(pid); ok && rec.fits(pid) && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return found
}

// endFormer ends all processes of a record with SIGTERM, and with SIGKILL after 2 s.
// It returns only when they are gone, because a master that ends late would unlink
// the sockets of the next one.
func (p *Process) endFormer(rec record) error {
	for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		left := former(rec)
		if len(left) == 0 {
			return nil
		}
		p.options.Logger.Info("ending former processes of nginx", "signal", unix.SignalName(s), "processes", len(left))
		for _, id := range left {
			if id.running() {
				_ = unix.Kill(id.PID, s)
			}
		}
		if waitGone(rec, 2*time.Second) {
			return nil
		}
	}
	return fmt.Errorf("former processes of nginx cannot be ended: %v", former(rec))
}

func waitGone(rec record, most time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	return poll(ctx, func() (bool, error) { return len(former(rec)) == 0, nil }) == nil
}

// clearSockets removes sockets of nginx that a crash has left: nginx does not start if a
// socket file exists, even if nobody listens on it.
func (p *Process) clearSockets() error {
	return p.removeSockets(func(string) bool { return true })
}

// clearDeadSockets removes sockets that no process has open. nginx leaves behind the
// sockets of a rejected file, and would then reject another file with the same
// sockets. The kernel refuses a connection to a dead socket. The probe uses the wrong
// socket type, so that a live socket gets no connection. Source:
// https://man7.org/linux/man-pages/man2/connect.2.html
func (p *Process) clearDeadSockets() error {
	return p.removeSockets(func(path string) bool {
		connection, err := net.Dial("unixgram", path)
		if err == nil {
			connection.Close()
		}
		return errors.Is(err, unix.ECONNREFUSED)
	})
}

func (p *Process) removeSockets(matching func(path string) bool) error {
	entries, err := os.ReadDir(p.options.path(socketDir))
	if err != nil {
		return fmt.Errorf("clear old sockets: %w", err)
	}
	for _, entry := range entries {
		path := p.options.path(socketDir, entry.Name())
		if entry.Type()&os.ModeSocket == 0 || model.IsOurSocket(entry.Name()) || !matching(path) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("clear old sockets: %w", err)
		}
	}
	return nil
}

// lockState makes sure that no other process uses the state directory: two would end
// each other's nginx. The kernel drops the lock when we end.
func (p *Process) lockState() error {
	f, err := os.OpenFile(p.options.path(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the state directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return fmt.Errorf("state directory %s is in use by another sluice: choose another one", p.options.StateDir)
	}
	p.lock = f
	return nil
}

// unlockState releases the state directory. Closing the file alone would not, while a
// process that is being started holds a copy of it.
func (p *Process) unlockState() error {
	if p.lock == nil {
		return nil
	}
	err := errors.Join(unix.Flock(int(p.lock.Fd()), unix.LOCK_UN), p.lock.Close())
	p.lock = nil
	return err
}
