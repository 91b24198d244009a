package prometheus

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"text/template"
	"time"

	"sluice/internal/admission/webhook"
	"sluice/internal/debug"
	"sluice/internal/metrics"
	"sluice/internal/nginx"
	"sluice/internal/selfsigned"
	"sluice/test/kit"
)

// objects are those of the loaded Sluice: an Ingress with a certificate and a canary, one that
// gets more series than it may have, one without a host, and one whose Service is missing.
var objects = template.Must(template.New("").Parse(`
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: v1
kind: Secret
metadata: {name: shop-tls, namespace: shop}
type: kubernetes.io/tls
data: {tls.crt: {{ .Chain }}, tls.key: {{ .Key }}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: {{ .Port }}}]
endpoints: [{addresses: [127.0.0.1]}]
{{ range $name, $annotations := .Ingresses }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ $name }}
  namespace: shop
  annotations: { {{ $annotations }} }
spec:
  ingressClassName: nginx
  {{ if eq $name "web" }}tls: [{hosts: [ingress.local], secretName: shop-tls}]{{ end }}
  rules:
  - {{ if eq $name "many" }}host: many.example
    {{ else if ne $name "anywhere" }}host: ingress.local
    {{ end }}http: {paths: [{path: {{ if eq $name "lost" }}/lost{{ else }}/{{ end }}, pathType: Prefix, backend: {service: {name: {{ if eq $name "lost" }}lost{{ else }}web{{ end }}, port: {number: 80}}}}]}
{{ end }}
`))

// host is that of the certificates that Sluice makes.
const host = "ingress.local"

// pod is the name of the Sluice's pod, namespace its namespace.
const pod, namespace = "sluice-0", "sluice"

// seriesOfIngress is the limit that the Ingress many reaches.
const seriesOfIngress = 50

// loaded starts a Sluice that answers requests, and reloads now and then, until the test ends.
func loaded(t *testing.T) *kit.Sluice {
	t.Helper()
	n, err := kit.BestNginx()
	if err != nil {
		t.Fatalf("an nginx to test with is missing (`make setup` installs it): %v", err)
	}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Query().Get("status"))
		w.WriteHeader(max(status, http.StatusOK))
		fmt.Fprintln(w, "hello")
	}))
	t.Cleanup(backend.Close)
	folder := t.TempDir()
	writeObjects(t, folder, backend.Listener.Addr().(*net.TCPAddr).Port)
	s := kit.Prepare(t, n.Root, folder, "--enable-metrics", "--metrics-series-per-ingress", strconv.Itoa(seriesOfIngress))
	command := exec.Command(sluicePath, s.Arguments...)
	command.Env = append(os.Environ(), "POD_NAMESPACE="+namespace, "POD_NAME="+pod)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	s.Start(t, command)
	t.Cleanup(func() {
		s.Stop(syscall.SIGTERM, kit.Patience)
		if t.Failed() {
			t.Logf("the log of sluice:\n%.5000s", s.Log.Text(t))
		}
	})
	s.AwaitReady(t)
	load(t, s, folder)
	return s
}

func writeObjects(t *testing.T, folder string, port int) {
	t.Helper()
	certificate, err := selfsigned.Certificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	const annotation = "nginx.ingress.kubernetes.io/"
	var text bytes.Buffer
	err = objects.Execute(&text, map[string]any{
		"Port": port, "Chain": base64.StdEncoding.EncodeToString(certificate.Chain), "Key": base64.StdEncoding.EncodeToString([]byte(certificate.Key)),
		"Ingresses": map[string]string{
			"web": annotation + `ssl-redirect: "false"`, "many": "", "lost": "", "anywhere": "",
			"canary": annotation + `canary: "true", ` + annotation + "canary-by-header: X-New",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	kit.Replace(t, filepath.Join(folder, "objects.yaml"), text.String())
}

// another is an Ingress for a host that comes and goes, so that there are syncs and reloads.
const another = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: another, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - host: another-%d.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

// load asks for what the objects serve, and changes a host every second, until the test ends.
func load(t *testing.T, s *kit.Sluice, folder string) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	t.Cleanup(func() { cancel(); group.Wait() })
	client := &http.Client{Timeout: kit.RequestPatience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, to, path string, header http.Header) {
		request, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://127.0.0.1:%d%s", s.HTTP, path), http.NoBody)
		if err != nil {
			return
		}
		request.Host, request.Header = to, header
		if response, err := client.Do(request); err == nil {
			response.Body.Close()
		}
	}
	every := func(period time.Duration, do func(turn int)) {
		group.Go(func() {
			tick := time.NewTicker(period)
			defer tick.Stop()
			for turn := 0; ctx.Err() == nil; turn++ {
				do(turn)
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
			}
		})
	}
	methods := []string{"GET", "POST", "PUT", "DELETE"}
	every(20*time.Millisecond, func(turn int) {
		ask(methods[turn%2], host, []string{"/", "/?status=404", "/?status=503"}[turn%3], http.Header{})
		ask("GET", host, "/", http.Header{"X-New": {"always"}})
		ask("GET", "elsewhere.example", "/", http.Header{})
		ask(methods[turn%4], "many.example", fmt.Sprint("/?status=", 400+turn%41), http.Header{})
	})
	every(time.Second, func(turn int) {
		_ = os.WriteFile(filepath.Join(folder, "another.yaml"), fmt.Appendf(nil, another, turn), 0o644)
	})
}

// replica serves the metrics of a replica that leads and reviews Ingresses, of which there is none
// without a cluster.
func replica(t *testing.T) *httptest.Server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	m := metrics.New(metrics.Options{
		Enabled: true, WebhookExpires: func() (time.Time, bool) { return time.Now(), true }, Class: "k8s.io/ingress-nginx", Namespace: namespace, Pod: "sluice-1", Version: "test", Log: log,
		Process: nginx.New(nginx.Install{}, nginx.Options{}, nil),
		Status:  func(context.Context) (nginx.Status, error) { return nginx.Status{}, context.Canceled },
		State:   func() *debug.State { return nil }, Pushes: func() (uint64, uint64) { return 0, 0 },
		Leads: func() bool { return true }, Election: "sluice-leader",
	})
	scraped := m.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.Reviewed(webhook.Result{Namespace: "shop", Name: "web", Allowed: true, Judged: true, Took: time.Millisecond, Beside: 1, Bytes: 900})
		scraped.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}
