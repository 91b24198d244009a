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

// maxFile is the maximum size of a file. 10,000 Ingresses with their Services and slices
// take about 14 MB.
const maxFile = 256 << 20

// settled is the age from which an equal modification time means an unchanged file.
// Clocks of file systems are coarse, so a file can be written twice in one tick.
const settled = time.Second

// file is the state of one file.
type file struct {
	name    string // for messages
	reader  decode.Reader
	shrinks shrinks

	known bool              // it was read at least once
	info  fs.FileInfo       // of the version that was read; nil if it cannot show a change
	sum   [sha256.Size]byte // of the version that was read

	// The result. errs are those of the newest version; objects and notes can be of an
	// earlier one.
	objects snapshot.Objects
	notes   []snapshot.Note
	errs    []error
}

// refresh reads the file if it changed. It returns fs.ErrNotExist if the file is gone;
// other errors are stored in the file.
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

// reason removes the path from an error, because messages begin with f.name.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// take decodes the content of the file. If that fails, the previous objects stay.
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

// sameVersion also compares the permissions, because a file that becomes unreadable must
// be reported.
func sameVersion(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// read reads a file, and again if it changes meanwhile.
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

// readOnce reads only a regular file, because a pipe would block.
func readOnce(path string, info fs.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, errors.New("want a regular file")
	}
	return readWhole(path, info)
}

// readWhole reads a file or a pipe to its end.
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
