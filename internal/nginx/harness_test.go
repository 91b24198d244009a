package nginx

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/test/ports"
)

//go:embed testdata/*.lua
var lua embed.FS

// patience limits each wait of a test.
const patience = 2 * time.Minute

// each runs a test with the nginx of this system, which must exist, and with that of
// the root SLUICE_NGINX_ROOT if it is set.
func each(t *testing.T, test func(t *testing.T, s *site)) {
	t.Helper()
	t.Parallel()
	roots := map[string]string{"system": ""}
	if root := os.Getenv("SLUICE_NGINX_ROOT"); root != "" {
		roots["root"] = root
	}
	for name, root := range roots {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newSite(t, Options{Root: root}))
		})
	}
}

// site is a state directory with an nginx to run in it.
type site struct {
	t       *testing.T
	options Options
	install Install
	log     *recorder
}

func newSite(t *testing.T, o Options) *site {
	t.Helper()
	s := &site{t: t, options: o, log: &recorder{}}
	var err error
	if s.install, err = Inspect(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s.options.StateDir = stateDir(t)
	s.options.Stderr = s.log
	s.options.Logger = slog.New(slog.NewTextHandler(s.log, nil))
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	// A test that left nginx behind would otherwise keep "go test" waiting.
	s.options.Stdout = null
	if err := PrepareState(s.options); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"init", "init_worker", "status", "hold"} {
		text, err := lua.ReadFile("testdata/" + name + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		s.write("lua/"+name+".lua", string(text))
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.log.String())
		}
	})
	return s
}

// stateDir is a directory that every account can pass, unlike t.TempDir's.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice-nginx-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.options.path(name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// conf returns a whole configuration: the control socket, with additions in main and
// http context.
func (s *site) conf(main, http string) Conf {
	var load strings.Builder
	for _, module := range s.install.Modules {
		fmt.Fprintf(&load, "load_module %q;\n", module)
	}
	return Conf(strings.NewReplacer("STATE", s.options.StateDir, "LOAD", load.String(), "MAIN", main, "HTTP", http,
		"CPATH", s.install.LuaCPath, "LUAPATH", s.install.LuaPath).Replace(`LOAD
pid STATE/nginx.pid;
error_log stderr notice;
worker_processes 2;
worker_shutdown_timeout 20s;
MAIN
events { worker_connections 256; }
http {
access_log off;
client_body_temp_path STATE/temp/body; proxy_temp_path STATE/temp/proxy; fastcgi_temp_path STATE/temp/fastcgi;
uwsgi_temp_path STATE/temp/uwsgi; scgi_temp_path STATE/temp/scgi;
lua_package_path "STATE/lua/?.lua;LUAPATH;;"; lua_package_cpath "CPATH;;";
lua_shared_dict sluice_runtime 1m;
init_by_lua_file STATE/lua/init.lua;
init_worker_by_lua_file STATE/lua/init_worker.lua;
server { listen unix:STATE/run/control.sock; location / { content_by_lua_file STATE/lua/status.lua; } }
HTTP
}
`))
}

// web is a configuration whose port answers with a text.
func (s *site) web(address, text string) Conf {
	return s.conf("", fmt.Sprintf(`server { listen %s reuseport; return 200 %q; }`, address, text))
}

// holding is one whose port holds a request until the file "release" exists.
func (s *site) holding(address string) Conf {
	return s.conf("", fmt.Sprintf(`server { listen %s; set $release %s/release; location / { content_by_lua_file %[2]s/lua/hold.lua; } }`, address, s.options.StateDir))
}

// status asks over a new connection.
func (s *site) status(ctx context.Context) (Status, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", s.options.path("run/control.sock"))
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://control/", nil)
	if err != nil {
		return Status{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return Status{}, err
	}
	defer response.Body.Close()
	var status Status
	return status, json.NewDecoder(response.Body).Decode(&status)
}

// process makes a Process that is stopped when the test ends.
func (s *site) process() *Process {
	p := New(s.install, s.options, s.status)
	s.t.Cleanup(func() {
		if err := p.Stop(context.Background(), 0); err != nil {
			s.t.Error(err)
		}
		if r := p.currentRun(); r != nil && len(membersOf(r.PID)) > 0 {
			s.t.Errorf("processes are left: %v", membersOf(r.PID))
		}
	})
	return p
}

// started is a Process that runs the bootstrap file.
func (s *site) started() *Process {
	s.t.Helper()
	p := s.process()
	if err := p.Start(s.t.Context(), s.conf("", "")); err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *site) apply(p *Process, conf Conf) Result {
	s.t.Helper()
	result, err := p.Apply(s.t.Context(), conf)
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

// get asks over a new connection.
func get(t *testing.T, address string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Get("http://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// freeAddress is an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", ports.Take(t))
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := poll(ctx, func() (bool, error) { return condition(), nil }); err != nil {
		t.Fatalf("waited in vain: %s", what)
	}
}

// await takes the next event, which must be of a kind.
func await(t *testing.T, p *Process, want EventKind) Event {
	t.Helper()
	select {
	case e := <-p.Events():
		if e.Kind != want {
			t.Fatalf("event %v, want %s", e, want)
		}
		return e
	case <-time.After(patience):
		t.Fatalf("no event, want %s", want)
	}
	return Event{}
}

// recorder is a writer that several may write to.
type recorder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// entries lists a directory of the state, with the type of each entry.
func (s *site) entries(dir string) []string {
	s.t.Helper()
	list, err := os.ReadDir(filepath.Join(s.options.StateDir, dir))
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, entry := range list {
		names = append(names, entry.Type().String()+" "+entry.Name())
	}
	return names
}

func (s *site) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.options.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}
