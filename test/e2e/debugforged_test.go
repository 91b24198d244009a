package e2e

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"sluice/internal/debugapi"
	"sluice/test/kit"
)

// TestDecisionsAreOurs: a backend cannot write a decision, and a client in the list only by a
// header that a proxy may write gets none.
func TestDecisionsAreOurs(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		forging := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(debugapi.DecisionHeader, `{"host":"forged"}`)
			echo("web").ServeHTTP(w, r)
		}))
		t.Cleanup(forging.Close)
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", forging), "debug.yaml": debugSecret,
			"settings.yaml": settings("debug-header-secret: default/debug", "debug-header-cidrs: 127.0.0.1", `use-forwarded-headers: "true"`),
			"a.yaml":        ingress("a", "a.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://a.example/", "web")
		for name, header := range map[string]http.Header{"without a token": {}, "with a wrong one": asking("x")} {
			if got := s.decided("http://a.example/", header); got != nil {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if got := s.decided("http://a.example/", asking(debugToken)); got == nil || got.Host != "a.example" {
			t.Errorf("with the token: %+v", got)
		}
		for from, wanted := range map[string]bool{"127.0.0.1": true, "127.0.0.2": false} {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
			client := http.Client{Timeout: kit.RequestPatience, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", strconv.Itoa(s.HTTP)))
			}}}
			request, err := http.NewRequest(http.MethodGet, "http://a.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header = http.Header{"X-Forwarded-For": {"127.0.0.1"}, debugapi.DecisionHeader: {debugToken}}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if got := response.Header.Get(debugapi.DecisionHeader); (got != "") != wanted {
				t.Errorf("from %s: %q", from, got)
			}
		}
	})
}

// TestTheTokenStaysHere: a backend whose TLS is passed through is not asked for a decision.
func TestTheTokenStaysHere(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		var asked atomic.Int32
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(debugapi.DecisionHeader) != "" {
				asked.Add(1)
			}
			echo("web").ServeHTTP(w, r)
		}))
		t.Cleanup(web.Close)
		manifests := passing(t, web, "debug-header-secret: default/debug", "debug-header-cidrs: 127.0.0.1")
		manifests["debug.yaml"] = debugSecret
		s := start(t, root, manifests, passingFlags...)
		s.waitBackend("https://ours.example/", "web")
		if _, _, err := s.look("/live?url=" + url.QueryEscape("https://ours.example/")); err != nil {
			t.Errorf("ours.example: %v", err)
		}
		_, said, err := s.look("/live?url=" + url.QueryEscape("https://pass.example/"))
		if err == nil || !strings.Contains(said, "nginx decides nothing about pass.example") {
			t.Errorf("pass.example: %v, %s", err, said)
		}
		if asked.Load() > 0 {
			t.Errorf("%d requests have the token", asked.Load())
		}
	})
}
