package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sluice/test/bench/measure"
	"sluice/test/kit"
)

// byHand is an nginx with a file as a person would write it for the same work:
// the baseline of what nginx itself costs.
type byHand struct {
	*kit.Process // once it is started
	b            *testing.B
	dir          string
	port         int
	// head is what stands at the http level, before the servers.
	head    string
	workers int
	ports   []int // of the upstream's servers
}

func newByHand(b *testing.B, workers int, ports ...int) *byHand {
	b.Helper()
	return &byHand{b: b, dir: kit.StateDir(b), port: kit.Port(b), workers: workers, ports: ports}
}

func (h *byHand) conf() string { return filepath.Join(h.dir, "nginx.conf") }

// begin writes the file up to the servers of n hosts.
func (h *byHand) begin(out *bytes.Buffer, n int) {
	if os.Geteuid() == 0 {
		fmt.Fprintln(out, "user www-data;")
	}
	fmt.Fprintf(out, `pid %[1]s/nginx.pid;
worker_processes %[2]d;
error_log stderr notice;
events { worker_connections 16384; }
http {
server_names_hash_max_size %[3]d;
server_names_hash_bucket_size 128;
client_body_temp_path %[1]s/body;
proxy_temp_path %[1]s/proxy;
fastcgi_temp_path %[1]s/fastcgi;
uwsgi_temp_path %[1]s/uwsgi;
scgi_temp_path %[1]s/scgi;
proxy_http_version 1.1;
%[4]s`, h.dir, h.workers, max(512, 2*n), h.head)
}

// upstream writes that of the backends, and the server of unknown hosts.
func (h *byHand) upstream(out *bytes.Buffer) {
	out.WriteString("upstream backends {\n")
	for _, port := range h.ports {
		fmt.Fprintf(out, "\tserver 127.0.0.1:%d;\n", port)
	}
	fmt.Fprintf(out, "\tkeepalive 320;\n\tkeepalive_requests 10000;\n}\nserver {\n\tlisten %d default_server reuseport;\n\treturn 404;\n}\n", h.port)
}

// write writes the file for n hosts.
func (h *byHand) write(n int) {
	h.b.Helper()
	var out bytes.Buffer
	h.begin(&out, n)
	h.upstream(&out)
	for i := range n {
		h.server(&out, i)
	}
	out.WriteString("}\n")
	if err := os.WriteFile(h.conf(), out.Bytes(), 0o644); err != nil {
		h.b.Fatal(err)
	}
}

// server writes what three paths of type Prefix mean: a path stands for itself
// and for all below it.
func (h *byHand) server(out *bytes.Buffer, i int) {
	fmt.Fprintf(out, "server {\n\tlisten %d;\n\tserver_name %s;\n", h.port, measure.Host(i))
	for _, path := range measure.Paths {
		if path != "/" {
			fmt.Fprintf(out, "\tlocation = %s { proxy_pass http://backends; }\n", path)
			path += "/"
		}
		fmt.Fprintf(out, "\tlocation ^~ %s { proxy_pass http://backends; }\n", path)
	}
	out.WriteString("}\n")
}

// run prepares a call of nginx on a file.
func run(prefix, conf string, more ...string) *exec.Cmd {
	return installed.Call(append([]string{"-p", prefix, "-e", "stderr", "-g", "daemon off;", "-c", conf}, more...)...)
}

// test has `nginx -t` read a file, and gives the time it took and the processor
// time it used, in seconds.
func test(b *testing.B, prefix, conf string) (took, used float64) {
	b.Helper()
	command := run(prefix, conf, "-t")
	began := time.Now()
	if output, err := command.CombinedOutput(); err != nil {
		b.Fatalf("nginx -t: %v\n%s", err, output)
	}
	took = time.Since(began).Seconds()
	return took, (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds()
}

func (h *byHand) test() (took, used float64) {
	h.b.Helper()
	return test(h.b, h.dir, h.conf())
}

// start starts the master.
func (h *byHand) start() {
	h.b.Helper()
	h.Process = kit.Start(h.b, run(h.dir, h.conf()), kit.Log(filepath.Join(h.dir, "log")))
	h.b.Cleanup(h.stop)
}

func (h *byHand) reload() {
	h.b.Helper()
	if err := h.Command.Process.Signal(syscall.SIGHUP); err != nil {
		h.b.Fatal(err)
	}
}

func (h *byHand) stop() { h.Stop(syscall.SIGTERM, 10*time.Second) }
