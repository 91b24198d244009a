package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestMetricsBeforeALocation: nginx answers before it looks for a location. Such a request counts for
// the Ingress if all paths of the host are of one, and else for the host only. Others count for their
// path, also after a question to an authentication server.
func TestMetricsBeforeALocation(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		manifests := oneHost(web)
		manifests["config.yaml"] = settings(`allow-snippet-annotations: "true"`, `annotations-risk-level: Critical`)
		manifests["asks.yaml"] = ingress("asks", "asks.example", []string{"/ Prefix web", "/x Prefix web"}, "auth-url: http://web.default.svc.cluster.local/", "server-snippet: if ($arg_gone) { return 410; }")
		manifests["b.yaml"] = ingress("b", "b.example", []string{"/ Prefix web"})
		manifests["c.yaml"] = ingress("c", "b.example", []string{"/c Prefix web"})
		s := start(t, root, manifests, "--configmap", "default/config", "--enable-metrics")
		ask := func(url string, body int, want int) {
			t.Helper()
			request, _ := http.NewRequest("PUT", url, strings.NewReader(strings.Repeat("x", body)))
			request.Header.Set("Expect", "100-continue") // so that the answer comes before the body
			answer, err := s.transport().RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s: %d, want %d", url, answer.StatusCode, want)
			}
		}
		ask("http://asks.example/", 2<<20, 413)
		ask("http://asks.example/?gone=1", 1, 410)
		ask("http://asks.example/x", 1, 500) // nobody answers the question
		ask("http://b.example/c", 2<<20, 413)
		s.waitRequests(1, "host=asks.example", "ingress=asks", "service=", "path=", "status=413")
		s.waitRequests(1, "host=asks.example", "ingress=asks", "service=", "path=", "status=410")
		s.waitRequests(1, "host=asks.example", "ingress=asks", "service=web", "path=/x", "status=500")
		s.waitRequests(1, "host=b.example", "ingress=", "namespace=", "path=", "status=413")
		s.waitRequests(4)
	})
}
