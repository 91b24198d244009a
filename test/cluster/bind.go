package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"sluice/test/kit"
)

// ControllerContainer is the container that BindSluice takes a sluice for.
const ControllerContainer = "controller"

// containerKey names a container of a pod.
type containerKey struct{ namespace, pod, name string }

// Program is a process of a test that stands for a container of a pod.
type Program struct {
	// Environment is set for the commands that are run in the container, beside
	// that of the tests; of a name given twice, the last counts.
	Environment []string
	// Log is what the container prints.
	Log kit.Log
}

// bound is a Program with the lines that it has printed so far.
type bound struct {
	Program
	book *logbook
}

// Bind takes a program for a container until the end of the test: pods/exec runs
// commands with its environment, and pods/log gives its log. A line counts as
// printed when it was read, so Bind before the program starts.
func (c *Cluster) Bind(t testing.TB, namespace, pod, name string, program Program) {
	t.Helper()
	key := containerKey{namespace, pod, name}
	b := &bound{Program: program, book: newLogbook(string(program.Log))}
	c.nodes.mu.Lock()
	c.nodes.bound[key] = b
	c.nodes.mu.Unlock()
	t.Cleanup(func() {
		c.nodes.mu.Lock()
		delete(c.nodes.bound, key)
		c.nodes.mu.Unlock()
		b.book.close()
	})
}

// BindSluice takes a sluice for the container "controller" of a pod: there,
// `sluice` is the binary under test, and its default state directory is that of
// the sluice.
func (c *Cluster) BindSluice(t testing.TB, s *Sluice, namespace, pod string) {
	t.Helper()
	home, err := os.MkdirTemp("", "sluice-home-") // its path is short, for the unix sockets below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	if err := os.Symlink(s.State, filepath.Join(home, "sluice")); err != nil {
		t.Fatal(err)
	}
	c.Bind(t, namespace, pod, ControllerContainer, Program{
		Environment: []string{"XDG_STATE_HOME=" + home, "PATH=" + filepath.Dir(SluicePath()) + string(os.PathListSeparator) + os.Getenv("PATH")},
		Log:         s.Log,
	})
}

// boundTo gives what is bound to a container, nil for nothing.
func (n *nodes) boundTo(key containerKey) *bound {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bound[key]
}
