package injection

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/internal/controller"
	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/rootfs"
)

// patience bounds every wait for something that must happen.
const patience = 30 * time.Second

// installation is an nginx that is there.
type installation struct {
	name string
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
	roots := map[string]string{"system": "/"}
	names := []string{"system"}
	if root := os.Getenv("SLUICE_NGINX_ROOT"); root != "" {
		roots["shipped"] = root
		names = append(names, "shipped")
	}
	var found []installation
	for _, name := range names {
		install, err := nginx.Inspect(context.Background(), nginx.Options{Root: roots[name]})
		if err != nil {
			return nil, err
		}
		found = append(found, installation{name: name, Install: install})
	}
	return found, nil
})

// site is a state directory for an nginx.
type site struct {
	installation
	state       string
	environment render.Environment
}

// site makes a state directory with what nginx reads of it. Its path is short,
// because that of a unix socket may have 107 bytes.
func (i installation) site(t *testing.T) *site {
	t.Helper()
	state, err := os.MkdirTemp("", "sli")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(state) })
	for _, err := range []error{
		nginx.PrepareState(nginx.Options{StateDir: state}),
		os.CopyFS(filepath.Join(state, "lua"), rootfs.Lua),
		controller.WritePlaceholder(state, time.Now()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	e := render.Environment{
		HTTPPort: freePort(t), HTTPSPort: freePort(t), Addresses: []string{"127.0.0.1"}, StateDir: state, Lua: filepath.Join(state, "lua"), Workers: 1,
		Modules: i.Modules, LuaPath: i.LuaPath, LuaCPath: i.LuaCPath,
		Capabilities: render.Capabilities{HTTP2Directive: i.Capabilities.HTTP2Directive},
	}
	if os.Geteuid() == 0 {
		e.User = "root"
	}
	return &site{installation: i, state: state, environment: e}
}

// freePort gives a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// command runs nginx on the file of the site.
func (s *site) command(arguments ...string) *exec.Cmd {
	argv := s.Command(append([]string{"-p", s.state, "-c", filepath.Join(s.state, "nginx.conf")}, arguments...)...)
	return exec.Command(argv[0], argv[1:]...)
}

// write puts a file where nginx reads it.
func (s *site) write(t *testing.T, file *render.File) {
	t.Helper()
	for _, trust := range file.Trust() {
		if err := os.WriteFile(trust.Path, []byte(trust.PEM), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.state, "nginx.conf"), file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// check has nginx read a file, as `nginx -t` does, and gives what it complains of.
func (s *site) check(t *testing.T, file *render.File) string {
	t.Helper()
	s.write(t, file)
	out, err := s.command("-t").CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

// start runs nginx on the file that was written until the test ends, and pushes
// the endpoints to it.
func (s *site) start(t *testing.T, d model.Dynamic) {
	t.Helper()
	var log bytes.Buffer
	command := s.command("-g", "daemon off;")
	command.Stderr, command.Stdout = &log, nil
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- command.Wait() }()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(patience):
			_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		}
	})
	client := dynamic.New(filepath.Join(s.state, "run", "control.sock"))
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := client.Status(context.Background()); err == nil {
			break
		}
		select {
		case err := <-exited:
			exited <- err
			t.Fatalf("%s nginx ended: %v\n%.2000s", s.name, err, log.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s nginx does not answer on its control socket", s.name)
		}
	}
	if err := client.Push(context.Background(), withEchoes(t, d)); err != nil {
		t.Fatal(err)
	}
}

// withEchoes puts a server that says the key of the backend in the place of its
// endpoints.
func withEchoes(t *testing.T, d model.Dynamic) model.Dynamic {
	t.Helper()
	backends := make([]*model.Backend, len(d.Backends))
	for i, b := range d.Backends {
		replaced := *b
		if len(b.Endpoints) > 0 {
			replaced.Endpoints = []model.Endpoint{echo(t, b.Key)}
		}
		backends[i] = &replaced
	}
	d.Backends = backends
	return d
}

func echo(t *testing.T, key string) model.Endpoint {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Echo-Backend", key)
		w.Header().Set("Echo-Path", r.RequestURI)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return model.Endpoint{Address: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port}
}

// answer is what nginx answered a request.
type answer struct {
	status        int
	backend, path string
	body          string
}

// ask sends a request for a raw URI and gives the answer.
func (s *site) ask(t *testing.T, host, uri string) answer {
	t.Helper()
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.environment.HTTPPort))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", uri, host)
	return readAnswer(t, connection, host+uri)
}
