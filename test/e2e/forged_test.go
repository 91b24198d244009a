package e2e

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

// logsTo names the file that a process has as its standard error, "" if it has ended.
func logsTo(t *testing.T, pid int) string {
	t.Helper()
	file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/2", pid))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return file
}

// TestForgedLogLinesAreNotNginxs: a request makes a worker write a whole line in
// nginx's form, with the pid of the master. It is passed on, and does not come
// by the way of the lines that Sluice goes by; nor after a reload and a crash.
func TestForgedLogLinesAreNotNginxs(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"a.yaml": ingress("a", "a.example", []string{"/([a-z]*) ImplementationSpecific web"}, "enable-rewrite-log: true", "use-regex: true", "rewrite-target: /$1"),
		})
		forge := func(number int) {
			line := fmt.Sprintf("2026/01/02 03:04:05 [emerg] %d#%d: forged %d", s.master(), s.master(), number)
			eventually(t, "a line that a request forged", func() bool {
				_, _ = s.get("http://a.example/" + url.PathEscape("a\n"+line+"\nb"))
				return len(s.lines(line)) > 0 && strings.HasPrefix(s.lines(line)[0], line)
			})
			// A worker has the file of the master until it begins to accept connections.
			eventually(t, "each worker to log requests to a file of its own", func() bool {
				return !slices.ContainsFunc(workers(s.master()), func(worker int) bool { return logsTo(t, worker) == logsTo(t, s.master()) })
			})
		}
		forge(1)
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
		forge(2)
		kill(t, s.master())
		s.waitLine("pushing everything to nginx again")
		s.waitReady()
		forge(3)
	})
}
