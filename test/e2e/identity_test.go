package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestClientsCannotForgeTheirCertificateOverHTTP2: the headers by which a backend
// learns of a client's certificate do not reach it as a client wrote them.
func TestClientsCannotForgeTheirCertificateOverHTTP2(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, oneHost(web))
		s.waitBackend("http://a.example/", "web")
		transport := s.transport()
		transport.ForceAttemptHTTP2, transport.DisableKeepAlives = true, false
		defer transport.CloseIdleConnections()
		request, err := http.NewRequest(http.MethodGet, "https://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ssl-client-verify", "ssl-client-subject-dn", "ssl-client-issuer-dn", "ssl-client-cert", "ssl_client_verify", "other"} {
			request.Header[name] = []string{"forged"}
		}
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.ProtoMajor != 2 || response.StatusCode != http.StatusOK {
			t.Fatal(response.Proto, response.Status, err)
		}
		if forged := strings.Count(string(body), "forged"); forged != 1 {
			t.Errorf("the backend got %d of the headers, want the other one only: %s", forged, body)
		}
	})
}
