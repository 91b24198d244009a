package e2e

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/test/kit"
)

// seeded is one difference of the stand-in from Sluice, on an Ingress of its own.
type seeded struct {
	name string
	// host and paths are those of the Ingress; a host is that of most if it is empty, and a
	// path "/NAME Prefix web".
	host        string
	paths       []string
	annotations []string
	// when selects the requests that differ, nil for all of the Ingress.
	when func(q *http.Request) bool
	// before changes the request to Sluice, after the answer.
	before func(q *http.Request)
	after  func(a *http.Response)
	// want is the kind and the name of the difference.
	want string
}

// mostHost is the host of most differences. It has a certificate.
const mostHost = "most.example"

// standIn answers as a Sluice does, except for some differences.
type standIn struct {
	sluice *sluice
	seeds  []seeded
	// certificates are those by host; "" is the default one, and nil refuses.
	certificates map[string]*tls.Certificate
	https        int
}

// start listens, and gives the ports for HTTP and HTTPS.
func (s *standIn) start(t *testing.T) (plain, secured int) {
	t.Helper()
	http1 := httptest.NewServer(http.HandlerFunc(s.answer))
	https1 := httptest.NewUnstartedServer(http.HandlerFunc(s.answer))
	https1.Config.ErrorLog = log.New(io.Discard, "", 0) // of what it refuses
	https1.TLS = &tls.Config{GetConfigForClient: s.configFor}
	https1.StartTLS()
	t.Cleanup(http1.Close)
	t.Cleanup(https1.Close)
	s.https = portOf(https1)
	return portOf(http1), s.https
}

// configFor has the certificate of a host, or refuses it.
func (s *standIn) configFor(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	_, domain, _ := strings.Cut(hello.ServerName, ".")
	for _, name := range []string{hello.ServerName, "*." + domain, ""} {
		if certificate, ok := s.certificates[name]; ok {
			if certificate == nil {
				return nil, fmt.Errorf("no TLS for %s", name)
			}
			return &tls.Config{Certificates: []tls.Certificate{*certificate}}, nil
		}
	}
	return nil, fmt.Errorf("no certificate for %s", hello.ServerName)
}

// answer asks Sluice and changes its answer.
func (s *standIn) answer(w http.ResponseWriter, q *http.Request) {
	var applied []seeded
	for _, seed := range s.seeds {
		if seed.selects(q) {
			applied = append(applied, seed)
		}
	}
	for _, seed := range applied {
		if seed.before != nil {
			seed.before(q)
		}
	}
	response, body, err := s.ask(q)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if to := response.Header.Get("Location"); to != "" {
		response.Header.Set("Location", strings.Replace(to, fmt.Sprintf(":%d/", s.sluice.HTTPS), fmt.Sprintf(":%d/", s.https), 1))
	}
	for _, seed := range applied {
		if seed.after != nil {
			seed.after(response)
		}
	}
	w.Header()["Date"] = nil
	w.Header()["Content-Type"] = nil // or Go adds one
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body)
}

// selects says whether a request is one that differs.
func (d *seeded) selects(q *http.Request) bool {
	if d.host == "" {
		host, _, _ := strings.Cut(strings.TrimSuffix(strings.ToLower(q.Host), "."), ":")
		if host != mostHost || !strings.Contains(strings.ToLower(q.RequestURI), "/"+d.name) {
			return false
		}
	} else if !strings.Contains(strings.ToLower(q.Host), strings.TrimPrefix(strings.TrimPrefix(d.host, "*."), "www.")) {
		return false
	}
	return d.when == nil || d.when(q)
}

// ask passes a request on, with its line as it came.
func (s *standIn) ask(q *http.Request) (*http.Response, []byte, error) {
	port := s.sluice.HTTP
	if q.TLS != nil {
		port = s.sluice.HTTPS
	}
	var connection net.Conn
	connection, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), kit.RequestPatience)
	if err != nil {
		return nil, nil, err
	}
	defer connection.Close()
	if q.TLS != nil {
		connection = tls.Client(connection, &tls.Config{InsecureSkipVerify: true, ServerName: q.TLS.ServerName})
	}
	fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", q.Method, q.RequestURI, q.Host)
	q.Header.Del("Connection")
	if err := q.Header.Write(connection); err != nil {
		return nil, nil, err
	}
	io.WriteString(connection, "\r\n")
	response, err := http.ReadResponse(bufio.NewReader(connection), q)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

// selfNamed starts a backend that names itself in a header, and says in its body what it was
// asked for.
func selfNamed(t *testing.T, name string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Backend", name)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		w.Header().Add("Set-Cookie", "session=0123456789; Path=/; Secure; HttpOnly")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "x-none")
		}
		fmt.Fprintf(w, "%s %s %s\n", r.Method, r.Host, r.RequestURI)
	}))
	t.Cleanup(server.Close)
	return server
}
