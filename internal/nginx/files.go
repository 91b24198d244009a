package nginx

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrNotWritten says that there is no room for a new nginx.conf, or that it
// cannot be written for another reason: what runs goes on.
var ErrNotWritten = errors.New("nginx.conf cannot be written")

// swap puts a new file in the place of nginx.conf, whole or not at all. If it
// cannot be written, the last good file is taken where it has the same bytes.
func (p *Process) swap(conf io.WriterTo) error {
	before := p.unconfirmed
	p.unconfirmed = true
	err := p.replace(liveFile, conf)
	if err != nil && p.holds(goodFile, conf) {
		err = p.relink(goodFile, liveFile)
	}
	if err != nil {
		p.unconfirmed = before // nothing was touched
		return fmt.Errorf("%w: %w", ErrNotWritten, err)
	}
	return p.measure()
}

// useBootstrap puts the bootstrap file in the place of nginx.conf. It writes no
// byte, and it is what a roll-back goes to until another file is confirmed.
func (p *Process) useBootstrap() error {
	p.unconfirmed, p.good = true, bootstrapFile
	if err := p.relink(bootstrapFile, liveFile); err != nil {
		return err
	}
	return p.measure()
}

// measure notes the size of nginx.conf.
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
	f, err := os.Open(p.options.path(name))
	if err != nil {
		return false
	}
	defer f.Close()
	rest := bufio.NewReader(f)
	if _, err := conf.WriteTo(&comparison{rest}); err != nil {
		return false
	}
	_, err = rest.ReadByte()
	return err == io.EOF
}

// comparison is a writer that fails where what is written differs from what it
// reads.
type comparison struct{ with *bufio.Reader }

func (c *comparison) Write(text []byte) (int, error) {
	there := make([]byte, len(text))
	if _, err := io.ReadFull(c.with, there); err != nil || !bytes.Equal(there, text) {
		return 0, errors.New("another file")
	}
	return len(text), nil
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
	for _, pattern := range []string{"candidate-*.conf", "*.new", "*.new-*", "*.link", "trust/*.new", "users/*.new"} {
		left, _ := filepath.Glob(p.options.path(pattern))
		for _, path := range left {
			failed = append(failed, os.Remove(path))
		}
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
