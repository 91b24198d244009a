package controller

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sluice/internal/nginx"
	"sluice/internal/render"
)

// writeTrust writes the files of trusted authorities that do not exist yet. They are
// public, and their names are hashes of their content.
func writeTrust(files []render.TrustFile) error {
	for _, trust := range files {
		if _, err := os.Stat(trust.Path); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(trust.Path), 0o755); err != nil {
			return fmt.Errorf("write trusted authorities: %w", err)
		}
		write := func(file *os.File) error {
			_, err := file.WriteString(trust.PEM)
			return errors.Join(err, file.Chmod(0o644))
		}
		if err := nginx.ReplaceSynced(trust.Path, write, (*os.File).Sync); err != nil {
			return fmt.Errorf("write trusted authorities: %w", err)
		}
	}
	return nil
}

// retainTrust removes the files of trusted authorities that nginx no longer needs. It
// waits for the end of a trial, which may have written further ones.
func (c *Controller) retainTrust() {
	if !c.trustLeft || !c.trials.idle() {
		return
	}
	c.trustLeft = false
	var paths []string
	for _, file := range merged(c.latest.file.Trust(), c.retired.trust, trustKey) {
		paths = append(paths, file.Path)
	}
	if err := c.Process.RetainTrust(paths); err != nil {
		c.Log.Warn("old files of trusted authorities not removed", "error", err)
	}
}
