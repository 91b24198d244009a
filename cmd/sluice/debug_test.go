package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	nethttp "net/http"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/debug"
	"sluice/internal/debugapi"
)

// answering has a controller answer these bodies, by path and query, and gives its
// state directory. What begins with a number is an error with that status.
func answering(t *testing.T, bodies map[string]string) (stateDir string) {
	t.Helper()
	stateDir = t.TempDir()
	stop, err := debug.Serve(filepath.Join(stateDir, debugapi.Socket), nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		text, found := bodies[r.URL.RequestURI()]
		if !found {
			text = "400 asked for " + r.URL.RequestURI()
		}
		var status int
		if n, _ := fmt.Sscanf(text, "%d ", &status); n == 1 {
			nethttp.Error(w, text[4:], status)
			return
		}
		_, _ = io.WriteString(w, text)
	}), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return stateDir
}

// execute runs this program as it is called by these arguments.
func execute(args ...string) (status int, out, diagnostics string) {
	var stdout, stderr bytes.Buffer
	command := called(args)
	command.SetOut(&stdout)
	command.SetErr(&stderr)
	status = carryOut(command, &stderr)
	return status, stdout.String(), stderr.String()
}

func TestDebugGet(t *testing.T) {
	t.Parallel()
	stateDir := answering(t, map[string]string{
		"/routes?host=shop.example": "[\n  \"as it is\x1b\"\n]\n", "/conf?host=a": "404 host: no server has it", "/general": "503 nothing is served yet",
	})
	if status, out, said := execute("sluice", "debug", "get", "/routes?host=shop.example", "--state-dir", stateDir); status != 0 || out != "[\n  \"as it is\x1b\"\n]\n" || said != "" {
		t.Errorf("%d %q %q", status, out, said)
	}
	for path, want := range map[string]string{"/conf?host=a": "sluice: host: no server has it\n", "/general": "sluice: nothing is served yet\n"} {
		if status, out, said := execute("sluice", "debug", "get", path, "--state-dir", stateDir); status != 1 || out != "" || said != want {
			t.Errorf("%s: %d %q %q, want %q", path, status, out, said, want)
		}
	}
	empty := t.TempDir()
	want := "sluice: no controller runs with this state directory: nobody listens on " + filepath.Join(empty, "debug.sock") + "\n"
	if status, out, said := execute("sluice", "debug", "get", "/general", "--state-dir", empty); status != 1 || out != "" || said != want {
		t.Errorf("%d %q %q, want %q", status, out, said, want)
	}
}

// /dbg takes the commands and flags of ingress-nginx's, and answers in the shape of
// its answers.
func TestDbg(t *testing.T) {
	t.Parallel()
	const web = `{"key": "shop/web/http", "name": "shop-web-http", "namespace": "shop", "service": "web", "port": "http", "endpoints": [{"address": "2001:db8::1", "port": 8080}], "whenEmpty": 503}`
	const numbered = `{"key": "shop/web/80", "name": "shop-web-80", "namespace": "shop", "service": "web", "port": "80", "endpoints": [], "whenEmpty": 503}`
	const chain = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	stateDir := answering(t, map[string]string{
		"/backends": "[" + web + "," + numbered + "]", "/backends?name=shop-web-http": "[" + web + "]", "/backends?name=none": "404 no backend has that name",
		"/conf": "events {}\n", "/general": "{}\n", "/certs?host=shop.example": fmt.Sprintf(`[{"chain": %q}]`, chain), "/certs?host=none": "404 no certificate",
	})
	const asJSON = `{
  "name": "shop-web-http",
  "service": {
    "metadata": {
      "name": "web",
      "namespace": "shop"
    }
  },
  "port": "http",
  "sslPassthrough": false,
  "endpoints": [
    {
      "address": "2001:db8::1",
      "port": "8080"
    }
  ]
}
`
	const second = `{
  "name": "shop-web-80",
  "service": {
    "metadata": {
      "name": "web",
      "namespace": "shop"
    }
  },
  "port": 80,
  "sslPassthrough": false,
  "endpoints": []
}
`
	indent := func(text string) string { return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") }
	for _, test := range []struct{ arguments, out, said string }{
		{"backends list", "shop-web-http\nshop-web-80\n", ""},
		{"backends all", "[\n" + indent(asJSON) + ",\n" + indent(second) + "\n]\n", ""},
		{"backends get shop-web-http --status-port 10247", asJSON, ""},
		{"backends get none", "no backend has that name\n", ""},
		{"certs get shop.example", chain, "the private key is not printed: the controller does not disclose it\n"},
		{"certs get none", "no certificate\n", ""},
		{"conf", "events {}\n", ""},
		{"general", "{}\n", ""},
	} {
		arguments := append([]string{"/dbg"}, append(strings.Fields(test.arguments), "--state-dir", stateDir)...)
		status, out, said := execute(arguments...)
		if diff := cmp.Diff(test.out, out); status != 0 || diff != "" || said != test.said {
			t.Errorf("dbg %s: %d, %q\n%s", test.arguments, status, said, diff)
		}
	}
	for _, wrong := range [][]string{{"/dbg", "bogus"}, {"/dbg", "backends", "bogus"}, {"/dbg", "certs", "bogus"}, {"/dbg", "backends", "get"}, {"sluice", "debug", "bogus"}} {
		if status, _, said := execute(wrong...); status != 2 || said == "" {
			t.Errorf("%q: %d %q", wrong, status, said)
		}
	}
	if status, out, said := execute("/dbg", "conf", "--state-dir", t.TempDir()); status != 1 || out != "" || !strings.Contains(said, "no controller runs") {
		t.Errorf("without a controller: %d %q %q", status, out, said)
	}
}

// Where a controller runs is found by its socket, which must be of this user.
func TestControllerStateDir(t *testing.T) {
	t.Parallel()
	running, without := answering(t, nil), t.TempDir()
	plain := t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, debugapi.Socket), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dirs []string
		want string
	}{
		{[]string{without, plain, running}, running},
		{[]string{running, without}, running},
		{[]string{without, plain}, without},
	} {
		if got := controllerStateDir(test.dirs); got != test.want {
			t.Errorf("of %v: %s", test.dirs, got)
		}
	}
}

// What a terminal would obey is escaped on one, and only on one.
func TestCopyShown(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := copyShown(&out, strings.NewReader("\ta\x1b[31m\tb\u202e\r\n\n\xffé")); err != nil {
		t.Fatal(err)
	}
	if want := "\ta\\x1b[31m\tb\\u202e\\r\n\n\\xffé"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if isTerminal(&out) {
		t.Error("a buffer is no terminal")
	}
	plain, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if isTerminal(plain) {
		t.Error("a plain file is no terminal")
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if !isTerminal(terminal) {
		t.Error("a terminal is one")
	}
}
