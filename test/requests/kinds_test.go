package requests

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// request is a kind of request.
type request struct {
	name, method, path string
	header             http.Header
	// body is its length. Chunked tells no length.
	body    int
	chunked bool
	http2   bool
	// wait is the time in which an answer comes if it ever comes, 0 for a long time. The connection is
	// not used again.
	wait time.Duration
}

// small reports whether it and its answer are of little work.
func (r request) small() bool { return r.body <= 2<<20 && r.header.Get("Want") != "large" }

// all returns the kinds of requests, the slow ones first.
func all() []request {
	return append(append(downloads(), uploads()...), append(methods(), headers()...)...)
}

func uploads() (list []request) {
	for _, size := range []int{1, 1 << 20, 1<<20 + 1, 20 << 20} {
		list = append(list, request{name: fmt.Sprintf("body of %d", size), method: "PUT", body: size},
			request{name: fmt.Sprintf("chunked body of %d", size), method: "POST", body: size, chunked: true})
	}
	return append(list,
		request{name: "expect 100-continue", method: "PUT", body: 1<<20 + 1, header: http.Header{"Expect": {"100-continue"}}},
		request{name: "chunked body of 2 MiB by HTTP/2", method: "POST", body: 2 << 20, chunked: true, http2: true},
		request{name: "body of 2 MiB by HTTP/2", method: "PUT", body: 2 << 20, http2: true},
		request{name: "no body", method: "POST"})
}

func headers() (list []request) {
	for _, size := range []int{1, 4, 7, 16, 28, 35} {
		header := http.Header{}
		for n := range (size + 6) / 7 {
			header.Set(fmt.Sprintf("X-Long-%d", n), sized(min(size, 7)<<10))
		}
		list = append(list, request{name: fmt.Sprintf("headers of %d kB", size), header: header})
	}
	var cookies []string
	for n := range 50 {
		cookies = append(cookies, fmt.Sprintf("c%d=%s", n, sized(40)))
	}
	return append(list, request{name: "URL of 7 kB", path: "/" + sized(7<<10)},
		request{name: "URL with escapes", path: "/%C3%A9/a%2Fb/%20?q=%26&r=a+b"},
		request{name: "50 cookies", header: http.Header{"Cookie": {strings.Join(cookies, "; ")}}})
}

func methods() (list []request) {
	for _, method := range []string{"HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND"} {
		list = append(list, request{name: method, method: method}, request{name: method + " by HTTP/2", method: method, http2: true})
	}
	return append(list, request{name: "WebSocket", header: http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}})
}

func downloads() (list []request) {
	want := func(name, what string) request { return request{name: name, header: http.Header{"Want": {what}}} }
	for _, status := range []int{204, 304, 404, 418, 500} {
		list = append(list, want(fmt.Sprint("answer ", status), fmt.Sprint("status ", status)))
	}
	ranged, conditional := want("range", "file"), want("conditional", "file")
	ranged.header.Set("Range", "bytes=10-19")
	conditional.header.Set("If-None-Match", `"v1"`)
	compressed := want("compressed", "gzip")
	compressed.header.Set("Accept-Encoding", "gzip")
	http2 := want("answer of 10 MB by HTTP/2", "large")
	http2.http2 = true
	// nginx before 1.29 takes a 103 for the whole answer, and what follows it for the body, whose end is
	// that of the connection. A client gets it all if nothing is buffered, but the next request on its
	// connection waits.
	hints := want("answer after early hints", "hints")
	hints.wait = 10 * time.Second
	return append([]request{want("slow answer", "slow"), hints}, append(list, ranged, conditional, compressed, http2,
		want("answer of 0 B", "nothing"), want("answer of 10 MB", "large"), want("answer in pieces", "pieces"),
		want("answer with several cookies", "cookies"),
		want("answer with a header of 16 kB", "header"), want("aborted answer", "abort"), want("answer with a trailer", "trailer"))...)
}

// calls returns the kinds of gRPC calls: with one message and with many, answered with messages or
// with trailers alone.
func calls() (list []request) {
	for _, size := range []int{5, 1 << 20, 1<<20 + 1, 4 << 20} {
		list = append(list, request{name: fmt.Sprintf("gRPC call of %d bytes", size), body: size, chunked: true})
	}
	list = append(list, request{name: "gRPC call, answered by trailers"})
	for n := range list {
		list[n].method, list[n].http2 = "POST", true
		list[n].header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Want": {"call"}}
	}
	list[len(list)-1].header.Set("Want", "refused-call")
	return list
}
