package plugin

import (
	"context"
	"fmt"
	"os"
	"sync"

	"golang.org/x/term"
	"k8s.io/client-go/tools/remotecommand"
)

// raw hands the terminal over to a remote program: each key goes there as it is,
// and its terminal gets the size of this one. restore gives it back.
func (s *session) raw(ctx context.Context, terminal *os.File, r *remote) (restore func(), err error) {
	before, err := term.MakeRaw(int(terminal.Fd()))
	if err != nil {
		return nil, fmt.Errorf("hand the terminal over: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	r.sizes = &sizes{terminal: terminal, changes: sizeChanges(ctx, terminal)}
	return sync.OnceFunc(func() {
		cancel()
		_ = term.Restore(int(terminal.Fd()), before)
	}), nil
}

// sizes tells the size of a terminal at first and after each change.
type sizes struct {
	terminal *os.File
	changes  <-chan struct{}
	told     bool
}

// Next waits for a change. nil says that there will be none any more.
func (s *sizes) Next() *remotecommand.TerminalSize {
	if s.told {
		if _, more := <-s.changes; !more {
			return nil
		}
	}
	s.told = true
	width, height, err := term.GetSize(int(s.terminal.Fd()))
	if err != nil {
		return nil
	}
	return &remotecommand.TerminalSize{Width: uint16(width), Height: uint16(height)}
}
