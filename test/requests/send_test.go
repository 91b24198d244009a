package requests

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/test/effects"
	"sluice/test/kit"
)

// world is an nginx that serves the hosts, and the connections of a client to it.
type world struct {
	port, securePort int
	mu               sync.Mutex
	clients          map[string]*http.Transport
}

// client returns connections of HTTP/1.1 or HTTP/2, and the address to ask. Requests to different hosts
// share them, unless hosts ask for certificates.
func (w *world) client(r request, host string, e *effects.Effect) (*http.Transport, string) {
	over := ""
	if e != nil {
		over = e.Over
	}
	port, to := w.port, fmt.Sprintf("http://127.0.0.1:%d", w.port)
	switch {
	case over != "":
		port, to = w.securePort, "https://"+host
	case r.http2:
		port, to = w.securePort, fmt.Sprintf("https://127.0.0.1:%d", w.securePort)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := fmt.Sprint(over, r.http2, r.wait)
	if w.clients[key] == nil {
		if w.clients == nil {
			w.clients = map[string]*http.Transport{}
		}
		config := &tls.Config{InsecureSkipVerify: true}
		if over == effects.WithCertificate {
			config.Certificates = []tls.Certificate{effects.Ann().Certificate}
		}
		w.clients[key] = &http.Transport{
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
			},
			ForceAttemptHTTP2: r.http2, DisableKeepAlives: r.wait > 0, DisableCompression: true, ExpectContinueTimeout: kit.RequestPatience, TLSClientConfig: config,
		}
	}
	return w.clients[key], to
}

// bodies are those of requests.
var bodies = sized(20 << 20)

// send sends a request to the host of an effect, nil for none, and returns what is to be the same everywhere.
func (w *world) send(t *testing.T, r request, host string, e *effects.Effect) seen {
	t.Helper()
	client, to := w.client(r, host, e)
	ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(r.wait, kit.RequestPatience))
	defer cancel()
	var body io.Reader
	if r.body > 0 {
		body = strings.NewReader(bodies[:r.body])
		if r.chunked {
			body = io.MultiReader(body)
		}
	}
	asked, err := http.NewRequestWithContext(ctx, cmp.Or(r.method, "GET"), to+"/a"+cmp.Or(r.path, "/x"), body)
	if err != nil {
		t.Fatal(err)
	}
	asked.Host = host
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
	s := seen{status: answer.StatusCode, got: answer.Header.Get("Got"), request: answer.Header.Get("Request"), headers: headersOf(answer)}
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
	hash := sha256.New()
	length, err := io.Copy(hash, answer.Body)
	s.body = fmt.Sprintf("%d bytes %x", length, hash.Sum(nil)[:4])
	if err != nil {
		s.fault, s.body = "it ends early", ""
	}
	s.trailer = answer.Trailer.Get("X-Sum") + cmp.Or(answer.Trailer.Get("Grpc-Status"), answer.Header.Get("Grpc-Status"))
	return s
}

// headersOf returns the headers of an answer, but for those that differ each time and what the Service
// tells. Early hints are no part of it.
func headersOf(answer *http.Response) string {
	var lines []string
	for name, values := range answer.Header {
		switch name {
		case "Date", "Got", "Request", "X-Large":
		case "Expires":
			lines = append(lines, name)
		default:
			lines = append(lines, fmt.Sprintf("%s: %.200q", name, values))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, " | ")
}
