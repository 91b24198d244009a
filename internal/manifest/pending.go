package manifest

import "sync"

// pending holds the files that the next Load reads. The zero value means all files:
// there is no watch, or the watch does not know which files changed.
type pending struct {
	mu      sync.Mutex
	watched bool            // a watch records changes
	known   bool            // only paths can have changed
	paths   map[string]bool // as they are listed
}

// watch begins the recording of changes.
func (p *pending) watch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched = true
}

// watching reports whether changes are recorded.
func (p *pending) watching() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.watched
}

// unwatch ends the recording of changes.
func (p *pending) unwatch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched, p.known, p.paths = false, false, nil
}

// file records a new, changed or deleted file.
func (p *pending) file(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known {
		p.paths[path] = true
	}
}

// everything records that any file can have changed.
func (p *pending) everything() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.paths = false, nil
}

// take returns the recorded files, or everything, and starts over. Without a watch it
// always returns everything.
func (p *pending) take() (paths []string, everything bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	everything = !p.known
	for path := range p.paths {
		paths = append(paths, path)
	}
	p.known, p.paths = p.watched, map[string]bool{}
	return paths, everything
}
