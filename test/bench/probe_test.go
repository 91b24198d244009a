package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// patience bounds every wait.
const patience = 2 * time.Minute

// What counts as served by all workers: answers as wanted over so many new
// connections in a row, for so long. As long as an old worker accepts, it gets
// some of them.
const (
	streak     = 30
	streakTime = 60 * time.Millisecond
)

// answer is a status and a body.
type answer struct {
	status int
	body   string
}

// ask sends one request over a connection of its own.
func ask(port int, host, path string) (answer, error) {
	conn, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", port), 5*time.Second)
	if err != nil {
		return answer{}, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, host); err != nil {
		return answer{}, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, body: string(body)}, err
}

// served wants a backend to answer, whichever.
func served(a answer) bool { return a.status == http.StatusOK }

// from wants one of the backends to answer.
func from(name string) func(answer) bool {
	return func(a answer) bool { return a.status == http.StatusOK && a.body == name }
}

// absent wants nothing to be served.
func absent(a answer) bool { return a.status == http.StatusNotFound }

// awaitAll waits until every worker answers as wanted and says since when.
func awaitAll(b *testing.B, port int, host string, want func(answer) bool) time.Time {
	b.Helper()
	var since time.Time
	count := 0
	last := errors.New("nothing was asked")
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(time.Millisecond) {
		a, err := ask(port, host, "/")
		if err != nil || !want(a) {
			count, last = 0, fmt.Errorf("status %d %q, %v", a.status, a.body, err)
			continue
		}
		if count == 0 {
			since = time.Now()
		}
		if count++; count >= streak && time.Since(since) >= streakTime {
			return since
		}
	}
	b.Fatalf("waited %v in vain for %s; the last answer: %v", patience, host, last)
	return since
}

// checkAll asks for every host once.
func checkAll(b *testing.B, port, n int) {
	b.Helper()
	for i := range n {
		if a, err := ask(port, host(i), "/api/x"); err != nil || !served(a) {
			b.Fatalf("%s is not served: status %d, %v", host(i), a.status, err)
		}
	}
}

// backend starts a server on loopback that answers its name, and gives its port.
func backend(b *testing.B, name string) int {
	b.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, name)
	})}
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(func() { server.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}
