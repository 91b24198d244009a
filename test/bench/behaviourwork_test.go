package bench

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/test/bench/measure"
	"sluice/test/kit"
)

// behaviourPorts are those of the backends and of nginx by hand.
type behaviourPorts struct {
	// own is an address of this machine besides loopback, which Sluice refuses for servers
	// that authenticate or get copies.
	own                       string
	web                       []int
	auth, h2c, https, handTLS int
	// dir holds users, and one certificate with its key for all purposes.
	dir         string
	certificate tls.Certificate
	pem, key    []byte
}

// client is the TLS of clients of a host.
func (p *behaviourPorts) client(host string) *tls.Config {
	return &tls.Config{ServerName: host, InsecureSkipVerify: true, Certificates: []tls.Certificate{p.certificate}}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// makeCertificate makes one that signs itself, as server, client and authority.
func (p *behaviourPorts) makeCertificate(b *testing.B) {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(b, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, DNSNames: []string{"backend.internal", "*.bench.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(b, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	must(b, err)
	p.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	p.key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
	p.certificate, err = tls.X509KeyPair(p.pem, p.key)
	must(b, err)
	must(b, os.WriteFile(filepath.Join(p.dir, "tls.crt"), p.pem, 0o644))
	must(b, os.WriteFile(filepath.Join(p.dir, "tls.key"), p.key, 0o644))
}

// behaviourBackends starts the backends: plain HTTP, HTTP/2, HTTPS, and a server that
// authenticates and gets copies.
func behaviourBackends(b *testing.B) *behaviourPorts {
	b.Helper()
	p := &behaviourPorts{own: kit.OwnAddress(b), web: answering(b), auth: kit.Port(b), h2c: kit.Port(b), https: kit.Port(b), handTLS: kit.Port(b), dir: kit.StateDir(b)}
	if p.own == "" {
		b.Skip("this machine has no address but its loopback")
	}
	p.makeCertificate(b)
	must(b, os.WriteFile(filepath.Join(p.dir, "users"), []byte("ann:{PLAIN}secret\n"), 0o644))
	h := newByHand(b, 1)
	var out bytes.Buffer
	h.begin(&out, 0)
	fmt.Fprintf(&out, "access_log off;\nkeepalive_requests 1000000;\ndefault_type application/grpc;\n"+
		"server { listen %s:%d; listen 127.0.0.1:%[2]d; return 200; }\nserver { listen 127.0.0.1:%d http2; return 200 %q; }\n"+
		"server { listen 127.0.0.1:%d ssl; ssl_certificate %s/tls.crt; ssl_certificate_key %[6]s/tls.key; return 200 %[4]q; }\n}\n",
		p.own, p.auth, p.h2c, strings.Repeat("x", 1000), p.https, p.dir)
	must(b, os.WriteFile(h.conf(), out.Bytes(), 0o644))
	h.start()
	measure.AwaitAll(b, p.auth, "any", measure.Served)
	pinTo(1, h.PID())
	return p
}

// behaviourHand is nginx by hand with a server for each behaviour.
func behaviourHand(b *testing.B, p *behaviourPorts) *byHand {
	b.Helper()
	h := newByHand(b, 1, p.web...)
	h.head = fmt.Sprintf(fullHead, "access_log off;") + fmt.Sprintf("upstream auth { server %s:%d; keepalive 32; keepalive_requests 10000; }\n", p.own, p.auth)
	var out bytes.Buffer
	h.begin(&out, 100)
	h.upstream(&out)
	for _, c := range p.behaviours() {
		out.WriteString(c.http)
		pass := c.location
		if !strings.Contains(pass, "_pass ") {
			pass += " proxy_pass http://backends;"
		}
		at := "^~ /"
		if c.path != "" {
			at = `~* "^` + c.path + `"`
		}
		fmt.Fprintf(&out, "server {\nlisten %d;\nlisten %d ssl;\nserver_name %s;\nssl_certificate %s/tls.crt;\nssl_certificate_key %[4]s/tls.key;\n%slocation %s { %s }\n}\n",
			h.port, p.handTLS, c.host(), p.dir, c.server, at, pass)
	}
	out.WriteString("}\n")
	must(b, os.WriteFile(h.conf(), out.Bytes(), 0o644))
	h.start()
	measure.AwaitAll(b, h.port, plainBehaviour.host(), measure.Served)
	return h
}

// handHeaders repeats by hand what a location with a header of its own does not inherit.
const handHeaders = `proxy_set_header Host $http_host; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade; proxy_set_header X-Request-ID $req_id;
proxy_set_header X-Real-IP $remote_addr; proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Host $http_host; proxy_set_header X-Forwarded-Port $server_port;
proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Scheme $scheme; proxy_set_header X-Scheme $scheme;`

// behaviourSluice has an Ingress for each behaviour. A Problem ends the benchmark.
func behaviourSluice(b *testing.B, p *behaviourPorts) *sluice {
	b.Helper()
	f := newFolder(b)
	var out strings.Builder
	fmt.Fprintf(&out, settings+"  global-allowed-response-headers: X-Team\n  ssl-redirect: \"false\"\n", "true")
	indented := func(text []byte) string { return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    ") }
	fmt.Fprintf(&out, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: headers, namespace: bench}\ndata: {X-Team: bench}\n"+
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: bench}\nstringData: {auth: \"ann:{PLAIN}secret\"}\n"+
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: authority, namespace: bench}\nstringData:\n  ca.crt: |\n    %s\n"+
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: served, namespace: bench}\ntype: kubernetes.io/tls\nstringData:\n  tls.crt: |\n    %[1]s\n  tls.key: |\n    %s\n",
		indented(p.pem), indented(p.key))
	for service, ports := range map[string][]int{"web": p.web, "calls": {p.h2c}, "secure": {p.https}} {
		fmt.Fprintf(&out, "---\napiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: bench}\nspec:\n  selector: {app: %[1]s}\n  ports: [{name: http, port: 80}]\n", service)
		for i, port := range ports {
			fmt.Fprintf(&out, "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: %s-%d, namespace: bench, labels: {kubernetes.io/service-name: %[1]s}}\naddressType: IPv4\n"+
				"endpoints: [{addresses: [%[3]q], conditions: {ready: true}}]\nports: [{name: http, port: %[4]d, protocol: TCP}]\n", service, i, measure.Loopback, port)
		}
	}
	for _, c := range p.behaviours() {
		out.WriteString(ingressText(c, cmp.Or(c.service, "web")) + c.more)
	}
	f.put(b, "all.yaml", []byte(out.String()))
	s := start(b, f.path, "--configmap", "sluice/sluice")
	measure.AwaitAll(b, s.HTTP, plainBehaviour.host(), measure.Served)
	if problems := s.Log.Lines(b, "msg=problem "); len(problems) > 0 {
		b.Fatalf("not all behaviours are served: %s", strings.Join(problems, "\n"))
	}
	return s
}

// ingressText writes an Ingress with TLS for a host.
func ingressText(c behaviour, service string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: %s\n  namespace: bench\n  annotations:\n", c.object())
	for _, annotation := range c.annotations {
		key, value, _ := strings.Cut(annotation, ": ")
		if !strings.Contains(key, "/") {
			key = mixedPrefix + key
		}
		fmt.Fprintf(&out, "    %s: %q\n", key, strings.Trim(value, `"`))
	}
	path, kind := c.path, "ImplementationSpecific"
	if path == "" {
		path, kind = "/", "Prefix"
	}
	fmt.Fprintf(&out, "spec:\n  ingressClassName: nginx\n  tls: [{hosts: [%s], secretName: served}]\n  rules:\n  - host: %[1]s\n    http:\n      paths:\n      - {path: %q, pathType: %s, backend: {service: {name: %s, port: {number: 80}}}}\n", cmp.Or(c.of, c.object())+domain, path, kind, service)
	return out.String()
}

// firstCookie asks for a cookie, and gives it as clients send it.
func firstCookie(b *testing.B, to target) string {
	b.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://"+to.address()+"/", nil)
	must(b, err)
	request.Host = to.host
	response, err := http.DefaultClient.Do(request)
	must(b, err)
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	if len(response.Cookies()) == 0 {
		b.Fatalf("%s: no cookie in the answer %s", to.host, response.Status)
	}
	cookie := response.Cookies()[0]
	return cookie.Name + "=" + cookie.Value
}
