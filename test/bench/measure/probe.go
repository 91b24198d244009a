package measure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// Patience bounds every wait.
const Patience = 2 * time.Minute

// What counts as served by all workers: answers as wanted over so many new
// connections in a row, for so long. As long as an old worker accepts, it gets
// some of them.
const (
	streak     = 30
	streakTime = 60 * time.Millisecond
)

// Answer is a status and a body.
type Answer struct {
	Status int
	Body   string
}

// Ask sends one request over a connection of its own.
func Ask(port int, host, path string) (Answer, error) {
	conn, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", port), 5*time.Second)
	if err != nil {
		return Answer{}, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, host); err != nil {
		return Answer{}, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Body: string(body)}, err
}

// Served wants a backend to answer, whichever.
func Served(a Answer) bool { return a.Status == http.StatusOK }

// From wants one of the backends to answer.
func From(name string) func(Answer) bool {
	return func(a Answer) bool { return a.Status == http.StatusOK && a.Body == name }
}

// Absent wants nothing to be served.
func Absent(a Answer) bool { return a.Status == http.StatusNotFound }

// AwaitAll waits until every worker answers as wanted and says since when.
func AwaitAll(t testing.TB, port int, host string, want func(Answer) bool) time.Time {
	t.Helper()
	var since time.Time
	count := 0
	last := errors.New("nothing was asked")
	for begun := time.Now(); time.Since(begun) < Patience; time.Sleep(time.Millisecond) {
		a, err := Ask(port, host, "/")
		if err != nil || !want(a) {
			count, last = 0, fmt.Errorf("status %d %q, %v", a.Status, a.Body, err)
			continue
		}
		if count == 0 {
			since = time.Now()
		}
		if count++; count >= streak && time.Since(since) >= streakTime {
			return since
		}
	}
	t.Fatalf("waited %v in vain for %s; the last answer: %v", Patience, host, last)
	return since
}

// CheckAll asks for every host once.
func CheckAll(t testing.TB, port, n int) {
	t.Helper()
	CheckEach(t, port, n, func(int) func(Answer) bool { return Served })
}

// CheckEach asks for every host once, and wants of each what wanted says.
func CheckEach(t testing.TB, port, n int, wanted func(i int) func(Answer) bool) {
	t.Helper()
	for i := range n {
		if a, err := Ask(port, Host(i), "/api/x"); err != nil || !wanted(i)(a) {
			t.Fatalf("%s is not served: status %d, %v", Host(i), a.Status, err)
		}
	}
}

// Loopback is the address of backends where nothing else is said.
const Loopback = "127.0.0.1"

// Backend starts a server at an address, on any port if it is 0, that answers
// its name, and gives its port.
func Backend(t testing.TB, name, address string, port int) int {
	t.Helper()
	listener, err := net.Listen("tcp4", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, name)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}
