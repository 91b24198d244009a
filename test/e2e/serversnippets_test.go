package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"sluice/test/kit"
)

// TestInheritedOfServerSnippet: what the documentation of well-known charts has in a server
// snippet works, and lets nobody in whom another Ingress of the host refuses.
func TestInheritedOfServerSnippet(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Powered-By", "web")
			status, _ := strconv.Atoi(r.URL.Query().Get("status"))
			if status != 0 {
				w.WriteHeader(status)
			}
			echo("web").ServeHTTP(w, r)
		}))
		t.Cleanup(web.Close)
		users := `
apiVersion: v1
kind: Secret
metadata: {name: users, namespace: default}
stringData: {auth: "ann:$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"}
---
`
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": allowed, "users.yaml": users,
			"a.yaml": ingress("a", "shop.example", []string{"/ Prefix web"}, "server-snippet: "+
				"server_tokens off; proxy_hide_header X-Powered-By; client_header_buffer_size 64k; large_client_header_buffers 4 128k;"+
				"deny 192.0.2.1; allow all; proxy_intercept_errors on; error_page 404 502 /sorry; location = /sorry { internal; return 200 sorry; }"),
			"b.yaml": ingress("b", "shop.example", []string{"/b Prefix web"}, "auth-type: basic", "auth-secret: users", "satisfy: any"),
			"c.yaml": ingress("c", "plain.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		asked := kit.OwnAddress(t)
		if asked == "" {
			t.Skip("this machine has no address but its loopback")
		}
		s.write("asked.yaml", ingress("asked", "", []string{"/asked Exact web"}))
		s.write("d.yaml", ingress("d", "shop.example", []string{"/d Prefix web"}, fmt.Sprintf("auth-url: http://%s:%d/asked?status=404", asked, s.HTTP)))
		s.waitBackend("http://shop.example/", "web")
		s.waitStatus("http://shop.example/d", 500)

		large := http.Header{"X-Large": {strings.Repeat("x", 100<<10)}}
		for _, c := range []struct {
			url    string
			header http.Header
			status int
			body   string // in it
			hidden bool
		}{
			{"http://shop.example/", nil, 200, `"Backend"`, true},
			{"http://plain.example/", nil, 200, `"Backend"`, false},
			{"http://shop.example/", large, 200, `"Backend"`, true},
			{"http://plain.example/", large, 400, "", true},
			{"http://shop.example/?status=404", nil, 404, "sorry", true},
			{"http://shop.example/?status=403", nil, 403, `"Backend"`, true},
			{"http://plain.example/?status=404", nil, 404, `"Backend"`, false},
			{"http://shop.example/b", nil, 401, "", true}, // "allow all" would admit clients that "satisfy any" keeps out
			{"http://shop.example/d", nil, 500, "", true}, // the page for 404 has 200, and the authentication server answers 404
		} {
			got, err := s.ask(http.MethodGet, c.url, c.header)
			hidden := got.header.Get("X-Powered-By") == ""
			if err != nil || got.status != c.status || !strings.Contains(got.body, c.body) || hidden != c.hidden {
				t.Errorf("%s: got %d %.40q, header hidden %v, error %v; want %d, %q in it, hidden %v", c.url, got.status, got.body, hidden, err, c.status, c.body, c.hidden)
			}
		}
	})
}
