package nginx

import (
	"errors"
	"os"
	"path/filepath"
)

// unfinished is in the names of files that are being written.
const unfinished = ".new"

// ReplaceSynced replaces a file, completely or not at all, even if the machine stops
// meanwhile: the content is on disk before the file has its name, and the name is on
// disk when the function returns. Several callers may write one file at once. sync is
// (*os.File).Sync, or does nothing for a file that is written anew after such a stop.
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
