package injection

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/test/kit"
)

// site is a state directory for an nginx that listens on loopback.
type site struct {
	*kit.Site
	// backend makes the server that stands for the endpoints of a backend.
	backend func(t *testing.T, key string) model.Endpoint
}

func newSite(t *testing.T, nginx kit.Nginx) *site {
	t.Helper()
	s := &site{nginx.Site(t), echo}
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
	if err := s.Start(t).Client.Push(context.Background(), s.withBackends(t, d)); err != nil {
		t.Fatal(err)
	}
}

// withBackends puts servers of our own in the place of all endpoints.
func (s *site) withBackends(t *testing.T, d model.Dynamic) model.Dynamic {
	t.Helper()
	backends := make([]*model.Backend, len(d.Backends))
	for i, b := range d.Backends {
		replaced := *b
		if len(b.Endpoints) > 0 {
			replaced.Endpoints = []model.Endpoint{s.backend(t, b.Key)}
		}
		backends[i] = &replaced
	}
	d.Backends = backends
	return d
}

// echo is a server that says the key of its backend, and what it was asked.
func echo(t *testing.T, key string) model.Endpoint {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Echo-Backend", key)
		w.Header().Set("Echo-Path", r.RequestURI)
		w.Header().Set("Got-Host", r.Host)
		for name, values := range r.Header {
			w.Header()["Got-"+name] = values
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return model.Endpoint{Address: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port}
}

// transcript is a server that answers with the lines of the request up to the empty
// one, as they came.
func transcript(t *testing.T, _ string) model.Endpoint {
	t.Helper()
	return model.Endpoint{Address: "127.0.0.1", Port: kit.Accept(t, transcribe)}
}

func transcribe(connection net.Conn) {
	defer connection.Close()
	reader := bufio.NewReader(connection)
	var head strings.Builder
	for !strings.HasSuffix(head.String(), "\n\r\n") {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		head.WriteString(line)
	}
	fmt.Fprintf(connection, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", head.Len(), head.String())
}

// answer is what nginx answered a request.
type answer struct {
	status        int
	backend, path string
	body          string
	// header is that of the answer; "Got-Name" is what the backend got as Name.
	header http.Header
}

// ask sends a request for a raw URI and gives the answer.
func (s *site) ask(t *testing.T, host, uri string) answer {
	t.Helper()
	got := s.exchange(t, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", uri, host))
	if got.status == 0 {
		t.Errorf("%.200s: no answer", host+uri)
	}
	return got
}

// exchange sends a text over plain HTTP and gives the answer, which is empty if
// there is none.
func (s *site) exchange(t *testing.T, text string) answer {
	t.Helper()
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Environment.HTTPPort))
	if err != nil {
		t.Fatal(err)
	}
	return say(t, connection, text)
}

// say sends a text on a connection and gives the answer.
func say(t *testing.T, connection net.Conn, text string) answer {
	t.Helper()
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(kit.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(connection, text); err != nil {
		return answer{}
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		t.Fatalf("neither an answer nor an end to %.200q", text)
	}
	if err != nil {
		return answer{}
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, backend: response.Header.Get("Echo-Backend"), path: response.Header.Get("Echo-Path"), body: string(body), header: response.Header}
}

// serving runs nginx on objects until the test ends.
func serving(t *testing.T, installed kit.Nginx, objects snapshot.Objects) *site {
	t.Helper()
	s := newSite(t, installed)
	s.serve(t, objects)
	return s
}

// serve runs nginx on objects until the test ends.
func (s *site) serve(t *testing.T, objects snapshot.Objects) {
	t.Helper()
	s.Environment.Token = "ONLYHERE"
	w := newWorker(t)
	w.on(s)
	o := w.run(objects)
	if out := s.check(t, o.file); out != "" {
		t.Fatalf("%s nginx refuses the file: %.1000s", s.Name, out)
	}
	s.start(t, o.config.Dynamic)
}

// eachNginx runs a test on each nginx that is there.
func eachNginx(t *testing.T, run func(t *testing.T, installed kit.Nginx)) {
	t.Helper()
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			run(t, installed)
		})
	}
}
