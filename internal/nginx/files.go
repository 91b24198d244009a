package nginx

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sluice/internal/model"
)

// ErrNotWritten means that a new nginx.conf cannot be written, for example because
// the disk is full. The running configuration stays in force.
var ErrNotWritten = errors.New("nginx.conf cannot be written")

// swap replaces nginx.conf atomically. If the new file cannot be written, swap uses
// the last good file if it has the same bytes.
func (p *Process) swap(conf io.WriterTo) error {
	before := p.unconfirmed
	p.unconfirmed = true
	err := p.replace(liveFile, conf)
	if err != nil && p.holds(goodFile, conf) {
		err = p.relink(goodFile, liveFile)
	}
	if err != nil {
		p.unconfirmed = before // nothing was changed
		return fmt.Errorf("%w: %w", ErrNotWritten, err)
	}
	return p.measure()
}

// useBootstrap replaces nginx.conf with the bootstrap file. It writes no data.
// Roll-backs return to this file until another one is confirmed.
func (p *Process) useBootstrap() error {
	p.unconfirmed, p.good = true, bootstrapFile
	if err := p.relink(bootstrapFile, liveFile); err != nil {
		return err
	}
	return p.measure()
}

// measure records the size of nginx.conf.
func (p *Process) measure() error {
	info, err := os.Stat(p.options.path(liveFile))
	if err != nil {
		return fmt.Errorf("look at the new configuration: %w", err)
	}
	p.size = info.Size()
	return nil
}

// holds reports whether a file of the state directory has these bytes.
func (p *Process) holds(name string, conf io.WriterTo) bool {
	content, err := os.ReadFile(p.options.path(name))
	var wanted bytes.Buffer
	_, wrong := conf.WriteTo(&wanted)
	return err == nil && wrong == nil && bytes.Equal(content, wanted.Bytes())
}

// replace writes a file of the state directory, completely or not at all. It does not
// wait for the disk.
func (p *Process) replace(name string, content io.WriterTo) error {
	write := func(file *os.File) error {
		_, err := content.WriteTo(file)
		return err
	}
	if err := ReplaceSynced(p.options.path(name), write, func(*os.File) error { return nil }); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// sweep removes temporary files of a killed process. Nobody else writes here while we
// hold the state directory.
func (p *Process) sweep() error {
	if p.lock == nil {
		return nil
	}
	var failed []error
	for _, pattern := range []string{"candidate-*.conf", "*" + unfinished + "*", "*.link", trustDir + "/*" + unfinished + "*", model.UsersDir + "/*" + unfinished + "*"} {
		left, _ := filepath.Glob(p.options.path(pattern))
		for _, path := range left {
			failed = append(failed, os.Remove(path))
		}
	}
	apart, _ := filepath.Glob(p.options.path(apartDir))
	for _, folder := range apart {
		failed = append(failed, os.RemoveAll(folder))
	}
	return errors.Join(failed...)
}

// sweepCaches removes the caches of namespaces that may be gone. nginx makes those that it
// needs when it reads its file, so that one that runs would fail without them.
func (p *Process) sweepCaches() error {
	var failed []error
	caches, _ := filepath.Glob(p.options.path("temp/auth_cache*"))
	for _, path := range caches {
		failed = append(failed, os.RemoveAll(path))
	}
	return errors.Join(failed...)
}

// keepAsGood makes nginx.conf the last good file.
func (p *Process) keepAsGood() error {
	p.unconfirmed, p.good = false, goodFile
	return p.relink(liveFile, goodFile)
}

// restoreGood puts the last good file back.
func (p *Process) restoreGood() error { return p.relink(cmp.Or(p.good, goodFile), liveFile) }

// relink makes the name to refer to the file from, replacing its previous file. Both
// names are only ever replaced, never written to, so they can share the data.
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
	// rename(2) does nothing if both names already refer to the same file.
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keep %s as %s: %w", from, to, err)
	}
	return nil
}
