package golden

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/tokens"
	"sluice/test/kit"
)

// Logs are replaced: the error log, so that nginx says which location it chose,
// and the access log, so that it is found and nothing else of the machine is
// written to.
var (
	errorLog  = regexp.MustCompile(`(?m)^(\s*)error_log\s.*;$`)
	accessLog = regexp.MustCompile(`(?m)^(\s*)access_log (?:/dev/stdout|/var/log/nginx/\S*) `)
)

// drawn is the part of a cookie that differs from one time to the next.
var drawn = regexp.MustCompile(`(^[^=; ]+=|Expires=)[0-9A-Za-z][^|;]*`)

// logsOf gives a configuration whose logs are those of the test.
func logsOf(conf []byte, access string) []byte {
	return accessLog.ReplaceAll(errorLog.ReplaceAll(conf, []byte("${1}error_log stderr debug;")), []byte("${1}access_log "+access+" "))
}

// prepare writes what an nginx needs to serve an outcome.
func (o *outcome) prepare(t *testing.T, installed kit.Nginx) (site *kit.Site, access string) {
	t.Helper()
	site = installed.Site(t)
	file, _ := kit.Templates(t).Render(o.config.Static, site.Environment, nil)
	access = filepath.Join(site.State, "access.log")
	site.Write(t, file.Trust(), logsOf(file.Bytes(), access))
	site.WriteUsers(t, o.config.Dynamic.Users)
	return site, access
}

// loadCase wants an nginx to take the configuration of an outcome.
func loadCase(t *testing.T, o *outcome, installed kit.Nginx) {
	t.Helper()
	site, _ := o.prepare(t, installed)
	check(t, site)
}

// serveCase loads the configuration of a case with its outcome into an nginx and gives
// the lines of its requests as that nginx answers them, having compared each with
// route.Match, and what it logged of them.
func serveCase(t *testing.T, c *testCase, o *outcome, installed kit.Nginx) (lines, logged string) {
	t.Helper()
	site, access := o.prepare(t, installed)
	if words, ok := c.section("refused"); ok {
		refuses(t, site, strings.TrimSpace(words))
		return "", ""
	}
	requests, probes := c.requests(t), o.probes()
	if len(requests)+len(probes) == 0 {
		check(t, site)
		return "", ""
	}
	nginx := &running{Server: site.Start(t), ports: site.Environment}
	if err := nginx.Client.Push(context.Background(), withEchoes(t, o.config.Dynamic)); err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		lines += o.ask(t, nginx, r)
	}
	logged = c.logged(t, access)
	o.askProbes(t, nginx, probes)
	return lines, logged
}

// logged is what is in an access log, if the case is about it.
func (c *testCase) logged(t *testing.T, path string) string {
	t.Helper()
	if _, ok := c.section("log"); !ok {
		return ""
	}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(content)
}

// ask sends a request to nginx, compares the answer with what route.Match
// foretells, and gives it as lines of the section requests.
func (o *outcome) ask(t *testing.T, nginx *running, r request) string {
	t.Helper()
	foretold := o.foretell(r)
	seen, err := nginx.fetch(t, r)
	if err != nil {
		t.Errorf("%s: %v\n%s", r.left, err, nginx.Complaints(t))
		return r.left + "-> " + err.Error() + "\n"
	}
	seen.location = o.notationOf(r, seen.location)
	if fault := disagrees(foretold, seen); fault != "" {
		t.Errorf("%s: %s\n%s", r.left, fault, nginx.Complaints(t))
	}
	line := r.left + "-> " + seen.String() + "\n"
	for _, name := range r.wanted {
		value := strings.Join(seen.header.Values(name), ", ")
		if value == strconv.Itoa(nginx.ports.HTTPPort) {
			value = "80"
		}
		if name == "Set-Cookie" {
			value = drawn.ReplaceAllString(value, "$1...")
		}
		if strings.HasSuffix(name, "Traceparent") {
			value = withoutChance(value, r.header.Get("Traceparent"))
		}
		line += fmt.Sprintf("  %s: %s\n", name, cmp.Or(value, "(none)"))
	}
	return line
}

// withoutChance names the random parts of a traceparent: the trace, unless the client sent
// it, and the span but for its last digit, which says which one it is.
func withoutChance(got, sent string) string {
	parts := strings.Split(got, "-")
	if len(parts) != 4 || got == sent || len(parts[2]) != 16 {
		return got
	}
	if !strings.Contains(sent, parts[1]) {
		parts[1] = "TRACE"
	}
	parts[2] = "SPAN" + parts[2][15:]
	return strings.Join(parts, "-")
}

// notationOf turns the location that nginx's log names, such as "=/foo", into
// that of nginx.conf.
func (o *outcome) notationOf(r request, logged string) string {
	if logged == "" || strings.HasPrefix(logged, "@") {
		return logged
	}
	path, exact := strings.CutPrefix(tokens.WithoutLimits(logged), "=")
	server := route.Match(o.config.Static.Servers, r.host, r.uri).Server
	for _, l := range server.Locations {
		anywhere := l.Modifier == model.Pattern && path == "^(?s:.*?)(?:"+l.Path+")"
		if (l.Path == path || anywhere) && exact == (l.Modifier == model.Equal) {
			return notation(server, l)
		}
	}
	return "a location that is not in the model: " + logged
}

// fetch sends a request, exactly as it is written, on a connection of its own.
func (n *running) fetch(t *testing.T, r request) (answer, error) {
	logged := n.Log.Size(t)
	connection, name, err := n.dial(r)
	if err != nil {
		return answer{}, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(kit.Patience)); err != nil {
		return answer{}, err
	}
	if _, err := connection.Write(r.bytes()); err != nil {
		return answer{}, err
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: r.method})
	if err != nil {
		return answer{}, err
	}
	response.Body.Close()
	connection.Close()
	response.Header.Set("Certificate", name)
	response.Header.Set("Status", strconv.Itoa(response.StatusCode))
	a := answer{status: response.StatusCode, service: response.Header.Get("Echo-Service"), header: response.Header}
	if response.StatusCode/100 == 3 {
		a.redirect = n.usualPorts(response.Header.Get("Location"))
	}
	if told, is := strings.CutPrefix(response.Header.Get("Grpc-Message"), "the ingress controller answers "); is {
		a.status, _ = strconv.Atoi(told) // a gRPC client gets 200
	}
	if path := response.Header.Get("Echo-Path"); path != r.uri {
		a.path = path
	}
	a.location, err = n.chosen(t, connection.LocalAddr().String(), logged)
	return a, err
}

// usualPorts takes the ports of the test off a URL: there they are 80 and 443.
func (n *running) usualPorts(url string) string {
	for _, port := range []int{n.ports.HTTPPort, n.ports.HTTPSPort} {
		url = strings.Replace(url, fmt.Sprintf(":%d/", port), "/", 1)
	}
	return url
}

// dial connects as the request's scheme says; name is that of the certificate.
func (n *running) dial(r request) (connection net.Conn, name string, err error) {
	port := n.ports.HTTPPort
	if r.scheme == "https" {
		port = n.ports.HTTPSPort
	}
	connection, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, "", err
	}
	if r.announced != "" {
		if _, err := fmt.Fprintf(connection, "PROXY %s\r\n", r.announced); err != nil {
			return nil, "", err
		}
	}
	if r.scheme == "http" {
		return connection, "", nil
	}
	// What is presented is what the case is about; nobody is authenticated.
	secure := tls.Client(connection, &tls.Config{ServerName: r.host, InsecureSkipVerify: true})
	if err := secure.Handshake(); err != nil {
		connection.Close()
		return nil, "", err
	}
	return secure, secure.ConnectionState().PeerCertificates[0].Subject.CommonName, nil
}

// bytes is the request as it is sent. Without a host it is HTTP/1.0.
func (r request) bytes() []byte {
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", r.method, r.uri, r.host)
	if r.host == "" {
		text = fmt.Sprintf("%s %s HTTP/1.0\r\n", r.method, r.uri)
	}
	if r.absolute {
		text = fmt.Sprintf("%s http://%s%s HTTP/1.1\r\nConnection: close\r\n", r.method, r.host, r.uri)
	}
	for name, values := range r.header {
		text += name + ": " + strings.Join(values, ", ") + "\r\n"
	}
	return []byte(text + "\r\n")
}

// echoes are the servers that stand for the endpoints, one for each backend key.
var echoes = struct {
	sync.Mutex
	endpoints map[string]model.Endpoint
}{endpoints: map[string]model.Endpoint{}}

// echo gives the endpoint of a server that says for which backend it answers.
func echo(t *testing.T, key string) model.Endpoint {
	t.Helper()
	echoes.Lock()
	defer echoes.Unlock()
	if endpoint, ok := echoes.endpoints[key]; ok {
		return endpoint
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go kit.Speak(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Echo-Service", serviceName(key))
		w.Header().Set("Echo-Path", r.RequestURI)
		w.Header().Set("Got-Host", r.Host)
		w.Header().Set("Got-Protocol", r.Proto)
		for name, values := range r.Header {
			w.Header()["Got-"+name] = values
			if answer, is := strings.CutPrefix(name, "Answer-"); is {
				w.Header()[answer] = values
			}
		}
		params := fcgi.ProcessEnv(r)
		for name, value := range params {
			w.Header().Set("Param-"+name, value)
		}
		if path := params["DOCUMENT_URI"]; path != "" {
			w.Header().Set("Got-Protocol", "FastCGI")
			w.Header().Set("Echo-Path", (&url.URL{Path: path, RawQuery: r.URL.RawQuery}).RequestURI())
		}
		wanted(w, r)
	}))
	address := listener.Addr().(*net.TCPAddr)
	echoes.endpoints[key] = model.Endpoint{Address: "127.0.0.1", Port: address.Port}
	return echoes.endpoints[key]
}

// wanted answers with a status if the path says echo-status=STATUS, and with a body if
// the request asks for one.
func wanted(w http.ResponseWriter, r *http.Request) {
	if status, err := strconv.Atoi(r.URL.Query().Get("echo-status")); err == nil {
		w.WriteHeader(status)
		return
	}
	asked := r.Header
	if length, err := strconv.Atoi(asked.Get("Want-Length")); err == nil {
		w.Header().Set("Content-Type", asked.Get("Want-Type"))
		w.Header().Set("Content-Length", strconv.Itoa(length))
		_, _ = w.Write(bytes.Repeat([]byte("x"), length))
	}
}

// withEchoes puts an echo in the place of each backend's endpoints, if it has any.
func withEchoes(t *testing.T, d model.Dynamic) model.Dynamic {
	t.Helper()
	return kit.WithEndpoints(d, func(key string) model.Endpoint { return echo(t, key) })
}
