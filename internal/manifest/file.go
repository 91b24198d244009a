package manifest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"sluice/internal/manifest/decode"
	"sluice/internal/snapshot"
)

// maxFile bounds a file. 10,000 Ingresses with their Services and slices take
// some 14 MB.
const maxFile = 256 << 20

// settled is the age from which a file's time of change tells that it did not
// change since: clocks of file systems are coarse, and a file may be written
// twice within one tick.
const settled = time.Second

// file is what is known of one file.
type file struct {
	name   string // for messages
	reader decode.Reader

	// shrinks is set if what disappears counts only when the file is quiet: where
	// somebody will look again.
	shrinks shrinks

	known bool              // it was read at least once
	info  fs.FileInfo       // of what was read; nil where it does not tell enough
	sum   [sha256.Size]byte // of what was read

	// What the file gives: objects and notes may be of an earlier version than
	// errs, which say what is wrong with it now.
	objects snapshot.Objects
	notes   []snapshot.Note
	errs    []error
}

// refresh reads the file if it changed. Its error is for the caller to tell
// that the file is gone; other errors are kept with the file.
func (f *file) refresh(path string) error {
	info, err := os.Stat(path)
	if err == nil && f.info != nil && sameVersion(f.info, info) {
		return nil
	}
	data, info, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		f.info, f.known, f.shrinks.since = nil, false, time.Time{}
		f.errs = []error{fmt.Errorf("%s: %w", f.name, reason(err))}
		return nil
	}
	f.info = nil
	f.take(data, info)
	if time.Since(info.ModTime()) > settled && f.shrinks.since.IsZero() {
		f.info = info
	}
	return nil
}

// reason leaves out the path that f.name already tells.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// take decodes what the file says now. Where that fails, the file goes on giving
// what it gave before.
func (f *file) take(data []byte, info fs.FileInfo) {
	sum := sha256.Sum256(data)
	same := f.known && sum == f.sum
	if same && f.shrinks.since.IsZero() {
		return
	}
	inPlace := f.shrinks.sameFile(info)
	f.known, f.sum = true, sum
	if len(bytes.TrimSpace(data)) == 0 && f.objects.Len() > 0 {
		f.errs = []error{fmt.Errorf("%s: want documents (got an empty file): delete the file to remove its objects", f.name)}
		return
	}
	objects, notes, err := f.reader.Read(f.name, data)
	f.errs = decode.Errors(err)
	if f.shrinks.wait(inPlace && err == nil && objects.Len() < f.objects.Len(), same) {
		return
	}
	if err == nil || f.objects.Len() == 0 {
		f.objects, f.notes = objects, notes
	}
}

// sameVersion includes the permissions: a file that may no longer be read has to be
// reported though its content is the same.
func sameVersion(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// read reads a file, again if it changes meanwhile.
func read(path string) (data []byte, info fs.FileInfo, err error) {
	for range 3 {
		if info, err = os.Stat(path); err != nil {
			return nil, nil, err
		}
		if data, err = readOnce(path, info); err != nil {
			return nil, nil, err
		}
		after, err := os.Stat(path)
		if err != nil || sameVersion(info, after) {
			return data, info, err
		}
	}
	return data, info, nil
}

// readOnce opens regular files only: a pipe would block.
func readOnce(path string, info fs.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, errors.New("want a regular file")
	}
	return readWhole(path, info)
}

// readWhole reads a file to its end, or a pipe.
func readWhole(path string, info fs.FileInfo) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var out bytes.Buffer
	out.Grow(int(min(info.Size(), maxFile)) + bytes.MinRead)
	if _, err := out.ReadFrom(io.LimitReader(in, maxFile+1)); err != nil {
		return nil, err
	}
	if out.Len() > maxFile {
		return nil, fmt.Errorf("want at most %d bytes", maxFile)
	}
	return out.Bytes(), nil
}
