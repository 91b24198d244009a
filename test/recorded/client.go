package recorded

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"

	"sluice/internal/route"
	"sluice/test/kit"
)

// exchange is what came back for one request.
type exchange struct {
	response  *http.Response
	body      string
	presented string
	version   string
	fault     string
	// line is what a TCP service said.
	line string
}

// Call is one request on its way: scheme, host, path and header lines as they
// are sent.
type Call struct {
	*Request
	Scheme, Host, Path string
	lines              [][2]string
	// proxy is the line that the connection begins with, "" for none.
	proxy string
	// port is that of a TCP service here, 0 for none.
	port int
	// own is the certificate of the client, nil for none.
	own *KeyPair
}

// usualProxy is the PROXY header that scenarios with that protocol mean if they
// name none.
const usualProxy = "TCP4 198.51.100.7 10.255.0.1 5555 80"

// NewCall puts together what a request leaves open.
func (w *World) NewCall(r *Request, id string) *Call {
	c := &Call{Request: r, Scheme: "http", Host: w.Host, Path: r.U, port: w.listening[r.TCP], own: w.clients[r.Client]}
	if scheme, rest, ok := strings.Cut(r.U, "://"); ok {
		host, path, _ := strings.Cut(rest, "/")
		c.Scheme, c.Host, c.Path = scheme, host, "/"+path
	}
	if header := cmp.Or(r.ProxyHeader, usualProxy); (w.Proxy || r.TCP != 0 && r.ProxyHeader != "") && header != "none" {
		c.proxy = "PROXY " + header + "\r\n"
	}
	headers := slices.Clone(r.Headers)
	for _, name := range slices.Sorted(maps.Keys(r.H)) {
		headers = append(headers, name+": "+r.H[name])
	}
	host := c.Host
	defaults := map[string]string{"user-agent": "oracle/1", "accept": "*/*"}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ":")
		value = expand(strings.TrimSpace(w.Local(value)))
		if strings.EqualFold(name, "Host") {
			host = strings.ReplaceAll(value, "127.0.0.", "10.255.0.")
			continue
		}
		delete(defaults, strings.ToLower(name))
		c.lines = append(c.lines, [2]string{name, value})
	}
	if cookies := w.jars[r.Session]; len(cookies) > 0 {
		c.lines = append(c.lines, [2]string{"Cookie", strings.Join(slices.Sorted(maps.Values(cookies)), "; ")})
	}
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		c.lines = append(c.lines, [2]string{name, defaults[name]})
	}
	c.lines = append(c.lines, [2]string{trace, id})
	if host != "<none>" {
		c.lines = slices.Insert(c.lines, 0, [2]string{"Host", host})
	}
	return c
}

// expand makes "x*5000" a value of that many characters.
func expand(value string) string {
	if count, ok := strings.CutPrefix(value, "x*"); ok {
		if n, err := strconv.Atoi(count); err == nil {
			return strings.Repeat("x", n)
		}
	}
	return value
}

func (c *Call) payload() []byte {
	body := bytes.Repeat([]byte("b"), c.Body)
	if c.Data != "" {
		body = []byte(c.Data)
	}
	if c.GRPC {
		return append([]byte{0, 0, 0, 0, byte(len(body))}, body...)
	}
	return body
}

// Verb is the method of the request, which for a call of gRPC is POST.
func (c *Call) Verb() string {
	if c.GRPC && c.Method == "" {
		return http.MethodPost
	}
	return c.Request.method()
}

// send sends a request over a connection of its own.
func (s *Sluice) send(c *Call) exchange {
	port := s.HTTP
	if c.Scheme == "https" {
		port = s.HTTPS
	}
	if c.port != 0 {
		port = c.port
	}
	from := strings.Replace(c.ClientIP, "10.255.0.", "127.0.0.", 1)
	if from == "" {
		from = "127.0.0.2"
	}
	dialer := net.Dialer{Timeout: kit.RequestPatience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	connection, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return exchange{fault: "connect"}
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(kit.RequestPatience))
	io.WriteString(connection, c.proxy)
	var e exchange
	if c.Scheme == "https" {
		secured := tls.Client(connection, c.tlsConfig())
		if secured.Handshake() != nil {
			return exchange{fault: "tls handshake"}
		}
		state := secured.ConnectionState()
		leaf := state.PeerCertificates[0]
		e.presented = leaf.Subject.CommonName + " [" + strings.Join(leaf.DNSNames, ",") + "]"
		e.version = tls.VersionName(state.Version)
		connection = secured
	}
	switch {
	case c.U == "tcp":
		io.WriteString(connection, c.Data+"\n")
		e.line, _ = bufio.NewReader(connection).ReadString('\n')
	case c.H2 || c.GRPC:
		c.talkH2(&e, connection)
	default:
		c.talk(&e, connection)
	}
	return e
}

func (c *Call) tlsConfig() *tls.Config {
	name, _, _ := strings.Cut(c.Host, ":")
	if c.SNI != nil {
		name = *c.SNI
	}
	config := &tls.Config{InsecureSkipVerify: true, ServerName: name}
	if c.own != nil {
		// It is sent even if the server wants those of other authorities.
		own := c.own.TLS()
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	}
	if c.H2 || c.GRPC {
		config.NextProtos = []string{"h2"}
	}
	return config
}

// talk writes the request as HTTP/1, byte for byte as the scenario has it, and
// reads the answer.
func (c *Call) talk(e *exchange, connection net.Conn) {
	go connection.Write(c.bytes()) // the answer may come before all is written
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, &http.Request{Method: c.Verb()})
	for err == nil && response.StatusCode == http.StatusContinue {
		response, err = http.ReadResponse(reader, &http.Request{Method: c.Verb()})
	}
	if err != nil {
		e.fault = "no answer"
		return
	}
	e.response = response
	if response.StatusCode == http.StatusSwitchingProtocols {
		fmt.Fprintln(connection, "hello")
		e.body, _ = reader.ReadString('\n')
		return
	}
	e.read()
}

func (c *Call) bytes() []byte {
	var out bytes.Buffer
	version := "HTTP/1.1"
	if c.H10 {
		version = "HTTP/1.0"
	}
	fmt.Fprintf(&out, "%s %s %s\r\n", c.Verb(), c.Path, version)
	for _, line := range c.lines {
		fmt.Fprintf(&out, "%s: %s\r\n", line[0], line[1])
	}
	if c.WS {
		out.WriteString("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
	}
	body := c.payload()
	switch {
	case c.Chunked:
		fmt.Fprintf(&out, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	case len(body) > 0 || c.Verb() == "POST" || c.Verb() == "PUT":
		fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	default:
		out.WriteString("\r\n")
	}
	return out.Bytes()
}

func (c *Call) talkH2(e *exchange, connection net.Conn) {
	client, err := (&http2.Transport{DisableCompression: true}).NewClientConn(connection)
	if err != nil {
		e.fault = "h2"
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), kit.RequestPatience)
	defer cancel()
	var body io.Reader
	if payload := c.payload(); len(payload) > 0 {
		body = bytes.NewReader(payload)
	}
	request, err := http.NewRequestWithContext(ctx, c.Verb(), "https://"+c.Host+"/", body)
	if err != nil {
		e.fault = err.Error()
		return
	}
	request.URL = &url.URL{Scheme: "https", Host: c.Host, Opaque: c.Path}
	for _, line := range c.lines {
		if line[0] == "Host" {
			request.Host = line[1]
		} else {
			request.Header.Add(line[0], line[1])
		}
	}
	if c.GRPC {
		request.Header.Set("Content-Type", "application/grpc")
		request.Header.Set("TE", "trailers")
	}
	response, err := client.RoundTrip(request)
	if err != nil {
		e.fault = "h2 answer"
		return
	}
	e.response = response
	e.read()
}

func (e *exchange) read() {
	body, err := io.ReadAll(e.response.Body)
	if err == nil && e.response.Header.Get("Content-Encoding") == "gzip" {
		body, err = expanded(body)
	}
	if err != nil {
		e.fault = "short body"
	}
	e.body = string(body)
}

// expanded gives a body as it was before it was compressed.
func expanded(body []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// Known are the lines of the request for those who ask what comes of it, without Host.
func (c *Call) Known() []route.Header {
	var known []route.Header
	for _, line := range c.lines {
		if line[0] != "Host" && line[0] != trace {
			known = append(known, route.Header{Name: line[0], Value: line[1]})
		}
	}
	return known
}
