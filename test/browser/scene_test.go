package browser

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/test/kit"
)

// many is the number of Ingresses.
const many = 10_000

// hostile is a path that would run a program if it were taken as markup.
const hostile = `<img src=x onerror=window.ran=1>`

// scene is a sluice with its Ingresses, and the page in front of it.
type scene struct {
	*kit.Sluice
	// address is the printed one.
	address string
	// gone is the file that takes the pod away.
	gone string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	best, err := kit.BestNginx()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write(t, filepath.Join(folder, "all.yaml"), manifests(t))
	s := &scene{Sluice: kit.Prepare(t, best.Root, folder, "--enable-metrics"), gone: filepath.Join(t.TempDir(), "gone")}
	command := exec.Command(sluicePath, s.Arguments...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.Start(t, command)
	t.Cleanup(func() { s.Stop(syscall.SIGTERM, kit.Patience) })
	s.AwaitReady(t)
	s.serve(t)
	return s
}

// serve starts the plugin, and takes the address that it prints.
func (s *scene) serve(t *testing.T) {
	t.Helper()
	kubectl, err := filepath.Abs("kubectl.sh")
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(http.HandlerFunc(s.pod))
	t.Cleanup(api.Close)
	command := exec.Command(pluginPath, "ui", "--server", api.URL, "--namespace", "sluice", "--pod", "sluice-controller-0", "--kubectl", kubectl)
	command.Env = append(os.Environ(), "SLUICE="+sluicePath, "GONE="+s.gone, "KUBECONFIG=", "HOME="+t.TempDir())
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("the plugin ends with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.address = strings.TrimSpace(line)
}

// pod is the API server: it knows one pod.
func (s *scene) pod(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/v1/namespaces/sluice/pods/sluice-controller-0" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "sluice-controller-0", "namespace": "sluice"},
		"spec":   map[string]any{"containers": []any{map[string]any{"name": "controller", "args": []string{"run", "--state-dir=" + s.State}}}},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	})
}

// manifests are the Ingresses, one of them with a certificate that expires soon, and one with
// names, paths and values that look like markup.
func manifests(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	chain, key := certificate(t, "cart.example", time.Now().Add(5*24*time.Hour))
	fmt.Fprintf(&out, base, base64.StdEncoding.EncodeToString(chain), base64.StdEncoding.EncodeToString(key))
	fmt.Fprintf(&out, odd, hostile, hostile)
	for i := range many - 2 {
		fmt.Fprintf(&out, one, i)
	}
	return out.String()
}

// certificate makes one that signs itself, as PEM.
func certificate(t *testing.T, host string, end time.Time) (chain, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: end.Add(-90 * 24 * time.Hour), NotAfter: end,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

const base = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints:
- {addresses: [127.0.0.1]}
- {addresses: [127.0.0.2]}
ports: [{name: http, port: 9}]
---
apiVersion: v1
kind: Secret
metadata: {name: cart, namespace: shop}
type: kubernetes.io/tls
data: {tls.crt: %s, tls.key: %s}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: cart
  namespace: shop
  annotations: {nginx.ingress.kubernetes.io/enable-cors: "true"}
spec:
  ingressClassName: nginx
  tls: [{hosts: [cart.example], secretName: cart}]
  rules:
  - host: cart.example
    http: {paths: [{path: /cart, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

const odd = `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: odd
  namespace: shop
  annotations: {nginx.ingress.kubernetes.io/proxy-connect-timeout: '%s'}
spec:
  ingressClassName: nginx
  rules:
  - host: odd.example
    http: {paths: [{path: '/%s', pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}]}
`

const one = `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: app-%[1]d, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - host: app-%[1]d.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}, {path: /a, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
