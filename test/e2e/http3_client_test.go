package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"sluice/test/kit"
)

// overQUIC is a transport for HTTP/3 that connects to sluice whatever the host.
func (s *sluice) overQUIC(v visitor) *http3.Transport {
	config := &tls.Config{ServerName: v.sni, InsecureSkipVerify: true, ClientSessionCache: v.sessions}
	if v.certificate != nil {
		config.Certificates = []tls.Certificate{*v.certificate}
	}
	return &http3.Transport{
		TLSClientConfig: config,
		Dial: func(ctx context.Context, _ string, config *tls.Config, settings *quic.Config) (*quic.Conn, error) {
			return quic.DialAddrEarly(ctx, fmt.Sprintf("127.0.0.1:%d", s.HTTPS), config, settings)
		},
	}
}

// quicVisit is what a request over HTTP/3 got.
type quicVisit struct {
	visit
	answer    http.Header
	presented *x509.Certificate
}

// serial is the serial number of the certificate presented, 0 for none.
func (v quicVisit) serial() int64 {
	if v.presented == nil {
		return 0
	}
	return v.presented.SerialNumber.Int64()
}

// askOverQUIC asks for a host over the connection of a transport.
func askOverQUIC(transport *http3.Transport, host, path string, header http.Header) (quicVisit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), kit.RequestPatience)
	defer cancel()
	name := transport.TLSClientConfig.ServerName
	if name == "" {
		name = "127.0.0.1"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+name+path, nil)
	if err != nil {
		return quicVisit{}, err
	}
	request.Host = host
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return quicVisit{}, err
	}
	defer response.Body.Close()
	v := quicVisit{visit: visit{status: response.StatusCode, resumed: response.TLS.DidResume, proto: response.ProtoMajor}, answer: response.Header}
	if len(response.TLS.PeerCertificates) > 0 {
		v.presented = response.TLS.PeerCertificates[0]
	}
	var echoed struct {
		Backend string
		Header  http.Header
	}
	if json.NewDecoder(response.Body).Decode(&echoed) == nil {
		v.backend, v.header = echoed.Backend, echoed.Header
	}
	return v, nil
}

// askQUIC asks for a host over a connection of its own.
func (s *sluice) askQUIC(v visitor, host, path string, header http.Header) (quicVisit, error) {
	transport := s.overQUIC(v)
	defer transport.Close()
	return askOverQUIC(transport, host, path, header)
}

// awaitQUIC waits for an answer over HTTP/3 for a host.
func (s *sluice) awaitQUIC(what, host, path string, done func(quicVisit) bool) {
	s.t.Helper()
	var last quicVisit
	var err error
	defer func() {
		if s.t.Failed() {
			s.t.Logf("the last answer of %s%s: %+v, %v", host, path, last, err)
		}
	}()
	eventually(s.t, what, func() bool {
		last, err = s.askQUIC(visitor{sni: host}, host, path, nil)
		return err == nil && last.proto == 3 && done(last)
	})
}

// unfinished begins a request that keeps its worker from ending, until it is finished.
func (s *sluice) unfinished(host string) (finish func()) {
	s.t.Helper()
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.HTTP))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = connection.Close() })
	if _, err := fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", host); err != nil {
		s.t.Fatal(err)
	}
	_ = connection.SetDeadline(time.Now().Add(kit.RequestPatience))
	answers := bufio.NewReader(connection)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		s.t.Fatalf("%q, %v; want a worker that waits for the body", line, err)
	}
	return func() {
		s.t.Helper()
		_ = connection.SetDeadline(time.Now().Add(kit.RequestPatience))
		_, err := connection.Write([]byte("x"))
		rest, _ := io.ReadAll(answers)
		if err != nil || !strings.Contains(string(rest), " 200 ") {
			s.t.Errorf("the request that was finished late: %q, %v", rest, err)
		}
	}
}

// hearsQUIC reports whether something is bound to the UDP port for HTTPS.
func (s *sluice) hearsQUIC() bool {
	socket, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", s.HTTPS))
	if err == nil {
		_ = socket.Close()
	}
	return err != nil
}

// eachHTTP3 runs a test with every nginx that has HTTP/3.
func eachHTTP3(t *testing.T, test func(t *testing.T, root string)) {
	t.Helper()
	eachNginx(t, func(t *testing.T, root string) {
		for _, n := range kit.Nginxes(t) {
			if n.Root == root && !n.Capabilities.HTTP3 {
				t.Skip("this nginx lacks HTTP/3; TestHTTP3IsMissing shows what happens then")
			}
		}
		test(t, root)
	})
}
