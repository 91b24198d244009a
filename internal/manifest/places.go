package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// place is a watched directory.
type place struct {
	info fs.FileInfo // as it was when the watch began
	// listed is the path by which its manifests are listed, which can contain links;
	// empty if they are not read.
	listed string
	names  []string // other entries whose changes matter
}

// renewal is one pass over the directories to watch. They are known by their real paths,
// because the kernel has one watch for all names of a directory.
type renewal struct {
	*watcher
	now  map[string]*place
	errs []error
}

// renew watches the current directories, and no others.
func (w *watcher) renew() error {
	w.dropStale()
	r := renewal{watcher: w, now: map[string]*place{}}
	for _, path := range anchors(w.root) {
		r.watchEntry(path)
	}
	found, err := list(w.root, func(dir string) { r.watch(dir).listed = dir })
	if err == nil { // otherwise the anchors signal a change
		for _, path := range found.links {
			r.watchEntry(path)
		}
		for _, path := range found.files {
			if target, ok := linkTarget(path); ok {
				r.watchEntry(target)
			}
		}
	}
	for dir := range w.places {
		if r.now[dir] == nil {
			w.drop(dir)
		}
	}
	w.places = r.now
	return errors.Join(r.errs...)
}

// dropStale ends the watches of directories that are gone or were replaced. It runs
// before new watches begin: a moved directory keeps its watch in the kernel, so dropping
// its old name later would end the watch of its new name.
func (w *watcher) dropStale() {
	alive := map[string]bool{}
	for _, dir := range w.notify.WatchList() {
		alive[dir] = true
	}
	for dir, p := range w.places {
		info, err := os.Lstat(dir)
		if err != nil || !alive[dir] || !os.SameFile(p.info, info) {
			w.drop(dir)
		}
	}
}

// watchEntry watches one entry of a directory.
func (r *renewal) watchEntry(path string) {
	dir := r.watch(filepath.Dir(path))
	dir.names = append(dir.names, filepath.Base(path))
}

// watch watches a directory. If the directory is gone or unreadable, Load reports it.
func (r *renewal) watch(dir string) *place {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return &place{}
	}
	if p := r.now[real]; p != nil {
		return p
	}
	info, err := os.Stat(real)
	if err != nil {
		return &place{}
	}
	if r.places[real] == nil {
		if err := r.notify.Add(real); err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				r.errs = append(r.errs, fmt.Errorf("%s: %w", real, err))
			}
			return &place{}
		}
	}
	r.now[real] = &place{info: info}
	return r.now[real]
}

// dropAll ends the watches of a directory and of all below it.
func (w *watcher) dropAll(dir string) {
	for path := range w.places {
		if within(dir, path) {
			w.drop(path)
		}
	}
}

// drop ends a watch, if there is one.
func (w *watcher) drop(dir string) {
	delete(w.places, dir)
	_ = w.notify.Remove(dir)
}

// anchors returns the paths outside the tree whose change can replace root: root itself,
// and links and missing directories on the way to it.
func anchors(root string) []string {
	var found []string
	for path := root; path != filepath.Dir(path); path = filepath.Dir(path) {
		info, err := os.Lstat(path)
		if path == root || err != nil || info.Mode()&fs.ModeSymlink != 0 {
			found = append(found, path)
		}
	}
	return found
}

// linkTarget returns the file that a link leads to; false if path is no link.
func linkTarget(path string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", false
	}
	target, err := filepath.EvalSymlinks(path)
	return target, err == nil
}
