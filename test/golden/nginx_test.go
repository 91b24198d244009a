package golden

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/internal/controller"
	"sluice/internal/dynamic"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/rootfs"
)

// patience bounds every wait for something that must happen.
const patience = 20 * time.Second

// installation is an nginx that is there.
type installation struct {
	name string
	root string
	nginx.Install
}

// installations are the system's nginx and, if SLUICE_NGINX_ROOT names one, that
// of another root file system.
func installations(t *testing.T) []installation {
	t.Helper()
	found, err := inspectAll()
	if err != nil {
		t.Fatalf("an nginx to test with is missing (`make setup` installs it): %v", err)
	}
	return found
}

var inspectAll = sync.OnceValues(func() ([]installation, error) {
	found := []installation{{name: "system", root: "/"}}
	if root := os.Getenv("SLUICE_NGINX_ROOT"); root != "" {
		found = append(found, installation{name: "shipped", root: root})
	}
	for i := range found {
		install, err := nginx.Inspect(context.Background(), nginx.Options{Root: found[i].root})
		if err != nil {
			return nil, err
		}
		found[i].Install = install
	}
	return found, nil
})

// command runs this nginx.
func (i installation) command(arguments ...string) *exec.Cmd {
	argv := i.Command(arguments...)
	return exec.Command(argv[0], argv[1:]...)
}

// environment is what render must know of this nginx and this machine.
func (i installation) environment(state string) render.Environment {
	e := render.Environment{
		HTTPPort: freePort(), HTTPSPort: freePort(), StateDir: state, Lua: filepath.Join(state, "lua"), Workers: 1,
		Modules: i.Modules, LuaPath: i.LuaPath, LuaCPath: i.LuaCPath,
		Capabilities: render.Capabilities{HTTP2Directive: i.Capabilities.HTTP2Directive},
	}
	if os.Geteuid() == 0 {
		e.User = "root"
	}
	return e
}

// stateDir makes a state directory with what nginx reads of it. Its path is
// short, because that of a unix socket may have 107 bytes.
func stateDir(t *testing.T) string {
	t.Helper()
	state, err := os.MkdirTemp("", "slg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(state) })
	if err := nginx.PrepareState(nginx.Options{StateDir: state}); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(state, "lua"), rootfs.Lua); err != nil {
		t.Fatal(err)
	}
	if err := controller.WritePlaceholder(state, time.Now()); err != nil {
		t.Fatal(err)
	}
	return state
}

// ports that were given out. nginx listens with reuseport, so two that use the
// same one would not notice; the range is below the one the kernel gives out.
var (
	portsMutex sync.Mutex
	nextPort   = 20000 + os.Getpid()%200*40
)

// freePort gives a port that nobody listens on and nobody else was given.
func freePort() int {
	portsMutex.Lock()
	defer portsMutex.Unlock()
	for {
		nextPort++
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", nextPort))
		if err == nil {
			listener.Close()
			return nextPort
		}
	}
}

// check has nginx read a configuration, as `nginx -t` does.
func (i installation) check(t *testing.T, state string) {
	t.Helper()
	out, err := i.command("-t", "-p", state, "-c", filepath.Join(state, "nginx.conf")).CombinedOutput()
	if err != nil {
		t.Fatalf("%s nginx refuses the configuration: %v\n%s", i.name, err, out)
	}
}

// refuses has nginx read a configuration that it must refuse with these words.
func (i installation) refuses(t *testing.T, state, words string) {
	t.Helper()
	out, err := i.command("-t", "-p", state, "-c", filepath.Join(state, "nginx.conf")).CombinedOutput()
	if err == nil || words == "" || !strings.Contains(string(out), words) {
		t.Errorf("%s nginx must refuse the configuration and say %q: %v\n%s", i.name, words, err, out)
	}
}

// running is an nginx that serves a case.
type running struct {
	command *exec.Cmd
	client  *dynamic.Client
	log     *logBuffer
	exited  chan error
	ports   render.Environment
}

// start runs nginx in the foreground until the test ends, and waits until it
// answers on the control socket.
func (i installation) start(t *testing.T, state string, ports render.Environment) *running {
	t.Helper()
	r := &running{log: &logBuffer{}, exited: make(chan error, 1), ports: ports, client: dynamic.New(filepath.Join(state, "run", "control.sock"))}
	r.command = i.command("-p", state, "-c", filepath.Join(state, "nginx.conf"), "-g", "daemon off;")
	r.command.Stderr, r.command.Stdout = r.log, r.log
	r.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.exited <- r.command.Wait() }()
	t.Cleanup(r.stop)
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-r.exited:
			r.exited <- err
			t.Fatalf("%s nginx ended: %v\n%s", i.name, err, r.log.problems())
		default:
		}
		if _, err := r.client.Status(context.Background()); err == nil {
			return r
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s nginx does not answer on its control socket\n%s", i.name, r.log.problems())
		}
	}
}

// stop ends the master and its workers, which are a process group of their own.
func (r *running) stop() {
	_ = r.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.exited:
	case <-time.After(patience):
		_ = syscall.Kill(-r.command.Process.Pid, syscall.SIGKILL)
		<-r.exited
	}
}

// logBuffer collects nginx's log.
type logBuffer struct {
	mutex sync.Mutex
	bytes bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.bytes.Write(p)
}

// text gives what was logged so far.
func (l *logBuffer) text() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.bytes.String()
}

var complaint = regexp.MustCompile(`\[(warn|error|crit|alert|emerg)\]`)

// problems are the lines of level warn and worse.
func (l *logBuffer) problems() string {
	var out strings.Builder
	for line := range strings.Lines(l.text()) {
		if complaint.MatchString(line) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// Lines of nginx's debug log. An accepted connection is told by the address of
// its client, so that those to the control socket are not taken for it.
const (
	acceptLine   = `\*(\d+) accept: %s `
	chosenLine   = `(?m)\*%s using configuration "(.*)"$`
	namedLine    = `(?m)\*%s using location: (@\w+) `
	finishedLine = "*%s close http connection"
)

// chosen reads from the debug log which location nginx chose for the request of
// a client's connection: "=/foo", "/foo", "^/pattern", "@name", or "" where it
// chose none. It waits until nginx is done with the connection.
func (l *logBuffer) chosen(client string) (string, error) {
	accept := regexp.MustCompile(fmt.Sprintf(acceptLine, regexp.QuoteMeta(client)))
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		text := l.text()
		accepted := accept.FindAllStringSubmatch(text, -1)
		if len(accepted) > 0 {
			connection := accepted[len(accepted)-1][1]
			if strings.Contains(text, fmt.Sprintf(finishedLine, connection)) {
				return chosenOf(text, connection), nil
			}
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("nginx's debug log says nothing about the request of %s:\n%s", client, text)
		}
	}
}

// chosenOf finds the location of a connection in a log.
func chosenOf(text, connection string) string {
	for _, pattern := range []string{chosenLine, namedLine} {
		if m := regexp.MustCompile(fmt.Sprintf(pattern, connection)).FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}
