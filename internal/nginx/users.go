package nginx

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"sluice/internal/model"
)

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
	there, err := os.ReadDir(o.path(model.UsersDir))
	if err != nil {
		return fmt.Errorf("look for old files of users: %w", err)
	}
	var failed []error
	for _, entry := range there {
		if !slices.ContainsFunc(files, func(f *model.UserFile) bool { return f.ID == entry.Name() }) {
			failed = append(failed, os.Remove(o.path(model.UsersDir, entry.Name())))
		}
	}
	return errors.Join(failed...)
}

// WriteUsers writes files of users for the workers of the process.
func (p *Process) WriteUsers(files []*model.UserFile) error { return WriteUsers(p.options, files) }

// RetainUsers removes all files of users but some.
func (p *Process) RetainUsers(files []*model.UserFile) error { return RetainUsers(p.options, files) }
