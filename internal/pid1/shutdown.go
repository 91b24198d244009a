package pid1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollEvery is how often the end of a process is checked.
const pollEvery = 100 * time.Millisecond

// quietLooks is how many checks in a row must find no nginx before it counts as
// ended, because a dead nginx restarts.
const quietLooks = 3

// Shutdown stops the controller of this container, and waits until its nginx or the
// controller itself has ended. It recognises the controller by binary, container and
// arguments, never by name.
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

// Linger delays the end of the first process of a container, which ends all others,
// until the processes that wait for nginx's end have seen it. most limits the delay.
func Linger(most time.Duration, isWaiting func(arguments []string) bool) {
	if os.Getpid() != firstPID {
		return
	}
	for end := time.Now().Add(most); time.Now().Before(end) && len(others(isWaiting)) > 0; {
		time.Sleep(pollEvery)
	}
}
