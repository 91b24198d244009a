package kit

import (
	"net"
	"testing"
)

// Accept listens on a port of loopback until the end of the test, and handles each
// connection in its own goroutine. It returns the port.
func Accept(t testing.TB, handle func(net.Conn)) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go handle(connection)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}
