package requests

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/test/effects"
	"sluice/test/kit"
)

// TestCopiesWithoutABodyHaveNoLength: a copy that tells a length and has no body would keep its server
// waiting, and with it the next request of the client.
func TestCopiesWithoutABodyHaveNoLength(t *testing.T) {
	t.Parallel()
	copied := &effects.Effect{Name: "copied", Annotations: "mirror-target: http://shadow.test\nmirror-request-body: \"off\""}
	manifests := effects.Objects + effects.Ingress("copied", "copied.example", "/a", copied)
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			lengths := make(chan string, 10)
			copies := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				lengths <- fmt.Sprint(r.Method, " ", r.ContentLength)
			}))
			t.Cleanup(copies.Close)
			shadow := []model.Endpoint{{Address: "127.0.0.1", Port: copies.Listener.Addr().(*net.TCPAddr).Port}}
			backend := newBackend(t)
			served := installed.Serve(t, manifests, func(b *model.Backend) []model.Endpoint {
				if b.Target.Host == "shadow.test" {
					return shadow
				}
				return backend
			})
			for name, body := range map[string]io.Reader{"a body": strings.NewReader("hello"), "a chunked body": io.MultiReader(strings.NewReader("hello"))} {
				request, _ := http.NewRequest("PUT", fmt.Sprintf("http://127.0.0.1:%d/a/x", served.Environment.HTTPPort), body)
				request.Host = "copied.example"
				answer, err := http.DefaultTransport.RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				_ = answer.Body.Close()
				if got := answer.Header.Get("Got"); !strings.Contains(got, "5 bytes") {
					t.Errorf("%s: the Service got %s", name, got)
				}
				if got := next(lengths); got != "PUT 0" {
					t.Errorf("%s: the copy is %s, want PUT 0", name, got)
				}
			}
		})
	}
}
