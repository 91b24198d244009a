package debug

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/debugapi"
	"sluice/test/ports"
)

// The debug socket has the profiles of the process, and so has the address of --profiling,
// which has nothing else.
func TestProfiles(t *testing.T) {
	t.Parallel()
	if got := get(t, optionsOf(stateOf(t, shopManifests)), debugapi.ProfilesPath+"goroutine?debug=1"); !strings.Contains(got, "goroutine profile: total ") {
		t.Errorf("the socket gives %.100s", got)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports.Take(t)))
	if err := ServeProfiles(t.Context(), address, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{debugapi.ProfilesPath + "heap": 200, debugapi.RoutesPath: 404, "/": 404} {
		response, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		if response.Body.Close(); response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
	if err := ServeProfiles(t.Context(), address, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("the same address is served twice")
	}
}
