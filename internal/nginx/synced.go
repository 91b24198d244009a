package nginx

import (
	"errors"
	"os"
	"path/filepath"
)

// unfinished is in the names of files that are being written.
const unfinished = ".new"

// ReplaceSynced writes a file anew, whole or not at all, also if the machine stops
// in the midst of it: the content is on disk before it has its name, and the name
// when this returns. Several may write one file at once. sync is (*os.File).Sync but
// in tests.
func ReplaceSynced(path string, write, sync func(*os.File) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+unfinished+"-*")
	if err != nil {
		return err
	}
	temporary := file.Name()
	err = write(file)
	if err == nil {
		err = sync(file)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(sync(dir), dir.Close())
}
