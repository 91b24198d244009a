package requests

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"sluice/test/effects"
	"sluice/test/kit"
)

// world is an nginx that serves the hosts.
type world struct{ port, securePort int }

// client returns a client that asks it by HTTP/1.1 or HTTP/2.
func (w *world) client(http2 bool) (client *http.Transport, scheme string) {
	port, scheme := w.port, "http"
	if http2 {
		port, scheme = w.securePort, "https"
	}
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return &http.Transport{
		DialContext: dial, ForceAttemptHTTP2: http2, DisableCompression: true, DisableKeepAlives: !http2,
		ExpectContinueTimeout: kit.RequestPatience, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}, scheme
}

// send sends a request to the host of an effect, and returns what is to be the same everywhere.
func (w *world) send(t *testing.T, r request, e *effects.Effect) seen {
	t.Helper()
	client, scheme := w.client(r.http2)
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), kit.RequestPatience)
	defer cancel()
	var body io.Reader
	if r.body > 0 {
		body = strings.NewReader(sized(r.body))
		if r.chunked {
			body = io.MultiReader(body)
		}
	}
	asked, err := http.NewRequestWithContext(ctx, cmp.Or(r.method, "GET"), scheme+"://"+host(e)+"/a"+cmp.Or(r.path, "/x"), body)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range r.header {
		asked.Header[name] = values
	}
	if e != nil && e.Passes != nil {
		e.Passes(asked)
	}
	answer, err := client.RoundTrip(asked)
	if err != nil {
		return seen{fault: "nothing: " + err.Error()}
	}
	defer answer.Body.Close()
	return read(answer)
}

// read returns an answer. One that ends early is a part of it.
func read(answer *http.Response) seen {
	s := seen{status: answer.StatusCode, got: answer.Header.Get("Got")}
	for _, cookie := range answer.Header["Set-Cookie"] {
		if strings.HasPrefix(cookie, "s") && cookie[2:5] == "=1;" {
			s.cookies++
		}
	}
	if stream, ok := answer.Body.(io.ReadWriter); ok && s.status == http.StatusSwitchingProtocols {
		_, _ = io.WriteString(stream, "hello\n")
		line := make([]byte, len("hello\n"))
		_, err := io.ReadFull(stream, line)
		s.body = fmt.Sprintf("%q %v", line, err)
		return s
	}
	body, err := io.ReadAll(answer.Body)
	s.body = digest(body)
	if err != nil {
		s.fault, s.body = "it ends early", ""
	}
	s.trailer = answer.Trailer.Get("X-Sum") + cmp.Or(answer.Trailer.Get("Grpc-Status"), answer.Header.Get("Grpc-Status"))
	return s
}
