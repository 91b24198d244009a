package controller

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/selfsigned"
	"sluice/internal/sift"
)

// blocks are annotations that print every block of an Ingress, by the name of the behaviour.
// An annotation ends with " | ".
var blocks = map[string]string{
	"rule":                  "",
	"allow-list":            "whitelist-source-range: 10.0.0.0/8",
	"deny-list":             "denylist-source-range: 10.0.0.0/8",
	"deny-paths":            "sluice.io/deny-paths: /bad/private/*",
	"satisfy":               "satisfy: any | whitelist-source-range: 10.0.0.0/8 | auth-type: basic | auth-secret: users",
	"basic-auth":            "auth-type: basic | auth-secret: users",
	"external-auth":         "auth-url: http://web.bad.svc.cluster.local/check | auth-response-headers: X-User | auth-snippet: proxy_set_header X-A b;",
	"sign-in":               "auth-url: http://web.bad.svc.cluster.local/check | auth-signin: https://login.example/start",
	"kept-answers":          "auth-url: http://web.bad.svc.cluster.local/check | auth-cache-key: $cookie_session",
	"match":                 "sluice.io/match-headers: X-Take: yes",
	"limits":                "limit-connections: 3 | limit-rps: 7",
	"rate":                  "limit-rate: 10000",
	"body-size":             "proxy-body-size: 3k",
	"body-buffer":           "client-body-buffer-size: 63k",
	"buffers":               "proxy-buffer-size: 17k | proxy-buffering: on",
	"http-version":          "proxy-http-version: 1.0",
	"timeouts":              "proxy-read-timeout: 77",
	"next-upstream":         "proxy-next-upstream: error http_503 | proxy-next-upstream-tries: 2",
	"upstream-host":         "upstream-vhost: inner.example",
	"connection-header":     "connection-proxy-header: keep-alive",
	"request-headers":       "sluice.io/request-headers: X-Added: $request_method",
	"sub-filter":            "sluice.io/sub-filter: one => two",
	"cookie-flags":          "sluice.io/cookie-flags: session secure httponly",
	"caching":               "sluice.io/cache-control: public, max-age=77",
	"logs":                  "enable-access-log: false",
	"cors":                  "enable-cors: true | cors-allow-origin: https://app.example",
	"answer-rewrites":       "proxy-redirect-from: http://old.example/ | proxy-redirect-to: http://moved.example/ | proxy-cookie-path: /one /two",
	"redirect-form":         "relative-redirects: true",
	"permanent-redirect":    "permanent-redirect: https://new.example/x",
	"redirects":             "sluice.io/redirects: /bad/old https://new.example/ 301",
	"www-redirect":          "from-to-www-redirect: true",
	"app-root":              "app-root: /home",
	"server-alias":          "server-alias: alias.example",
	"ssl-redirect":          "force-ssl-redirect: true",
	"rewrite":               "use-regex: true | rewrite-target: /rewritten",
	"regex":                 "use-regex: true",
	"forwarded-prefix":      "x-forwarded-prefix: /prefix | rewrite-target: /re",
	"custom-headers":        "custom-headers: bad/answered",
	"response-headers":      "sluice.io/response-headers: X-Own: mine",
	"configuration-snippet": "configuration-snippet: add_header X-A b;",
	"server-snippet":        "server-snippet: location = /of-server { return 418; }",
	"stream-snippet":        "stream-snippet: map $remote_addr $of_bad { default 1; }",
	"affinity":              "affinity: cookie | session-cookie-name: route",
	"custom-errors":         "custom-http-errors: 418 | default-backend: fallback",
	"fallback-path":         "sluice.io/fallback-path: /bad/index.html",
	"mirror":                "mirror-target: http://web.bad.svc.cluster.local",
	"transport":             "backend-protocol: HTTPS | proxy-ssl-secret: bad/ca | proxy-ssl-ciphers: HIGH",
	"grpc":                  "backend-protocol: GRPC",
	"fastcgi":               "backend-protocol: FCGI | fastcgi-index: index.php",
	"ssl-passthrough":       "ssl-passthrough: true",
	"client-certificates":   "auth-tls-secret: bad/ca | auth-tls-verify-depth: 3",
	"ssl-ciphers":           "ssl-ciphers: HIGH",
	"upstream-hash-by":      "upstream-hash-by: $request_uri",
	"opentelemetry":         "enable-opentelemetry: true",
	"modsecurity":           "enable-modsecurity: true",
	"hand-over":             "sluice.io/hand-over: good/open",
}

// neighbours are the annotations of an Ingress beside the one that nginx refuses.
var neighbours = map[string]string{
	"nobody":              "",
	"auth-signin":         "auth-url: http://web.good.svc.cluster.local/ | auth-signin: http://sign.example/in",
	"custom errors":       "custom-http-errors: 404 | default-backend: fallback",
	"mirror":              "mirror-target: http://web.good.svc.cluster.local",
	"canary":              "canary: true | canary-weight: 20",
	"client certificates": "auth-tls-secret: good/ca",
}

const (
	ownHost    = "own.example"
	sharedHost = "shared.example"
)

// hosts are those of the Ingress that nginx refuses.
var hosts = []string{ownHost, sharedHost}

// printing is an Ingress with annotations and with a path of a host.
func printing(namespace, name, host, annotations string, age int) *networkingv1.Ingress {
	ing := plain(namespace, name, host)
	ing.CreationTimestamp = metav1.NewTime(time.Unix(int64(age), 0))
	for each := range strings.SplitSeq(annotations, " | ") {
		key, value, _ := strings.Cut(each, ": ")
		switch {
		case key == "":
		case strings.Contains(key, "/"):
			ing.Annotations[key] = value
		default:
			ing.Annotations["nginx.ingress.kubernetes.io/"+key] = value
		}
	}
	return ing
}

// around returns the objects around the one that nginx refuses.
func around(t *testing.T, neighbour string) *objects {
	t.Helper()
	source := &objects{}
	authority, err := ownCertificate()
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"bad", "good"} {
		named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
		for _, name := range []string{"web", "fallback"} {
			meta := named(name)
			meta.Labels = map[string]string{discoveryv1.LabelServiceName: name}
			source.Services = append(source.Services, &corev1.Service{ObjectMeta: named(name), Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.1", Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}})
			source.EndpointSlices = append(source.EndpointSlices, &discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4,
				Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}}, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}}})
		}
		source.Secrets = append(source.Secrets,
			&corev1.Secret{ObjectMeta: named("users"), Data: map[string][]byte{"auth": []byte("ann:{PLAIN}secret")}},
			&corev1.Secret{ObjectMeta: named("ca"), Data: map[string][]byte{"ca.crt": authority.Chain}})
	}
	answered := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "bad", Name: "answered"}, Data: map[string]string{"X-Answered": "yes"}}
	cm := allowing()
	cm.Data["global-allowed-response-headers"] = "X-Answered"
	cm.Data["allow-cross-namespace-resources"] = "true"
	source.ConfigMaps = []*corev1.ConfigMap{cm, answered}
	beside := printing("good", "beside", sharedHost, neighbours[neighbour], 2)
	if neighbour == "canary" {
		beside.Spec.Rules[0].HTTP.Paths[0].Path = "/open"
	}
	source.Ingresses = []*networkingv1.Ingress{printing("good", "open", sharedHost, "", 1), printing("good", "elsewhere", "elsewhere.example", "ssl-ciphers: ECDHE+AESGCM", 3),
		printing("bad", "sibling", "sibling.example", "configuration-snippet: set $of_sibling 1;", 4)}
	if neighbour != "nobody" {
		source.Ingresses = append(source.Ingresses, beside)
	}
	return source
}

// badOf is the Ingress that nginx refuses, the newest one.
func badOf(block, host string) *networkingv1.Ingress {
	ing := printing("bad", "bad", host, blocks[block], 9)
	if block == "ssl-passthrough" {
		ing.Spec.Rules[0].HTTP.Paths[0].Path = "/"
	}
	return ing
}

var theBad = objectOf("bad", "bad")

// stage has what scenes share: the nginx that judges, if it is a real one, and the sites of blocks.
type stage struct {
	nginx       tester
	environment render.Environment
	// idle are the scenes in which nginx refuses nothing.
	idle atomic.Int64

	mu     sync.Mutex
	sites  map[[2]string][]place
	beside map[string]map[string]bool
	// plain has the lines without a block: of nobody, and of an Ingress without annotations on each host.
	plain map[string]map[string]bool
	// served returns the plan with an Ingress among the others, whose annotations nobody has.
	served func(...*networkingv1.Ingress) (*plan, *Controller)
}

// linesIn returns the lines of a file.
func linesIn(file *render.File) map[string]bool {
	all := map[string]bool{}
	for line := range file.Lines() {
		all[string(line.Text)] = true
	}
	return all
}

// asked is a real nginx that is asked once about each text.
type asked struct {
	nginx *nginx.Process
	mu    sync.Mutex
	known map[[sha256.Size]byte]error
}

func (a *asked) Test(ctx context.Context, conf io.WriterTo) error {
	return a.ask(ctx, "whole\n", a.nginx.Test, conf)
}

func (a *asked) TestApart(ctx context.Context, conf io.WriterTo) error {
	return a.ask(ctx, "apart\n", a.nginx.TestApart, conf)
}

func (a *asked) ask(ctx context.Context, how string, test func(context.Context, io.WriterTo) error, conf io.WriterTo) error {
	var text bytes.Buffer
	if _, err := conf.WriteTo(&text); err != nil {
		return err
	}
	key := sha256.Sum256(append([]byte(how), text.Bytes()...))
	a.mu.Lock()
	said, known := a.known[key]
	a.mu.Unlock()
	if known {
		return said
	}
	said = test(ctx, &text)
	if said == nil || sift.RefusalOf(said) != nil {
		a.mu.Lock()
		a.known[key] = said
		a.mu.Unlock()
	}
	return said
}

// linesBeside returns the lines that are there without the Ingress that nginx refuses.
func (st *stage) linesBeside(t *testing.T, neighbour string) map[string]bool {
	t.Helper()
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.beside[neighbour] == nil {
		c, _ := st.controller(t, neighbour)
		c.sync(t.Context())
		st.beside[neighbour] = linesIn(c.latest.file)
	}
	return st.beside[neighbour]
}

// newStage returns a stage for a real nginx, or without one for an nginx in memory that has all modules.
func newStage(t *testing.T, install *nginx.Install) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("", "scenes-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	st := &stage{sites: map[[2]string][]place{}, beside: map[string]map[string]bool{}, plain: map[string]map[string]bool{}, environment: render.Environment{HTTPPort: 8080, HTTPSPort: 8443, StateDir: dir, Lua: dir + "/lua"}}
	e := &st.environment
	st.served = st.serving(t)
	if install == nil {
		e.StreamModule, e.ModSecurityModule, e.HeadersMoreModule = "/stream.so", "/modsecurity.so", "/more.so"
		e.Capabilities = render.Capabilities{HTTP2Directive: true, Stream: true, SSLPreread: true, HeadersMore: true, ModSecurity: true}
		return st
	}
	st.nginx = &asked{nginx: nginx.New(*install, nginx.Options{StateDir: dir}, nil), known: map[[sha256.Size]byte]error{}}
	can := install.Capabilities
	e.LuaPath, e.LuaCPath, e.Modules, e.Workers, e.Capabilities = install.LuaPath, install.LuaCPath, install.Modules, 1, Capabilities(can)
	e.StreamModule, e.HeadersMoreModule, e.ModSecurityModule = can.StreamModule(), can.HeadersMore, can.ModSecurity
	if err := selfsigned.WritePlaceholder(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"run", "temp", "trust", "lua/sluice/entry"} {
		if err := os.MkdirAll(dir+"/"+folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"init", "init_worker", "balancer", "control", "client_hello"} {
		if err := os.WriteFile(dir+"/lua/sluice/entry/"+name+".lua", []byte("return"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

// serving returns a function that serves Ingresses among those that nginx does not refuse. All its plans
// are of one controller, which translates and prints only what differs.
func (st *stage) serving(t *testing.T) func(...*networkingv1.Ingress) (*plan, *Controller) {
	t.Helper()
	make := sync.OnceValues(func() (*Controller, *objects) { return st.controller(t, "nobody") })
	var others []*networkingv1.Ingress
	return func(more ...*networkingv1.Ingress) (*plan, *Controller) {
		c, source := make()
		if others == nil {
			others = slices.Clip(source.Ingresses)
		}
		source.Ingresses = append(others, more...)
		c.sync(t.Context())
		c.submitted()
		return c.latest, c
	}
}

// controller returns one beside a neighbour, without the Ingress that nginx refuses.
func (st *stage) controller(t *testing.T, neighbour string) (*Controller, *objects) {
	t.Helper()
	source := around(t, neighbour)
	if st.nginx != nil {
		// A real one takes most of its time for the TLS contexts of servers.
		source.Ingresses = slices.DeleteFunc(source.Ingresses, func(ing *networkingv1.Ingress) bool { return ing.Spec.Rules[0].Host != sharedHost })
	}
	c := idle(t, source)
	c.Translate.ConfigMap, c.Translate.Passthrough, c.Environment = config, true, st.environment
	return c, source
}
