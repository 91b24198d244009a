package cluster

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	// Folders are where folders of the container really are, by their paths in it:
	// the process has no file system of its own. Commands that name one as an
	// argument are given the real one.
	Folders map[string]string
	// Ports are those of this machine on which the process listens, by the ports of its
	// container. Others are forwarded to the pod's address.
	Ports map[int32]int
	// Log is what the container prints.
	Log kit.Log
}

// real gives an argument of a command with the real path of a folder in it, such
// as "--state-dir=/var/lib/sluice".
func (p Program) real(argument string) string {
	flag, path, given := strings.Cut(argument, "=")
	if !given {
		flag, path = "", argument
	} else {
		flag += "="
	}
	for folder, really := range p.Folders {
		if rest, below := strings.CutPrefix(path, folder); below && (rest == "" || rest[0] == '/') {
			return flag + really + rest
		}
	}
	return argument
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
// the sluice, as is the one that the container's arguments name.
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
		Folders:     c.stateFolder(t, containerKey{namespace, pod, ControllerContainer}, s.State),
		Log:         s.Log,
	})
}

// stateFolder says where the state directory really is that a container's
// arguments name.
func (c *Cluster) stateFolder(t testing.TB, key containerKey, really string) map[string]string {
	t.Helper()
	pod, err := c.clients.CoreV1().Pods(key.namespace).Get(context.Background(), key.pod, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{}
	for _, container := range pod.Spec.Containers {
		for i, argument := range container.Args {
			folder, given := strings.CutPrefix(argument, "--state-dir=")
			if argument == "--state-dir" && i+1 < len(container.Args) {
				folder, given = container.Args[i+1], true
			}
			if given && container.Name == key.name {
				folders[folder] = really
			}
		}
	}
	return folders
}

// listensAt gives where a port of a pod is: of a bound process, or of the pod's address.
func (n *nodes) listensAt(namespace, pod, address string, port int32) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, b := range n.bound {
		if own := b.Ports[port]; key.namespace == namespace && key.pod == pod && own != 0 {
			return net.JoinHostPort("127.0.0.1", strconv.Itoa(own))
		}
	}
	return net.JoinHostPort(address, strconv.Itoa(int(port)))
}

// boundTo gives what is bound to a container, nil for nothing.
func (n *nodes) boundTo(key containerKey) *bound {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bound[key]
}
