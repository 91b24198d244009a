package manifest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// listing is what is in a directory tree.
type listing struct {
	files []string // sorted; perhaps gone by now
	links []string // to directories
	// unreadable are the directories whose content is not known, errs say why.
	unreadable []string
	errs       []error
}

// hides reports whether a file may be there although it is not listed, because
// its directory cannot be read.
func (l *listing) hides(path string) bool {
	return slices.ContainsFunc(l.unreadable, func(dir string) bool { return within(dir, path) })
}

// list looks for manifests below root, which may also be one file. It fails if
// root cannot be read.
func list(root string) (listing, error) {
	return walk(root, func(string) {})
}

// walk is list with a function that is called with each directory before its
// entries are read.
func walk(root string, enter func(dir string)) (listing, error) {
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

// walker is where a walk has got to.
type walker struct {
	enter func(dir string)
	seen  map[string]bool // directories by their real path, so that links in a circle end
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

// entry takes directories, files with the right name, and links to either. What
// is gone by now is passed over, and so is a link that leads nowhere.
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
	case isManifest(path): // reading it tells what is wrong with it
		w.found.files = append(w.found.files, path)
	}
}

// isManifest reports whether a file is read, by the end of its name.
func isManifest(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// hidden reports whether an entry is passed over: hidden files and directories,
// among them "..data" of a mounted ConfigMap and editors' swap files, and
// editors' backups.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#") || strings.HasSuffix(name, "~")
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
