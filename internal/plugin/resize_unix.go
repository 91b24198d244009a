//go:build !windows

package plugin

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// sizeChanges gives a signal for each change of a terminal's size, until the
// context is done.
func sizeChanges(ctx context.Context, _ *os.File) <-chan struct{} {
	signals, changes := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGWINCH)
	go func() {
		defer close(changes)
		defer signal.Stop(signals)
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			select {
			case <-ctx.Done():
				return
			case changes <- struct{}{}:
			}
		}
	}()
	return changes
}
