package differential

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"

	"sluice/internal/model"
)

// echoes are the servers that stand for the endpoints, one for each Service. They
// are shared by all nginx, and end with the tests.
var echoes = struct {
	sync.Mutex
	endpoints map[string]model.Endpoint
}{endpoints: map[string]model.Endpoint{}}

// echo gives the endpoint of a server that answers with the key of its backend
// and with what it was asked for, byte for byte.
func echo(key string) model.Endpoint {
	echoes.Lock()
	defer echoes.Unlock()
	if endpoint, ok := echoes.endpoints[key]; ok {
		return endpoint
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // no address is left on this machine
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(connection, key)
		}
	}()
	echoes.endpoints[key] = model.Endpoint{Address: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port}
	return echoes.endpoints[key]
}

// answer answers the requests of a connection, which have no bodies.
func answer(connection net.Conn, key string) {
	defer connection.Close()
	in := bufio.NewReader(connection)
	line := ""
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch text = strings.TrimSuffix(text, "\r\n"); {
		case line == "":
			line = text
		case text == "":
			body := key + "\n" + requested(line)
			if _, err := fmt.Fprintf(connection, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
				return
			}
			line = ""
		}
	}
}

// requested takes method and version off a request line.
func requested(line string) string {
	return strings.TrimSuffix(strings.TrimPrefix(line, "GET "), " HTTP/1.1")
}
