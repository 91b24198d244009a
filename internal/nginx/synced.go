package nginx

import (
	"errors"
	"os"
	"path/filepath"
)

// ReplaceSynced writes a file anew, whole or not at all, also if the machine stops
// in the midst of it: the content is on disk before it has its name, and the name
// when this returns. sync is (*os.File).Sync but in tests.
func ReplaceSynced(path string, write, sync func(*os.File) error) error {
	temporary := path + ".new"
	file, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
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
