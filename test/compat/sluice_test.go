package compat

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that must happen.
const patience = 15 * time.Second

// sluice is a running Sluice with its nginx, on ports of 127.0.0.1.
type sluice struct {
	dir, log                  string
	httpAddress, httpsAddress string
	exited                    chan struct{}
	probes                    int
}

// start runs Sluice on the files, until the test ends, and waits until it is
// ready.
func start(t *testing.T, root string, files map[string]string, flags []string) *sluice {
	t.Helper()
	dir := t.TempDir()
	s := &sluice{dir: dir + "/manifests", log: dir + "/log", httpAddress: free(t), httpsAddress: free(t), exited: make(chan struct{})}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		s.write(t, name, content)
	}
	health := free(t)
	output, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	command := exec.Command(binary, append([]string{
		"run", "--manifests", s.dir, "--state-dir", stateDir(t), "--nginx-root", root, "--configmap", settings,
		"--http-port", portOf(s.httpAddress), "--https-port", portOf(s.httpsAddress),
		"--healthz-host", "127.0.0.1", "--healthz-port", portOf(health), "--post-shutdown-grace-period", "1",
	}, flags...)...)
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = command.Wait()
		close(s.exited)
	}()
	t.Cleanup(func() { s.stop(t, command.Process) })
	s.await(t, "readiness", func() bool {
		response, err := http.Get("http://" + health + "/readyz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return s
}

func (s *sluice) stop(t *testing.T, process *os.Process) {
	_ = process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(patience):
		_ = process.Kill()
		<-s.exited
	}
	if t.Failed() {
		t.Logf("log of sluice:\n%s", s.output(t))
	}
}

func (s *sluice) output(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(s.log)
	if err != nil {
		t.Error(err)
	}
	return string(content)
}

// await polls until something holds.
func (s *sluice) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.exited:
			t.Fatalf("%s: sluice has ended\n%s", what, s.output(t))
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s\n%s", what, patience, s.output(t))
		}
	}
}

// write puts a file in place whole, by renaming.
func (s *sluice) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(s.dir, name+".yaml")
	if err := os.WriteFile(path+".part~", []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".part~", path); err != nil {
		t.Fatal(err)
	}
}

// change puts a file in place together with a new host, and waits until a
// worker answers for that host and the sync is over: then all of the file is
// in force.
func (s *sluice) change(t *testing.T, name, content string) {
	t.Helper()
	s.probes++
	host := fmt.Sprintf("probe%d.%s.example.net", s.probes, name)
	probe := object{
		"apiVersion": versions["Ingress"], "kind": "Ingress", "metadata": object{"name": fmt.Sprintf("probe%d", s.probes), "namespace": "probes"},
		"spec": object{"ingressClassName": "nginx", "rules": []object{{"host": host, "http": object{"paths": pathObjects([]string{"/ Prefix nothing"})}}}},
	}
	before := len(s.output(t))
	s.write(t, name, content+asJSON(t, probe))
	s.await(t, "the change of "+name, func() bool {
		c := &call{request: &request{}, scheme: "http", path: "/", lines: [][2]string{{"Host", host}}}
		e := s.send(c) // the probe's Service does not exist
		return e.response != nil && e.response.StatusCode == http.StatusServiceUnavailable && strings.Contains(s.output(t)[before:], "msg=sync ")
	})
}

// stateDir is short, because the path of a unix socket may have 107 bytes, and
// open to the user of the workers.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "slc")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// nextPort is the port to try next. The kernel gives ports from 32768 on to
// connections and to listeners that ask for none, and would soon give one of
// those away again.
var nextPort atomic.Int32

// free gives an address that nobody listens on, each only once.
func free(t *testing.T) string {
	t.Helper()
	nextPort.CompareAndSwap(0, int32(12000+os.Getpid()%16000))
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", nextPort.Add(1))
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
