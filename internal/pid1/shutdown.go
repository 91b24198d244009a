package pid1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollEvery is how often is looked whether a process has ended.
const pollEvery = 100 * time.Millisecond

// quietLooks is how often in a row a controller must run no nginx before that
// counts as ended: one that died is started again.
const quietLooks = 3

// Shutdown has the controller of this container stop, and waits until its nginx
// has ended, or it has itself. It is told from other processes by its binary,
// its container and its arguments, never by a name.
func Shutdown(ctx context.Context, isController func(arguments []string) bool) error {
	found := others(isController)
	if len(found) == 0 {
		return errors.New("no controller runs in this container")
	}
	if len(found) > 1 {
		return fmt.Errorf("%d controllers run in this container (the first two are the processes %d and %d): want one", len(found), found[0].pid, found[1].pid)
	}
	controller := found[0]
	if err := unix.Kill(controller.pid, unix.SIGTERM); err != nil {
		return fmt.Errorf("ask the controller (pid %d) to stop: %w", controller.pid, err)
	}
	for quiet := 0; controller.running() && quiet < quietLooks; quiet++ {
		if controller.runsNginx() {
			quiet = -1
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the controller (pid %d) goes on: %w", controller.pid, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// Linger keeps the first process of a container, whose end is that of all others,
// until those that wait for it have seen that nginx has ended. most bounds it.
func Linger(most time.Duration, isWaiting func(arguments []string) bool) {
	if os.Getpid() != firstPID {
		return
	}
	for end := time.Now().Add(most); time.Now().Before(end) && len(others(isWaiting)) > 0; {
		time.Sleep(pollEvery)
	}
}
