package kit

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/internal/controller"
	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/selfsigned"
	"sluice/rootfs"
)

// Site is a state directory in which an nginx can run without sluice.
type Site struct {
	Nginx
	State string
	// Environment describes the nginx and the machine for render.
	Environment render.Environment
}

// Site creates a state directory with everything that nginx needs except nginx.conf.
func (n Nginx) Site(t testing.TB) *Site {
	t.Helper()
	state := StateDir(t)
	for _, err := range []error{
		nginx.PrepareState(nginx.Options{StateDir: state}),
		os.CopyFS(filepath.Join(state, "lua"), rootfs.Lua),
		selfsigned.WritePlaceholder(state, time.Now()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files := nginx.OpenFilesHere()
	e := render.Environment{
		OpenFiles: files.Hard, MostOpenFiles: files.Most,
		HTTPPort: Port(t), HTTPSPort: Port(t), StateDir: state, Lua: filepath.Join(state, "lua"), Workers: 1,
		Modules: n.Modules, LuaPath: n.LuaPath, LuaCPath: n.LuaCPath,
		Capabilities: controller.Capabilities(n.Capabilities), StreamModule: n.Capabilities.StreamModule(),
		HeadersMoreModule: n.Capabilities.HeadersMore, ModSecurityModule: n.Capabilities.ModSecurity, CoreRules: n.Capabilities.CoreRules,
		BrotliModule: n.Capabilities.Brotli, GeoIPModule: n.Capabilities.GeoIP,
		Metrics: render.Metrics{Requests: true}, // which must change no answer
	}
	if os.Geteuid() == 0 {
		e.User = "root"
	}
	return &Site{Nginx: n, State: state, Environment: e}
}

// WriteUsers writes the user files.
func (s *Site) WriteUsers(t testing.TB, files []*model.UserFile) {
	t.Helper()
	o := nginx.Options{StateDir: s.State}
	if os.Geteuid() == 0 {
		o.User = "root"
	}
	if err := nginx.New(nginx.Install{}, o, nil).WriteUsers(files); err != nil {
		t.Fatal(err)
	}
}

// Write writes nginx.conf and the files of trusted authorities.
func (s *Site) Write(t testing.TB, trust []render.TrustFile, conf []byte) {
	t.Helper()
	for _, file := range trust {
		if err := os.WriteFile(file.Path, []byte(file.PEM), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.State, "nginx.conf"), conf, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Check runs `nginx -t` on nginx.conf. It returns nginx's output, and an error if
// nginx rejects the file.
func (s *Site) Check() (said string, err error) {
	output, err := s.call("-t").CombinedOutput()
	return string(output), err
}

// Server is an nginx that serves a site.
type Server struct {
	*Process
	Log    Log
	Client *dynamic.Client
}

// Start runs nginx on nginx.conf until the test ends, and waits until it answers
// on the control socket.
func (s *Site) Start(t testing.TB) *Server {
	t.Helper()
	server := &Server{Log: Log(filepath.Join(s.State, "log")), Client: dynamic.New(filepath.Join(s.State, "run", "control.sock"))}
	server.Process = Start(t, s.call("-g", "daemon off;"), server.Log)
	t.Cleanup(func() { server.Stop(syscall.SIGTERM, Patience) })
	defer func() {
		if t.Failed() {
			t.Logf("%s nginx complains:\n%s", s.Name, server.Complaints(t))
		}
	}()
	Await(t, "the control socket of the "+s.Name+" nginx", func() bool {
		if server.Ended() {
			t.Fatalf("%s nginx ended: %v\n%.2000s", s.Name, server.Err, server.Log.Text(t))
		}
		_, err := server.Client.Status(context.Background())
		return err == nil
	})
	return server
}

var complaint = regexp.MustCompile(`\[(warn|error|crit|alert|emerg)\]`)

// Complaints returns the lines of the log of level warn and worse.
func (s *Server) Complaints(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(s.Log.Text(t)) {
		if complaint.MatchString(line) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// call returns a command that runs nginx with the site's nginx.conf.
func (s *Site) call(arguments ...string) *exec.Cmd {
	return s.Call(append([]string{"-p", s.State, "-c", filepath.Join(s.State, "nginx.conf")}, arguments...)...)
}
