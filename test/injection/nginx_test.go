package injection

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/test/kit"
)

// patience bounds every wait for something that must happen.
const patience = 30 * time.Second

// site is a state directory for an nginx that listens on loopback.
type site struct{ *kit.Site }

func newSite(t *testing.T, nginx kit.Nginx) *site {
	t.Helper()
	s := &site{nginx.Site(t)}
	s.Environment.Addresses = []string{"127.0.0.1"}
	return s
}

// check has nginx read a file, as `nginx -t` does, and gives what it complains of.
func (s *site) check(t *testing.T, file *render.File) string {
	t.Helper()
	s.Write(t, file.Trust(), file.Bytes())
	said, err := s.Check()
	if err == nil {
		return ""
	}
	return said
}

// start runs nginx on the file that was checked until the test ends, and pushes
// the endpoints to it.
func (s *site) start(t *testing.T, d model.Dynamic) {
	t.Helper()
	if err := s.Start(t, patience).Client.Push(context.Background(), withEchoes(t, d)); err != nil {
		t.Fatal(err)
	}
}

// withEchoes puts a server that says the key of the backend in the place of its
// endpoints.
func withEchoes(t *testing.T, d model.Dynamic) model.Dynamic {
	t.Helper()
	backends := make([]*model.Backend, len(d.Backends))
	for i, b := range d.Backends {
		replaced := *b
		if len(b.Endpoints) > 0 {
			replaced.Endpoints = []model.Endpoint{echo(t, b.Key)}
		}
		backends[i] = &replaced
	}
	d.Backends = backends
	return d
}

func echo(t *testing.T, key string) model.Endpoint {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Echo-Backend", key)
		w.Header().Set("Echo-Path", r.RequestURI)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return model.Endpoint{Address: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port}
}

// answer is what nginx answered a request.
type answer struct {
	status        int
	backend, path string
	body          string
}

// ask sends a request for a raw URI and gives the answer.
func (s *site) ask(t *testing.T, host, uri string) answer {
	t.Helper()
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Environment.HTTPPort))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", uri, host)
	return readAnswer(t, connection, host+uri)
}
