package nginx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sluice/internal/model"
)

// trustDir is the folder for files of trusted authorities, below the state directory.
const trustDir = "trust"

// WriteUsers writes the user files that do not exist yet. Only workers can read them,
// at each request. The content of a file never changes.
func (p *Process) WriteUsers(files []*model.UserFile) error {
	if len(files) == 0 {
		return nil
	}
	worker, err := workerID(p.options)
	if err != nil {
		return err
	}
	for _, file := range files {
		path := p.options.path(model.UsersDir, file.ID)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		write := func(to *os.File) error {
			_, err := to.Write(file.Content)
			return errors.Join(err, to.Chown(worker, -1))
		}
		if err := ReplaceSynced(path, write, (*os.File).Sync); err != nil {
			return fmt.Errorf("write the users of an Ingress: %w", err)
		}
	}
	return nil
}

// RetainUsers removes all other user files.
func (p *Process) RetainUsers(files []*model.UserFile) error {
	return retain(p.options.path(model.UsersDir), func(name string) bool {
		return slices.ContainsFunc(files, func(f *model.UserFile) bool { return f.ID == name })
	})
}

// RetainTrust removes all files of trusted authorities except those with the given
// paths.
func (p *Process) RetainTrust(paths []string) error {
	return retain(p.options.path(trustDir), func(name string) bool { return slices.Contains(paths, p.options.path(trustDir, name)) })
}

// retain removes the files of a folder, except those to keep and those that are being
// written.
func retain(dir string, keep func(name string) bool) error {
	there, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look for old files: %w", err)
	}
	var failed []error
	for _, entry := range there {
		if name := entry.Name(); !keep(name) && !strings.Contains(name, unfinished) {
			failed = append(failed, os.Remove(filepath.Join(dir, name)))
		}
	}
	return errors.Join(failed...)
}
