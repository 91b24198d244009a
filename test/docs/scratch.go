package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// notCopied are the folders of a checkout that a new one does not have.
var notCopied = map[string]bool{".git": true, ".cache": true, "dist": true}

// CopyCheckout copies what is in a checkout as a new user has it.
func CopyCheckout(from, to string) error { return copyFolder(from, to, notCopied) }

// NewCheckout makes one that is a repository of its own with one commit. The objects of that are
// in one file, so that copyFolder gives each reader the same at little cost: to commit again takes
// twenty times as much of the processor.
func NewCheckout(from, to string) error {
	if err := errors.Join(CopyCheckout(from, to), Commit(to)); err != nil {
		return err
	}
	return git(to, "repack", "-a", "-d", "--quiet", "--window=0")
}

// copyFolder copies all that is in a folder but what is left out, by its path from there.
func copyFolder(from, to string, leftOut map[string]bool) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case entry.IsDir() && leftOut[relative]:
			return filepath.SkipDir
		case leftOut[relative]:
			return nil // .git is a file where the checkout is one of several of a repository
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case entry.Type() == fs.ModeSymlink:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !entry.Type().IsRegular():
			return nil
		}
		return copyFile(path, target)
	})
}

// Commit makes a copy of a checkout a repository of its own with one commit, so that
// git can say its version. A copy that belongs to a repository already is refused: the
// commit would be one of that.
func Commit(folder string) error {
	if _, err := os.Lstat(filepath.Join(folder, ".git")); !os.IsNotExist(err) {
		return fmt.Errorf("%s is to have no .git: %v", folder, err)
	}
	for _, arguments := range [][]string{
		{"init", "--quiet"},
		{"add", "--all"},
		{"-c", "user.name=reader", "-c", "user.email=reader@shop.example", "-c", "commit.gpgSign=false", "commit", "--quiet", "--message", "The checkout"},
	} {
		if err := git(folder, arguments...); err != nil {
			return err
		}
	}
	return nil
}

// git runs git in a folder.
func git(folder string, arguments ...string) error {
	command := exec.Command("git", arguments...)
	command.Dir = folder
	// What git's own hooks are told names the repository that they are of.
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(arguments, " "), err, said)
	}
	return nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm())
}

// Pages are the pages of a checkout that are for users: README.md, what is in
// docs, and the pages of charts.
func Pages(root string) ([]string, error) {
	pages := []string{"README.md"}
	for _, folder := range []string{"docs", "charts"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil // there may be no charts
			}
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".md") {
				relative, relErr := filepath.Rel(root, path)
				pages, err = append(pages, filepath.ToSlash(relative)), relErr
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return pages, nil
}
