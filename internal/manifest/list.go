package manifest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// listing is the content of a directory tree.
type listing struct {
	files []string // sorted; some can be gone by now
	links []string // to directories
	// unreadable are the directories that cannot be read, with the errors in errs.
	unreadable []string
	errs       []error
}

// hides reports whether a file can exist unlisted, because its directory cannot be read.
func (l *listing) hides(path string) bool {
	return slices.ContainsFunc(l.unreadable, func(dir string) bool { return within(dir, path) })
}

// list finds the manifests below root, which can also be one file. It calls enter with
// each directory before it reads the entries. It fails if root cannot be read.
func list(root string, enter func(dir string)) (listing, error) {
	info, err := os.Stat(root)
	if err != nil {
		return listing{}, err
	}
	if !info.IsDir() {
		return listing{files: []string{root}}, nil
	}
	w := walker{enter: enter, seen: map[string]bool{}}
	w.directory(root)
	if len(w.found.unreadable) > 0 && w.found.unreadable[0] == root {
		return listing{}, w.found.errs[0]
	}
	slices.Sort(w.found.files)
	return w.found, nil
}

// walker is the state of list.
type walker struct {
	enter func(dir string)
	seen  map[string]bool // directories by real path, so that a circle of links ends
	found listing
}

func (w *walker) directory(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || w.seen[real] {
		return
	}
	w.seen[real] = true
	w.enter(dir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.found.unreadable = append(w.found.unreadable, dir)
		w.found.errs = append(w.found.errs, err)
	}
	for _, entry := range entries {
		if !hidden(entry.Name()) {
			w.entry(filepath.Join(dir, entry.Name()), entry.Type())
		}
	}
}

// entry adds directories, manifests, and links to either. It ignores entries that are
// gone by now, and broken links.
func (w *walker) entry(path string, kind fs.FileMode) {
	if kind.IsRegular() {
		if isManifest(path) {
			w.found.files = append(w.found.files, path)
		}
		return
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && info.IsDir():
		if kind&fs.ModeSymlink != 0 {
			w.found.links = append(w.found.links, path)
		}
		w.directory(path)
	case isManifest(path): // reading it reports the error
		w.found.files = append(w.found.files, path)
	}
}

// isManifest reports whether a file has the name of a manifest.
func isManifest(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// hidden reports whether to ignore an entry: hidden files and directories, such as
// "..data" of a mounted ConfigMap and swap files of editors, and backups of editors.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#") || strings.HasSuffix(name, "~")
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
