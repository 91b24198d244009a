package nginx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// swap puts a new file in the place of nginx.conf, whole or not at all.
func (p *Process) swap(conf io.WriterTo) error {
	p.unconfirmed = true
	if err := p.replace(liveFile, conf); err != nil {
		return err
	}
	info, err := os.Stat(p.options.path(liveFile))
	if err != nil {
		return fmt.Errorf("look at the new configuration: %w", err)
	}
	p.size = info.Size()
	return nil
}

func (p *Process) replace(name string, content io.WriterTo) error {
	path, err := writeBeside(p.options.path(name+".new-*"), content)
	if err != nil {
		return err
	}
	if err := os.Rename(path, p.options.path(name)); err != nil {
		return errors.Join(fmt.Errorf("replace %s: %w", name, err), os.Remove(path))
	}
	return nil
}

// sweep removes files that somebody who was killed was writing; nobody else writes
// here while the state directory is ours.
func (p *Process) sweep() error {
	if p.lock == nil {
		return nil
	}
	var failed []error
	for _, pattern := range []string{"candidate-*.conf", "*.new", "*.new-*", "*.link", "trust/*.new"} {
		left, _ := filepath.Glob(p.options.path(pattern))
		for _, path := range left {
			failed = append(failed, os.Remove(path))
		}
	}
	return errors.Join(failed...)
}

// keepAsGood makes nginx.conf the last good file.
func (p *Process) keepAsGood() error {
	p.unconfirmed = false
	return p.relink(liveFile, goodFile)
}

// restoreGood puts the last good file back.
func (p *Process) restoreGood() error { return p.relink(goodFile, liveFile) }

// relink gives a file a second name, in the place of what had that name. Both
// names are only ever replaced, never written to, so they may share the bytes.
func (p *Process) relink(from, to string) error {
	temporary := p.options.path(to + ".link")
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keep %s as %s: %w", from, to, err)
	}
	if err := os.Link(p.options.path(from), temporary); err != nil {
		return fmt.Errorf("keep %s as %s: %w", from, to, err)
	}
	if err := os.Rename(temporary, p.options.path(to)); err != nil {
		return fmt.Errorf("keep %s as %s: %w", from, to, err)
	}
	// rename(2) does nothing if both are names of the same file already.
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keep %s as %s: %w", from, to, err)
	}
	return nil
}
