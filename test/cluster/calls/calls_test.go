// Package calls holds Sluice against gRPC's own interoperability tests: the client and the
// server of grpc-go, with Sluice and its nginx between them. It needs no cluster; it is in
// this module because Sluice itself does not need gRPC.
package calls

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"sluice/test/kit"
)

// binary is the sluice under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(kit.WithSluice(func(path string) int { binary = path; return m.Run() }))
}

// world is a sluice with nginx, and what it trusts.
type world struct {
	*kit.Sluice
	pair tls.Certificate
	pool *x509.CertPool
}

// hosts are those of the manifests.
var hosts = []string{"plain.example", "secure.example", "locked.example", "inside.example", "small.example", "away.example", "slow.example", "wrong.example", "canary.example", "resets.example"}

// newPair makes a certificate that signs itself.
func newPair(t *testing.T, names ...string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// serve runs the server of the interoperability tests, with TLS if there is a pair, and
// gives its port.
func serve(t *testing.T, pair *tls.Certificate) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var options []grpc.ServerOption
	if pair != nil {
		options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(pair)))
	}
	server := grpc.NewServer(options...)
	testgrpc.RegisterTestServiceServer(server, interop.NewTestServer())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().(*net.TCPAddr).Port
}

// service is a Service with one endpoint, or none for port 0.
func service(name string, port int) string {
	text := fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: default}\nspec: {ports: [{name: a, port: 80, targetPort: %d}]}\n---\n", name, max(port, 1))
	if port == 0 {
		return text
	}
	return text + fmt.Sprintf("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: %s-1, namespace: default, labels: {kubernetes.io/service-name: %[1]s}}\n"+
		"addressType: IPv4\nendpoints: [{addresses: [127.0.0.1], conditions: {ready: true}}]\nports: [{name: a, port: %d}]\n---\n", name, port)
}

// ingress has all paths of a host, and HTTPS.
func ingress(name, host, backend string, annotations ...string) string {
	text := fmt.Sprintf("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: %s\n  namespace: default\n  annotations:\n", name)
	for _, annotation := range annotations {
		text += "    nginx.ingress.kubernetes.io/" + annotation + "\n"
	}
	return text + fmt.Sprintf("spec:\n  ingressClassName: nginx\n  tls: [{hosts: [%s], secretName: front}]\n  rules:\n"+
		"  - {host: %[1]s, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: %s, port: {number: 80}}}}]}}\n---\n", host, backend)
}

// start runs sluice with all hosts.
func start(t *testing.T, root string) *world {
	t.Helper()
	front, frontPEM := newPair(t, hosts...)
	back, backPEM := newPair(t, "backend.internal")
	_, otherPEM := newPair(t, "backend.internal")
	der, err := x509.MarshalPKCS8PrivateKey(front.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.StdEncoding.EncodeToString
	secret := func(name string, data string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: default}\ndata: {%s}\n---\n", name, data)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	verified := []string{"backend-protocol: GRPCS", `proxy-ssl-verify: "on"`, "proxy-ssl-name: backend.internal", `proxy-body-size: "0"`}
	text := "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\nspec: {controller: k8s.io/ingress-nginx}\n---\n" +
		service("plain", serve(t, nil)) + service("other", serve(t, nil)) + service("secure", serve(t, &back)) + service("away", 0) + service("resets", resets(t)) +
		secret("front", fmt.Sprintf("tls.crt: %s, tls.key: %s", encode(frontPEM), encode(key))) +
		secret("trusted", "ca.crt: "+encode(backPEM)) + secret("distrusted", "ca.crt: "+encode(otherPEM)) + secret("users", "auth: "+encode([]byte("ann:{PLAIN}secret"))) +
		ingress("plain", "plain.example", "plain", "backend-protocol: GRPC", `proxy-body-size: "0"`) +
		ingress("secure", "secure.example", "secure", append(verified, "proxy-ssl-secret: default/trusted")...) +
		ingress("wrong", "wrong.example", "secure", append(verified, "proxy-ssl-secret: default/distrusted")...) +
		ingress("locked", "locked.example", "plain", "backend-protocol: GRPC", "auth-type: basic", "auth-secret: users") +
		ingress("inside", "inside.example", "plain", "backend-protocol: GRPC", "allowlist-source-range: 192.0.2.0/24") +
		ingress("small", "small.example", "plain", "backend-protocol: GRPC", `proxy-body-size: "100"`) +
		ingress("resets", "resets.example", "resets", "backend-protocol: GRPC") +
		ingress("away", "away.example", "away", "backend-protocol: GRPC") +
		ingress("slow", "slow.example", "plain", "backend-protocol: GRPC", `proxy-read-timeout: "1"`) +
		ingress("main", "canary.example", "plain", "backend-protocol: GRPC", "affinity: cookie") +
		ingress("some", "canary.example", "away", `canary: "true"`, "canary-by-header: x-away") +
		strings.Replace(ingress("open", "open.example", "plain", "backend-protocol: GRPC"), "  tls: [{hosts: [open.example], secretName: front}]\n", "", 1)
	manifests := t.TempDir()
	if err := os.WriteFile(filepath.Join(manifests, "all.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	w := &world{Sluice: kit.Prepare(t, root, manifests), pair: back, pool: x509.NewCertPool()}
	w.pool.AppendCertsFromPEM(frontPEM)
	w.Start(t, exec.Command(binary, w.Arguments...))
	t.Cleanup(func() {
		w.Stop(syscall.SIGTERM, kit.Patience)
		if t.Failed() {
			t.Log(kit.Tail(w.Log.Lines(t, ""), 60))
		}
	})
	w.AwaitReady(t)
	return w
}

// call connects to a host, which a client finds at the port of HTTPS.
func (w *world) call(t *testing.T, host string) testgrpc.TestServiceClient {
	t.Helper()
	connection, err := grpc.NewClient("passthrough:///"+host,
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: w.pool, ServerName: host})),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", w.HTTPS))
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return testgrpc.NewTestServiceClient(connection)
}

// patient is a context for one call.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
	t.Cleanup(cancel)
	return ctx
}

// TestInterop makes the calls by which implementations of gRPC show that they understand
// each other: single calls, streams of each direction and of both at once, large messages,
// metadata and trailers, statuses, deadlines and cancelled calls.
func TestInterop(t *testing.T) {
	for _, nginx := range kit.Nginxes(t) {
		t.Run(nginx.Name, func(t *testing.T) {
			w := start(t, nginx.Root)
			for _, host := range []string{"plain.example", "secure.example"} {
				client := w.call(t, host)
				for name, do := range map[string]func(context.Context, testgrpc.TestServiceClient, ...grpc.CallOption){
					"empty": interop.DoEmptyUnaryCall, "large": interop.DoLargeUnaryCall, "client stream": interop.DoClientStreaming,
					"server stream": interop.DoServerStreaming, "both at once": interop.DoPingPong, "empty stream": interop.DoEmptyStream,
					"deadline": interop.DoTimeoutOnSleepingServer, "cancelled": interop.DoCancelAfterBegin, "cancelled after an answer": interop.DoCancelAfterFirstResponse,
					"metadata": interop.DoCustomMetadata, "status": interop.DoStatusCodeAndMessage, "special status": interop.DoSpecialStatusMessage,
				} {
					t.Run(host+"/"+name, func(t *testing.T) { do(patient(t), client) })
				}
			}
			w.errors(t)
			if nginx.Name == "shipped" {
				w.withoutTLS(t)
			}
			w.bothWays(t)
			w.deadline(t)
		})
	}
}

// withoutTLS makes a call by HTTP/2 without TLS, which nginx understands from 1.25.1 on.
func (w *world) withoutTLS(t *testing.T) {
	connection, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", w.HTTP), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority("open.example"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := testgrpc.NewTestServiceClient(connection).EmptyCall(patient(t), &testgrpc.Empty{}); err != nil {
		t.Errorf("without TLS: %v", err)
	}
}

// errors makes calls that nginx answers itself: a client gets the status of gRPC.
func (w *world) errors(t *testing.T) {
	large := &testgrpc.SimpleRequest{Payload: &testgrpc.Payload{Body: make([]byte, 1000)}}
	for host, want := range map[string]codes.Code{
		"locked.example": codes.Unauthenticated, "inside.example": codes.PermissionDenied, "small.example": codes.ResourceExhausted,
		"away.example": codes.Unavailable, "wrong.example": codes.Unavailable,
	} {
		_, err := w.call(t, host).UnaryCall(patient(t), large)
		if status.Code(err) != want || !strings.Contains(status.Convert(err).Message(), "the ingress controller answers ") {
			t.Errorf("%s: want %s from nginx, got %v", host, want, err)
		}
	}
	client := w.call(t, "canary.example")
	if _, err := client.EmptyCall(patient(t), &testgrpc.Empty{}); err != nil {
		t.Errorf("the main backend: %v", err)
	}
	// A canary without endpoints gets nothing.
	if _, err := client.EmptyCall(metadata.AppendToOutgoingContext(patient(t), "x-away", "always"), &testgrpc.Empty{}); err != nil {
		t.Errorf("a canary without endpoints: %v", err)
	}
}

// bothWays exchanges messages one by one: each answer comes before the next request, and
// the backend waits longer than nginx does for the last.
func (w *world) bothWays(t *testing.T) {
	stream, err := w.call(t, "slow.example").FullDuplexCall(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		if err := stream.Send(&testgrpc.StreamingOutputCallRequest{ResponseParameters: []*testgrpc.ResponseParameters{{Size: int32(n)}}}); err != nil {
			t.Fatal(err)
		}
		answer, err := stream.Recv()
		if err != nil || len(answer.GetPayload().GetBody()) != n {
			t.Fatalf("message %d: %v %v", n, answer, err)
		}
	}
	if _, err := stream.Recv(); err == nil || err == io.EOF {
		t.Errorf("a stream on which nothing comes for longer than proxy-read-timeout goes on: %v", err)
	}
}

// resets runs a backend that resets each call after 50 ms, without an answer, and gives its
// port. Servers of gRPC do so at the deadline if the method has not seen it yet.
func resets(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Protocols: protocols, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		time.Sleep(50 * time.Millisecond)
		panic(http.ErrAbortHandler)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// deadline makes a call that the backend resets at the client's deadline. The client learns that its time is over, not that the backend
// is down.
func (w *world) deadline(t *testing.T) {
	body, open := io.Pipe()
	defer open.Close()
	request, err := http.NewRequestWithContext(patient(t), http.MethodPost, fmt.Sprintf("https://resets.example:%d/grpc.testing.TestService/FullDuplexCall", w.HTTPS), body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Grpc-Timeout": {"50m"}}
	transport := &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: w.pool},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", w.HTTPS))
		},
	}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got := answer.Header.Get("Grpc-Status"); answer.StatusCode != http.StatusOK || got != fmt.Sprint(int(codes.DeadlineExceeded)) {
		t.Errorf("a call that the backend reset at the client's deadline: %d, grpc-status %q, %q", answer.StatusCode, got, answer.Header.Get("Grpc-Message"))
	}
}
