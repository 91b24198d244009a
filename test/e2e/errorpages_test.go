package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// TestErrorPages: one location answers in place of all errors. The error backend gets the
// status of the error, from the backend or from nginx, and clients get the status of the error
// backend; of a protected path that of the error, as without endpoints of the error backend.
func TestErrorPages(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/broken" {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			status, err := strconv.Atoi(r.URL.Query().Get("status"))
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(status)
		}))
		t.Cleanup(web.Close)
		page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, `{"backend": "code %s by %s with %d bytes"}`, r.Header.Get("X-Code"), r.Method, r.ContentLength)
		}))
		t.Cleanup(page.Close)
		codes := "custom-http-errors: 400,403,404,413,500,502,503,504"
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "page.yaml": service("page", page), "none.yaml": service("none"),
			"a.yaml": ingress("a", "open.example", []string{"/ Prefix web", "/none Prefix none"}, codes, "default-backend: page", "proxy-next-upstream: off"),
			"b.yaml": ingress("b", "closed.example", []string{"/ Prefix web"}, codes, "default-backend: page", "proxy-next-upstream: off", "denylist-source-range: 10.0.0.0/8"),
			"c.yaml": ingress("c", "empty.example", []string{"/ Prefix web"}, codes, "default-backend: none", "proxy-next-upstream: off"),
			"e.yaml": ingress("e", "fallback.example", []string{"/ Prefix web"}, codes, "default-backend: page", "proxy-next-upstream: off", "sluice.io/fallback-path: /broken"),
			"f.yaml": ingress("f", "status.example", []string{"/ Prefix web"}, "proxy-next-upstream: off", "sluice.io/fallback-path: /broken", "sluice.io/error-status: 503 = 500"),
			"d.yaml": ingress("d", "nginx.example", []string{"/ Prefix web"}, codes, "proxy-next-upstream: off"),
		})
		s.waitStatus("http://open.example/?status=204", http.StatusNoContent)
		for _, c := range []struct {
			method, url string
			status      int
			page        string
		}{
			{"GET", "open.example/?status=404", 418, "code 404 by GET with 0 bytes"},
			{"POST", "open.example/?status=500", 418, "code 500 by POST with 0 bytes"},
			{"GET", "open.example/?status=503", 418, "code 503 by GET with 0 bytes"},
			{"GET", "open.example/?status=501", 501, ""},
			{"GET", "open.example/", 418, "code 502 by GET with 0 bytes"},
			{"GET", "open.example/none", 418, "code 503 by GET with 0 bytes"},
			{"GET", "closed.example/?status=404", 404, "code 404 by GET with 0 bytes"},
			{"GET", "closed.example/", 502, "code 502 by GET with 0 bytes"},
			{"GET", "empty.example/?status=404", 404, ""},
			{"GET", "empty.example/", 502, ""},
			{"GET", "fallback.example/?status=404", 418, "code 503 by GET with 0 bytes"},
			{"POST", "fallback.example/?status=404", 404, ""},
			{"GET", "status.example/?status=404", 500, ""},
			{"GET", "nginx.example/?status=404", 404, ""},
			{"GET", "nginx.example/", 502, ""},
		} {
			a, err := s.ask(c.method, "http://"+c.url, nil)
			if err != nil || a.status != c.status || a.backend != c.page {
				t.Errorf("%s %s: status %d, %q, error %v; want %d, %q", c.method, c.url, a.status, a.backend, err, c.status, c.page)
			}
		}
	})
}
