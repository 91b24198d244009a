package golden

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/internal/model"
	"sluice/test/kit"
)

// TestDispatchKeepsTheRequest: the method, the URI as it was sent, and the body of a request that is
// told apart by a header, also of one that waits until it may send the body.
func TestDispatchKeepsTheRequest(t *testing.T) {
	t.Parallel()
	manifests := asking[:strings.Index(asking, "apiVersion")] + paging
	body := strings.Repeat("x", 300_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprint(w, r.Method, " ", r.RequestURI, " ", string(read) == body, err)
	}))
	t.Cleanup(server.Close)
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			o := workOut(t, &testCase{path: "paging", archive: txtar.Parse([]byte(manifests))}, 0)
			nginx, _ := o.serveTo(t, installed, map[string][]model.Endpoint{"api": {endpointAt(t, server.Listener.Addr())}})
			for major := 1; major <= 2; major++ {
				client, scheme := clientOf(t, nginx, major)
				for _, expect := range []string{"", "100-continue"} {
					request, _ := http.NewRequest("PUT", scheme+"://shop.example/%6dissing?a=%2f", strings.NewReader(body))
					request.Header = http.Header{"X-Tenant": {"blue"}, "Expect": {expect}}
					answer, err := client.Do(request)
					if err != nil {
						t.Fatalf("HTTP/%d %q: %v\n%s", major, expect, err, nginx.Complaints(t))
					}
					got, _ := io.ReadAll(answer.Body)
					_ = answer.Body.Close()
					if want := "PUT /%6dissing?a=%2f true <nil>"; answer.ProtoMajor != major || string(got) != want {
						t.Errorf("HTTP/%d %q: %s, want %s", answer.ProtoMajor, expect, got, want)
					}
				}
			}
		})
	}
}
