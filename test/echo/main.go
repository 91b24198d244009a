// Command echo is a backend for examples and tests: it answers every request
// with what it saw of it, as JSON, under the name of the listener it came in
// by.
//
//	echo --listen 127.0.0.1:9001=catalog --listen 127.0.0.1:9002=cart
//
// The query parameters status (a status code) and delay (a duration such as
// 200ms) change the answer. A WebSocket on /ws gets back what it sends.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/websocket"
)

func main() {
	var listeners listenFlag
	flag.Var(&listeners, "listen", "`ADDRESS=NAME` to listen on and the service name to answer with; may be repeated")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, listeners); err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

type listener struct{ address, name string }

type listenFlag []listener

func (l *listenFlag) String() string { return "" }

func (l *listenFlag) Set(value string) error {
	address, name, ok := strings.Cut(value, "=")
	if !ok || name == "" {
		return fmt.Errorf("want ADDRESS=NAME such as 127.0.0.1:9001=catalog (got %q)", value)
	}
	*l = append(*l, listener{address, name})
	return nil
}

// serve answers on all listeners until ctx ends or one of them fails.
func serve(ctx context.Context, listeners []listener) error {
	if len(listeners) == 0 {
		return errors.New("nothing to listen on: give --listen ADDRESS=NAME")
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		socket, err := net.Listen("tcp", l.address)
		if err != nil {
			return err
		}
		server := &http.Server{Handler: Handler(l.name), ReadHeaderTimeout: time.Minute}
		defer server.Close()
		go func() { failed <- server.Serve(socket) }()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// Answer is what echo says about a request.
type Answer struct {
	Service string      `json:"service"`
	Method  string      `json:"method"`
	Host    string      `json:"host"`
	Path    string      `json:"path"`
	Query   string      `json:"query"`
	Headers http.Header `json:"headers"`
}

// Handler answers as the service of that name.
func Handler(name string) http.Handler {
	socket := websocket.Server{Handler: echoSocket}
	// Not an http.ServeMux: it would redirect //a and /a/../b, which a backend
	// has to see as they came.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ws" && r.Header.Get("Upgrade") != "" {
			socket.ServeHTTP(w, r)
			return
		}
		reply(w, r, name)
	})
}

// echoSocket sends back what comes, until the other side is done.
func echoSocket(socket *websocket.Conn) {
	io.Copy(socket, socket)
}

func reply(w http.ResponseWriter, r *http.Request, name string) {
	delay, _ := time.ParseDuration(cmp.Or(r.URL.Query().Get("delay"), "0s"))
	select {
	case <-time.After(delay):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(statusOf(r))
	w.Write(describe(r, name))
}

// statusOf reads the parameter status: 200 to 599, otherwise 200.
func statusOf(r *http.Request) int {
	status, err := strconv.Atoi(r.URL.Query().Get("status"))
	if err != nil || status < 200 || status > 599 {
		return http.StatusOK
	}
	return status
}

// describe gives the Answer as JSON in two lines: all but the headers come
// first, so that a person can leave the rest away.
func describe(r *http.Request, name string) []byte {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	answer := Answer{Service: name, Method: r.Method, Host: r.Host, Path: path, Query: query, Headers: r.Header}
	text, err := json.Marshal(answer)
	if err != nil {
		return []byte(err.Error() + "\n")
	}
	return []byte(strings.Replace(string(text), `,"headers":`, ",\n \"headers\":", 1) + "\n")
}
