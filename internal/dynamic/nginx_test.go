package dynamic_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"text/template"
	"time"

	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/rootfs"
)

// deadline bounds every wait of these tests.
const deadline = 2 * time.Minute

// install is an nginx to test with.
type install struct{ name, root string }

// installs are the nginx of the system and, if SLUICE_NGINX_ROOT names one, that of a
// root file system.
func installs() []install {
	found := []install{{name: "system"}}
	if root := os.Getenv("SLUICE_NGINX_ROOT"); root != "" {
		found = append(found, install{name: "root", root: root})
	}
	return found
}

// everywhere runs a test with each nginx.
func everywhere(t *testing.T, test func(t *testing.T, i install)) {
	t.Helper()
	t.Parallel()
	for _, i := range installs() {
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			test(t, i)
		})
	}
}

func (i install) command(t testing.TB, arguments ...string) *exec.Cmd {
	t.Helper()
	found, err := nginx.Inspect(t.Context(), nginx.Options{Root: i.root})
	if err != nil {
		t.Fatal(err)
	}
	argv := found.Command(arguments...)
	return exec.Command(argv[0], argv[1:]...)
}

// server is a running nginx with our Lua and a minimal configuration.
type server struct {
	install
	state   string
	command *exec.Cmd
	log     *lockedBuffer
	client  *dynamic.Client
	// The sizes of the dictionaries; empty for those of a real one.
	Backends, Certificates string
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

var conf = template.Must(template.New("conf").Parse(`
daemon off; {{.User}} pid {{.State}}/nginx.pid; error_log stderr notice; worker_processes 2; worker_shutdown_timeout 5s;
load_module {{.Root}}/usr/lib/nginx/modules/ndk_http_module.so; load_module {{.Root}}/usr/lib/nginx/modules/ngx_http_lua_module.so;
events { worker_connections 512; }
http {
  access_log off; client_body_temp_path {{.State}}/temp/body; proxy_temp_path {{.State}}/temp/proxy; fastcgi_temp_path {{.State}}/temp/fastcgi;
  uwsgi_temp_path {{.State}}/temp/uwsgi; scgi_temp_path {{.State}}/temp/scgi;
  lua_package_path "{{.State}}/lua/?.lua;{{.Root}}/usr/share/lua/5.1/?.lua;;"; lua_package_cpath "{{.Root}}/usr/lib/x86_64-linux-gnu/lua/5.1/?.so;;";
  lua_shared_dict sluice_runtime 1m; lua_shared_dict sluice_backends {{.Backends}}; lua_shared_dict sluice_certificates {{.Certificates}};
  init_by_lua_file {{.State}}/lua/sluice/entry/init.lua; init_worker_by_lua_file {{.State}}/lua/sluice/entry/init_worker.lua;
  proxy_http_version 1.1; proxy_set_header Connection ""; proxy_next_upstream_tries 3; add_header X-Worker $pid always;
  add_header X-Tried $upstream_addr always;
  upstream sluice { server 0.0.0.1; balancer_by_lua_file {{.State}}/lua/sluice/entry/balancer.lua; keepalive 8; }
  server { listen unix:{{.State}}/run/control.sock; client_max_body_size 16m; client_body_buffer_size 16m; client_body_in_single_buffer on;
    location / { content_by_lua_file {{.State}}/lua/sluice/entry/control.lua; } }
  server { listen unix:{{.State}}/run/small.sock; client_body_buffer_size 1k;
    location / { content_by_lua_file {{.State}}/lua/sluice/entry/control.lua; } }
  server { listen unix:{{.State}}/run/503.sock; return 503; }
  server { listen unix:{{.State}}/run/404.sock; return 404; }
  server { listen unix:{{.State}}/run/http.sock default_server; listen unix:{{.State}}/run/https.sock ssl default_server;
    ssl_certificate {{.State}}/placeholder.crt; ssl_certificate_key {{.State}}/placeholder.key; ssl_session_tickets off;
    ssl_client_hello_by_lua_file {{.State}}/lua/sluice/entry/client_hello.lua;
    location / { set $route "shop/web/front/80"; proxy_pass http://sluice; }
    location /endless { set $route "shop/web/front/80"; proxy_next_upstream_tries 0; proxy_pass http://sluice; }
    location /other { set $route "shop/web/other/80"; proxy_pass http://sluice; }
    location /tls { set $route "shop/web/other/80"; proxy_pass https://sluice; } }
}
`))

// start runs nginx until the test ends.
func start(t testing.TB, s *server) *server {
	t.Helper()
	s.state = t.TempDir()
	s.client = dynamic.New(s.state + "/run/control.sock")
	for _, dir := range []string{"run", "temp"} {
		check(t, os.Mkdir(filepath.Join(s.state, dir), 0o700))
	}
	check(t, os.CopyFS(s.state+"/lua", rootfs.Lua))
	placeholder := certificate(t, "placeholder.invalid")
	check(t, os.WriteFile(s.state+"/placeholder.crt", placeholder.Chain, 0o600))
	check(t, os.WriteFile(s.state+"/placeholder.key", placeholder.Key, 0o600))
	s.writeConf(t)
	s.run(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

func (s *server) writeConf(t testing.TB) {
	t.Helper()
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	data := map[string]string{"User": user, "State": s.state, "Root": s.root, "Backends": s.Backends, "Certificates": s.Certificates}
	for _, name := range []string{"Backends", "Certificates"} {
		if data[name] == "" {
			data[name] = "32m"
		}
	}
	var text bytes.Buffer
	check(t, conf.Execute(&text, data))
	check(t, os.WriteFile(s.state+"/nginx.conf", text.Bytes(), 0o600))
}

// run starts the process and waits for both workers.
func (s *server) run(t testing.TB) {
	t.Helper()
	s.log = new(lockedBuffer)
	s.command = s.install.command(t, "-e", "stderr", "-p", s.state+"/", "-c", s.state+"/nginx.conf")
	s.command.Stderr = s.log
	check(t, s.command.Start())
	s.await(t, "two workers", func() bool {
		status, err := s.client.Status(t.Context())
		return err == nil && len(status.Workers) == 2
	})
}

func (s *server) stop(t testing.TB) {
	t.Helper()
	if s.command == nil {
		return
	}
	check(t, s.command.Process.Signal(syscall.SIGTERM))
	_ = s.command.Wait()
	s.command = nil
	if t.Failed() {
		t.Logf("nginx said:\n%s", s.log)
	}
}

// reload loads the configuration again.
func (s *server) reload(t testing.TB) {
	t.Helper()
	check(t, s.command.Process.Signal(syscall.SIGHUP))
}

// await polls until a condition holds.
func (s *server) await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s; nginx said:\n%s", what, deadline, s.log)
		}
	}
}

// web returns an HTTP client of the server that opens a new connection each time.
func (s *server) web() *http.Client {
	transport := &http.Transport{DialContext: dialUnix(s.state + "/run/http.sock"), DisableKeepAlives: true}
	return &http.Client{Timeout: deadline, Transport: transport}
}

func dialUnix(path string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testKey signs all certificates of the tests but those that need another.
var testKey = sync.OnceValues(func() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
})

// certificate makes a self-signed one for a name, with the name as its ID in
// hexadecimal.
func certificate(t testing.TB, name string) *model.Certificate {
	t.Helper()
	key, err := testKey()
	check(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	check(t, err)
	issued := x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, &issued, &issued, &key.PublicKey, key)
	check(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	return &model.Certificate{
		ID:    fmt.Sprintf("%x%x", name, serial.Bytes()),
		Chain: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:   pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}
}
