package requests

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/model"
	"sluice/test/kit"
)

// newBackend starts a Service that answers as the header Want says, and tells what it got.
func newBackend(t *testing.T) []model.Endpoint {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go kit.SpeakTLS(listener, http.HandlerFunc(answer))
	return []model.Endpoint{{Address: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port}}
}

func answer(w http.ResponseWriter, r *http.Request) {
	read, err := io.Copy(io.Discard, r.Body)
	long := 0
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Long-") {
			long += len(values[0])
		}
	}
	w.Header().Set("Got", fmt.Sprintf("%s, %d bytes of body %v, %d of headers, %d of cookies", r.Method, read, err, long, strings.Count(r.Header.Get("Cookie"), "c")))
	w.Header().Set("Request", requestLine(r))
	if r.Header.Get("Upgrade") == "websocket" {
		upgrade(w)
		return
	}
	what, argument, _ := strings.Cut(r.Header.Get("Want"), " ")
	if what == "status" {
		status, _ := strconv.Atoi(argument)
		w.WriteHeader(status)
		return
	}
	if write := writers[what]; write != nil {
		write(w, r)
		return
	}
	_, _ = io.WriteString(w, "a short answer")
}

// requestLine tells the request line and the headers of a request, but for the values of long ones and of
// those that differ each time.
func requestLine(r *http.Request) string {
	lines := []string{r.Method + " " + digest([]byte(r.RequestURI)) + " " + r.Proto + " " + r.Host}
	for name, values := range r.Header {
		value := strings.Join(values, "; ")
		switch {
		case strings.HasPrefix(name, "X-Long-"), strings.HasPrefix(name, "X-Hops-"):
			continue
		case name == "X-Request-Id", len(value) > 100:
			value = "..."
		}
		lines = append(lines, name+": "+value)
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, " | ")
}

// file is what writers answer.
var file = bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16)

var writers = map[string]http.HandlerFunc{
	"nothing": func(http.ResponseWriter, *http.Request) {},
	"large": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(file)))
		_, _ = w.Write(file)
	},
	"file": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"v1"`)
		http.ServeContent(w, r, "file.bin", time.Time{}, bytes.NewReader(file[:100]))
	},
	"gzip": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		_, _ = packed.Write(file[:1000])
		_ = packed.Close()
	},
	"pieces": func(w http.ResponseWriter, _ *http.Request) {
		for n := range 20 {
			_, _ = w.Write(file[:n*100])
			w.(http.Flusher).Flush()
		}
	},
	"slow": func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			time.Sleep(100 * time.Millisecond) // the kind of answer that is asked for
			_, _ = w.Write(file[:1000])
			w.(http.Flusher).Flush()
		}
	},
	"call": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
		for range 3 {
			_, _ = w.Write([]byte("\x00\x00\x00\x00\x02hi"))
			w.(http.Flusher).Flush()
		}
		w.Header().Set("Grpc-Status", "5")
		w.Header().Set("Grpc-Message", "not found")
	},
	"refused-call": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "5")
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", "not found")
	},
	"hints": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "after hints")
	},
	"cookies": func(w http.ResponseWriter, _ *http.Request) {
		for n := range 5 {
			w.Header().Add("Set-Cookie", fmt.Sprintf("s%d=1; Path=/", n))
		}
	},
	"header": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Large", sized(16<<10)) },
	"abort": func(w http.ResponseWriter, r *http.Request) {
		if len(fcgi.ProcessEnv(r)) > 0 {
			return // the server of FastCGI would end
		}
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(file[:500])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	},
	"trailer": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, "body")
		w.Header().Set("X-Sum", "1")
	},
}

// upgrade echoes a line after the switch of protocols.
func upgrade(w http.ResponseWriter) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer connection.Close()
	_, _ = fmt.Fprintf(connection, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nGot: %s\r\n\r\n", w.Header().Get("Got"))
	line, _ := bufio.NewReader(buffered).ReadString('\n')
	_, _ = io.WriteString(connection, line)
}
