package recorded

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/fcgi"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/test/kit"
)

// pods are the backends of one scenario. Each listens on a port of 127.0.0.1
// and goes by the address that it had when the answers were recorded.
type pods struct {
	t *testing.T

	mu          sync.Mutex
	ports       map[string]int
	hits        map[string][]Hit
	certificate *tls.Certificate
}

// Hit is a request as a pod received it.
type Hit struct {
	By      string            `json:"by"`
	Kind    string            `json:"kind,omitempty"`
	Method  string            `json:"method"`
	URI     string            `json:"uri"`
	Host    string            `json:"host"`
	Proto   string            `json:"proto"`
	Headers map[string]string `json:"headers,omitempty"`
	BodyLen int64             `json:"body_len,omitempty"`
	SNI     string            `json:"sni,omitempty"`
	Client  string            `json:"client_cert,omitempty"`
	// Params are those of FastCGI that are no property of the request.
	Params map[string]string `json:"fcgi_env,omitempty"`

	headers http.Header
	address string
}

// trace is the header by which a hit is found again.
const trace = "X-Case-Trace"

func newPods(t *testing.T) *pods {
	return &pods{t: t, ports: map[string]int{}, hits: map[string][]Hit{}}
}

// The ports of pods that do not speak HTTP/1.
const (
	linesPort, fastcgiPort    = 7000, 9000
	tlsPort                   = 8443
	grpcPort, grpcOverTLSPort = 9090, 9443
)

// kinds are the names of what the ports speak, in the records.
var kinds = map[int]string{tlsPort: "https", grpcPort: "grpc", grpcOverTLSPort: "grpcs", fastcgiPort: "fcgi"}

// port starts a pod's port on 127.0.0.1 if need be, and gives the port that it has
// here.
func (p *pods) port(address string, port int) int {
	p.t.Helper()
	return p.listen("127.0.0.1", address, port)
}

// listen is port on another address of this machine.
func (p *pods) listen(on, address string, port int) int {
	p.t.Helper()
	name := on + " " + net.JoinHostPort(address, strconv.Itoa(port))
	p.mu.Lock()
	defer p.mu.Unlock()
	if real, ok := p.ports[name]; ok {
		return real
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(on, "0"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { listener.Close() })
	p.ports[name] = listener.Addr().(*net.TCPAddr).Port
	if port == linesPort {
		go serveLines(listener, address)
		return p.ports[name]
	}
	handler := p.handler(address, port)
	if port != tlsPort && port != grpcOverTLSPort {
		go kit.Speak(listener, handler)
		return p.ports[name]
	}
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: 1 << 20}
	p.t.Cleanup(func() { server.Close() })
	server.TLSConfig = &tls.Config{ClientAuth: tls.RequestClientCert, GetCertificate: p.own}
	if port == tlsPort {
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	go server.ServeTLS(listener, "", "")
	return p.ports[name]
}

// present makes the TLS ports show a certificate.
func (p *pods) present(certificate tls.Certificate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.certificate = &certificate
}

// own gives what is presented, at first a certificate that nobody vouches for.
func (p *pods) own(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.certificate == nil {
		certificate := Sign(p.t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: "pod"}}).TLS()
		p.certificate = &certificate
	}
	return p.certificate, nil
}

// take gives what was received under a trace.
func (p *pods) take(id string) []Hit {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer delete(p.hits, id)
	return p.hits[id]
}

// await waits until as many requests were received under a trace.
func (p *pods) await(t *testing.T, id string, count int) {
	t.Helper()
	kit.Await(t, "requests to backends", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.hits[id]) >= count
	})
}

func (p *pods) handler(address string, port int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := Hit{address: address, Method: r.Method, URI: r.RequestURI, Host: r.Host, Proto: r.Proto, headers: r.Header.Clone()}
		h.BodyLen, _ = io.Copy(io.Discard, r.Body)
		h.Kind = kinds[port]
		if h.Kind == "fcgi" {
			h.Params = fcgi.ProcessEnv(r)
		}
		if r.TLS != nil {
			h.SNI = r.TLS.ServerName
			if len(r.TLS.PeerCertificates) > 0 {
				h.Client = r.TLS.PeerCertificates[0].Subject.String()
			}
		}
		p.mu.Lock()
		p.hits[r.Header.Get(trace)] = append(p.hits[r.Header.Get(trace)], h)
		p.mu.Unlock()
		if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			upgrade(w, address)
			return
		}
		answerAs(w, r, address)
	})
}

// answerAs does what the parameters echo-* of the URI of a request, or else its headers
// X-Echo-*, ask for. The pods of the records had that order, too: what a server that
// authenticates answers is in auth-url, whatever the client asks of the Service.
func answerAs(w http.ResponseWriter, r *http.Request, address string) {
	parameters := r.URL.Query()
	all := func(name string) string {
		return cmp.Or(strings.Join(parameters["echo-"+strings.ToLower(name)], "|"), r.Header.Get("X-Echo-"+name))
	}
	ask := func(name string) string {
		first, _, _ := strings.Cut(all(name), "|")
		return first
	}
	if suffix := ask("Fail-Pods"); suffix != "" && strings.HasSuffix(address, suffix) {
		panic(http.ErrAbortHandler)
	}
	status := http.StatusOK
	if code, err := strconv.Atoi(ask("Status")); err == nil {
		status = code
	}
	if text, suffix, ok := strings.Cut(ask("Status-Pods"), "="); ok && strings.HasSuffix(address, suffix) {
		status, _ = strconv.Atoi(text)
	}
	if !pause(r, ask("Delay")) {
		return
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		answerCall(w, address)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	for header := range strings.SplitSeq(all("Set-Header"), "|") {
		name, value, ok := strings.Cut(header, ":")
		if strings.EqualFold(name, "Content-Type") {
			w.Header().Del(name)
		}
		if ok {
			w.Header().Add(name, strings.TrimSpace(value))
		}
	}
	body := podMark + address
	if size, err := strconv.Atoi(ask("Body-Size")); err == nil {
		body = strings.Repeat("x", size)
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		body = ""
	}
	if ask("Chunked") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// pause waits for a time such as "2s", false if the client goes before.
func pause(r *http.Request, text string) bool {
	delay, err := time.ParseDuration(text)
	if err != nil {
		return true
	}
	select {
	case <-time.After(delay):
		return true
	case <-r.Context().Done():
		return false
	}
}

// answerCall answers a call of gRPC with one message.
func answerCall(w http.ResponseWriter, address string) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	body := podMark + address
	w.Write(append([]byte{0, 0, 0, 0, byte(len(body))}, body...))
	w.Header().Set("Grpc-Status", "0")
	w.Header().Set("Grpc-Message", "fine")
}

// serveLines returns each line with the address in front.
func serveLines(listener net.Listener, address string) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			lines := bufio.NewScanner(connection)
			for lines.Scan() {
				fmt.Fprintf(connection, "%s %s\n", address, lines.Text())
			}
		}()
	}
}

// podMark is how the body of a pod's answer begins.
const podMark = "pod "

// upgrade accepts a WebSocket without looking at it, and returns the lines it reads.
func upgrade(w http.ResponseWriter, address string) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer connection.Close()
	fmt.Fprint(connection, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n")
	connection.SetDeadline(time.Now().Add(kit.RequestPatience))
	lines := bufio.NewScanner(buffered)
	for lines.Scan() {
		fmt.Fprintf(connection, "%s %s\n", address, lines.Text())
	}
}
