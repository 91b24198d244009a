package debug

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/debugapi"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

// shopManifests are two Ingresses, one of them with problems, a wildcard host with
// a certificate, settings, and Services with and without endpoints.
const shopManifests = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: sluice, namespace: sluice}
data: {proxy-read-timeout: "90", no-such-key: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv6
endpoints: [{addresses: ["2001:db8::1"]}, {addresses: ["2001:db8::2"]}]
ports: [{name: http, port: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: away, namespace: shop}
spec: {type: ExternalName, externalName: db.example.org, ports: [{port: 5432}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: shop
  creationTimestamp: "2026-01-01T00:00:00Z"
  annotations: {nginx.ingress.kubernetes.io/server-alias: www.shop.example}
spec:
  ingressClassName: nginx
  tls: [{hosts: [shop.example], secretName: web}]
  rules:
  - host: shop.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}, {path: /db, pathType: Exact, backend: {service: {name: away, port: {number: 5432}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: all
  namespace: wild
  creationTimestamp: "2026-01-02T00:00:00Z"
  annotations: {nginx.ingress.kubernetes.io/proxy-read-timeout: soon}
spec:
  ingressClassName: nginx
  tls: [{hosts: ["*.wild.example"], secretName: wild}]
  rules:
  - host: "*.wild.example"
    http: {paths: [{path: /a, pathType: Prefix, backend: {service: {name: none, port: {number: 80}}}}]}
`

// pair is a certificate with its key, in PEM. It is the same each time.
type pair struct{ chain, key []byte }

func issue(t testing.TB, serial int64, names ...string) pair {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(serial)}, ed25519.SeedSize))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})}
}

// secret is a Secret whose tls.crt has the key too, as some have by mistake.
func secret(namespace, name string, p pair) string {
	both := append(append([]byte{}, p.chain...), p.key...)
	return fmt.Sprintf("---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: %s, name: %s}\ntype: kubernetes.io/tls\ndata: {tls.crt: %q, tls.key: %q}\n",
		namespace, name, base64.StdEncoding.EncodeToString(both), base64.StdEncoding.EncodeToString(p.key))
}

// The pairs of the shop.
func shopPairs(t testing.TB) []pair {
	return []pair{issue(t, 1, "shop.example"), issue(t, 2, "*.wild.example"), issue(t, 3, "ingress.local")}
}

// stateOf makes what a controller would publish of manifests that it has confirmed.
func stateOf(t testing.TB, manifests string, change ...func(*translate.Options)) *State {
	t.Helper()
	pairs := shopPairs(t)
	manifests += secret("shop", "web", pairs[0]) + secret("wild", "wild", pairs[1])
	objects, _, err := decode.FromYAML("manifests.yaml", []byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	options := translate.Options{
		IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", ManifestMode: true, HTTPSPort: 443,
		AnnotationsPrefix: "nginx.ingress.kubernetes.io", ConfigMap: snapshot.Name{Namespace: "sluice", Name: "sluice"},
		FallbackCertificate: &model.Certificate{ID: "fallback", Chain: pairs[2].chain, Key: pairs[2].key},
	}
	for _, set := range change {
		set(&options)
	}
	snap, problems := snapshot.New(objects)
	config, more := translate.Config(snap, options, nil)
	loaded, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	environment := render.Environment{HTTPPort: 8080, HTTPSPort: 8443, StateDir: "/state", Lua: "/state/lua", Workers: 2}
	file, unprintable := loaded.Render(config.Static, environment, nil)
	problems = model.SortProblems(append(append(problems, more...), unprintable...))
	return &State{
		Confirmed: &Confirmed{Snapshot: snap, Options: options, Config: config, Problems: problems, File: file, Templates: loaded, Environment: environment, Ingresses: snap.Ingresses()},
		Told:      config.Dynamic, Snapshot: snap, Problems: problems,
		Last: &Attempt{At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Took: 250 * time.Millisecond, Reloaded: true, File: file},
		Reloads: []debugapi.Reload{
			{At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Cause: "hosts", Changed: []debugapi.Changed{{Kind: "hosts", Count: 1, Names: []string{"shop.example"}}}, Bytes: 900, BytesMore: -20, Lines: 50, LinesAdded: 1, LinesRemoved: 2, Seconds: debugapi.Stages{All: 0.25, Load: 0.01, Decide: 0.02, Push: 0.01, Test: 0.05, Live: 0.1, Settled: 0.12}},
			{At: time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC), Cause: "start", Bytes: 920, BytesMore: 920, Lines: 51, LinesAdded: 51, Error: "it is\nnot there", Repeated: 2},
		},
	}
}

// optionsOf are those of a controller that is well.
func optionsOf(state *State) Options {
	return Options{
		Version: "1.2.3", Nginx: nginx.Install{Version: "1.26.3", Capabilities: nginx.Capabilities{Features: []string{"http2", "real-ip"}}},
		State: func() *State { return state }, Ready: func() error { return nil },
		Status: func(context.Context) (nginx.Status, error) {
			return nginx.Status{Load: 7, Workers: []nginx.Worker{{PID: 1, Load: 7}, {PID: 2, Load: 7}}, Memory: []nginx.Memory{{Name: "certificate_data", Size: 128 << 20, Used: 1 << 20}}}, nil
		},
		Leader: func() debugapi.Leader { return debugapi.Leader{Leads: true, Identity: "sluice-0"} },
		Traffic: func() debugapi.Traffic {
			return debugapi.Traffic{At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Bounds: []float64{0.1, 1}, Ingresses: []debugapi.IngressTraffic{
				{Requests: 3, ClientErrors: 3}, {Namespace: "shop", Ingress: "web", Requests: 9, ServerErrors: 1, Cut: 2, Times: []uint64{7, 1, 1}},
			}}
		},
	}
}

var errNothing = errors.New("no nginx worker has confirmed a configuration yet")

// ask asks a controller, and gives the status and the body.
func ask(o Options, method, target string) (int, string) {
	return post(o, method, target, "")
}

// post sends a body, too.
func post(o Options, method, target, body string) (int, string) {
	recorder := httptest.NewRecorder()
	Handler(o).ServeHTTP(recorder, httptest.NewRequestWithContext(context.Background(), method, target, strings.NewReader(body)))
	return recorder.Code, recorder.Body.String()
}

// get asks for a view that there is.
func get(t *testing.T, o Options, target string) string {
	t.Helper()
	status, text := ask(o, http.MethodGet, target)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", target, status, text)
	}
	return text
}
