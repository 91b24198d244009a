package manifest

import "sync"

// pending is what the next Load has to look at. Without a watch, and where the
// watch cannot tell, that is everything: the zero value says so.
type pending struct {
	mu      sync.Mutex
	watched bool            // a watch notes what changes
	known   bool            // nothing but paths can have changed
	paths   map[string]bool // as they are listed
}

// watch says that changes are noted from now on.
func (p *pending) watch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched = true
}

// watching says whether changes are noted.
func (p *pending) watching() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.watched
}

// unwatch says that changes are not noted any more.
func (p *pending) unwatch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched, p.known, p.paths = false, false, nil
}

// file notes one file that came, changed or went.
func (p *pending) file(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known {
		p.paths[path] = true
	}
}

// everything notes that anything may have changed.
func (p *pending) everything() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.paths = false, nil
}

// take gives the files to look at, or everything. From then on changes are
// noted anew; a source that is not watched never learns of any and goes on
// looking at everything.
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
