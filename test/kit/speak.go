package kit

import (
	"bufio"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/http/httptest"
	"sync"
)

// fastcgiVersion is the first byte of every FastCGI record.
const fastcgiVersion = 1

// handshake is the first byte of a connection with TLS.
const handshake = 22

// secure has a certificate that signs itself.
var secure = sync.OnceValue(func() *tls.Config {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	return &tls.Config{Certificates: server.TLS.Certificates}
})

// Authority returns the certificate with which SpeakTLS answers, as PEM. It is for example.com.
func Authority() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure().Certificates[0].Certificate[0]}))
}

// Speak answers HTTP/1, HTTP/2 without TLS and FastCGI on one port, until the listener is
// closed. The first byte of a connection tells the protocol.
func Speak(listener net.Listener, handler http.Handler) { speak(listener, handler, nil) }

// SpeakTLS answers HTTP/1 with TLS besides.
func SpeakTLS(listener net.Listener, handler http.Handler) { speak(listener, handler, secure()) }

func speak(listener net.Listener, handler http.Handler, config *tls.Config) {
	both, records := &sorted{listener, make(chan net.Conn)}, &sorted{listener, make(chan net.Conn)}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Handler: handler, Protocols: &protocols, ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: 1 << 20}
	go func() { _ = server.Serve(both) }()
	go func() { _ = fcgi.Serve(records, handler) }()
	for {
		connection, err := listener.Accept()
		if err != nil {
			close(both.connections)
			close(records.connections)
			return
		}
		go func() {
			read := bufio.NewReader(connection)
			switch first, err := read.Peek(1); {
			case err != nil:
				connection.Close()
			case first[0] == fastcgiVersion:
				records.take(&peeked{connection, read})
			case first[0] == handshake && config != nil:
				both.take(tls.Server(&peeked{connection, read}, config))
			default:
				both.take(&peeked{connection, read})
			}
		}()
	}
}

// sorted is a listener for the connections of one protocol.
type sorted struct {
	net.Listener
	connections chan net.Conn
}

// Accept waits for the next connection.
func (s *sorted) Accept() (net.Conn, error) {
	connection, ok := <-s.connections
	if !ok {
		return nil, net.ErrClosed
	}
	return connection, nil
}

// take hands over a connection; after the end it closes it.
func (s *sorted) take(connection net.Conn) {
	defer func() {
		if recover() != nil {
			connection.Close()
		}
	}()
	s.connections <- connection
}

// peeked is a connection whose first bytes were read already.
type peeked struct {
	net.Conn
	read *bufio.Reader
}

// Read reads from the connection.
func (p *peeked) Read(b []byte) (int, error) { return p.read.Read(b) }
