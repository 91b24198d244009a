package debug

import (
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/debugapi"
)

// serve answers in a new state directory until the test ends.
func serve(t *testing.T, o Options) (stateDir string, stop func()) {
	t.Helper()
	stateDir = t.TempDir()
	stop, err := Serve(filepath.Join(stateDir, debugapi.Socket), Handler(o), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return stateDir, stop
}

// fetch reads a whole answer.
func fetch(t *testing.T, stateDir, path string) (string, error) {
	t.Helper()
	answer, err := Get(t.Context(), stateDir, path)
	if err != nil {
		return "", err
	}
	defer answer.Close()
	text, err := io.ReadAll(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// The socket is its owner's alone, and gone when it is closed.
func TestSocket(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	stateDir, stop := serve(t, o)
	socket := filepath.Join(stateDir, debugapi.Socket)
	info, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	if got, err := fetch(t, stateDir, "/problems"); err != nil || got != get(t, o, "/problems") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := fetch(t, stateDir, "/conf?host=a"); err == nil || err.Error() != `host: no server has the host or the alias "a"` {
		t.Errorf("a refusal comes as %v", err)
	}
	stop()
	entries, err := os.ReadDir(stateDir)
	if err != nil || len(entries) != 0 {
		t.Errorf("%v is left behind, %v", entries, err)
	}
}

// What a controller that was killed left behind is no hindrance.
func TestStaleSocketIsReplaced(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	socket := filepath.Join(stateDir, debugapi.Socket)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	if err := os.MkdirAll(filepath.Join(stateDir, "debug.new", "s"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := "no controller runs with this state directory: nobody listens on " + socket
	if _, err := fetch(t, stateDir, "/general"); err == nil || err.Error() != want {
		t.Errorf("a stale socket says %v, want %s", err, want)
	}
	stop, err := Serve(socket, Handler(optionsOf(stateOf(t, shopManifests))), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := fetch(t, stateDir, "/general"); err != nil {
		t.Error(err)
	}
}

// A controller that ends leaves the socket of the next one alone.
func TestNextSocketIsLeftAlone(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	stateDir, stopFirst := serve(t, o)
	stopSecond, err := Serve(filepath.Join(stateDir, debugapi.Socket), Handler(o), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer stopSecond()
	stopFirst()
	if _, err := fetch(t, stateDir, "/general"); err != nil {
		t.Error(err)
	}
}

// What keeps a question from being asked is said in one line.
func TestGetSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	for path, want := range map[string]string{
		"/general":  "no controller runs with this state directory: nobody listens on " + filepath.Join(stateDir, debugapi.Socket),
		"general":   `"general": want a path that begins with /, such as /general`,
		"/conf?%zz": "no controller runs",
		"/%zz":      `"/%zz": want a path with a query that is percent-encoded: invalid URL escape "%zz"`,
		"/a\nb":     `"/a\nb": want a path with a query that is percent-encoded: net/url: invalid control character in URL`,
	} {
		_, err := fetch(t, stateDir, path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", path, err, want)
		}
	}
}
