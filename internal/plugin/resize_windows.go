package plugin

import (
	"context"
	"os"
	"time"

	"golang.org/x/term"
)

// sizeChanges gives a signal for each change of a terminal's size, until the
// context is done. Windows tells of none, so one looks, as kubectl does.
func sizeChanges(ctx context.Context, terminal *os.File) <-chan struct{} {
	changes := make(chan struct{})
	go func() {
		defer close(changes)
		width, height, _ := term.GetSize(int(terminal.Fd()))
		for tick := time.NewTicker(250 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			w, h, err := term.GetSize(int(terminal.Fd()))
			if err != nil || w == width && h == height {
				continue
			}
			width, height = w, h
			select {
			case <-ctx.Done():
			case changes <- struct{}{}:
			}
		}
	}()
	return changes
}
