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

// trustDir is the folder of the files of trusted authorities, below the state directory.
const trustDir = "trust"

// WriteUsers writes those of the files that do not exist yet. Only workers can read
// them, which they do at each request. The content of a file never changes.
func WriteUsers(o Options, files []*model.UserFile) error {
	if len(files) == 0 {
		return nil
	}
	worker, err := workerID(o)
	if err != nil {
		return err
	}
	for _, file := range files {
		path := o.path(model.UsersDir, file.ID)
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

// RetainUsers removes all files of users but some.
func RetainUsers(o Options, files []*model.UserFile) error {
	return retain(o.path(model.UsersDir), func(name string) bool {
		return slices.ContainsFunc(files, func(f *model.UserFile) bool { return f.ID == name })
	})
}

// RetainTrust removes all files of trusted authorities but some, given by their paths.
func RetainTrust(o Options, paths []string) error {
	return retain(o.path(trustDir), func(name string) bool { return slices.Contains(paths, o.path(trustDir, name)) })
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

// WriteUsers writes files of users for the workers of the process.
func (p *Process) WriteUsers(files []*model.UserFile) error { return WriteUsers(p.options, files) }

// RetainUsers removes all files of users but some.
func (p *Process) RetainUsers(files []*model.UserFile) error { return RetainUsers(p.options, files) }

// RetainTrust removes all files of trusted authorities but some, given by their paths.
func (p *Process) RetainTrust(paths []string) error { return RetainTrust(p.options, paths) }
