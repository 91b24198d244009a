package debug

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/debugapi"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// newcomer claims a path that the shop has, and one that it has not.
const newcomer = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: new, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: away, port: {number: 5432}}}}
      - {path: /next, pathType: Prefix, backend: {service: {name: next, port: {number: 80}}}}
`

func differenceOf(t *testing.T, o Options, query, manifests string) string {
	t.Helper()
	status, body := post(o, http.MethodPost, debugapi.DiffPath+query, manifests)
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, body)
	}
	return body
}

// What is served is compared with the same and the manifests. A new Ingress is the newest,
// so that it takes no path from others.
func TestDiff(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	got := differenceOf(t, o, "", newcomer)
	file := filepath.Join("testdata", "diff.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%v: got\n%s\nwant\n%s", err, got, want)
	}
	if nothing := differenceOf(t, o, "", "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n"); nothing != "nothing changes\n" {
		t.Errorf("a Namespace changes\n%s", nothing)
	}
	if text := differenceOf(t, o, "?format=markdown", newcomer); !strings.HasPrefix(text, "**1 route gained") {
		t.Errorf("as Markdown:\n%s", text)
	}
}

// The header says whether something changes, for the exit status of clients.
func TestDiffSaysWhetherSomethingChanges(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	for manifests, want := range map[string]string{newcomer: "true", "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n": "false"} {
		recorder := httptest.NewRecorder()
		Handler(o).ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/diff?format=json", strings.NewReader(manifests)))
		if got := recorder.Header().Get(debugapi.ChangedHeader); got != want || !strings.Contains(recorder.Body.String(), `"changed": `+want) {
			t.Errorf("got %s, want %s: %s", got, want, recorder.Body)
		}
	}
}

// Objects that the controller does not have are fetched; those that it may not read are told.
func TestDiffFetches(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	o.Fetch = func(_ context.Context, ingresses []*networkingv1.Ingress, snap *snapshot.Snapshot) (snapshot.Objects, []string) {
		if len(ingresses) != 1 || time.Since(ingresses[0].CreationTimestamp.Time) > time.Hour || snap.Service(snapshot.Name{Namespace: "shop", Name: "web"}) == nil {
			t.Errorf("asked for %v", ingresses)
		}
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "next"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
		return snapshot.Objects{Services: []*corev1.Service{service}}, []string{"Secret shop/x: forbidden"}
	}
	got := differenceOf(t, o, "", newcomer)
	if strings.Contains(got, "Service shop/next does not exist") || !strings.Contains(got, "! Secret shop/x: forbidden") {
		t.Errorf("got\n%s", got)
	}
}

// Objects without a namespace are of the parameter's. An existing Ingress keeps its age, and
// a new one gets the default class.
func TestDiffAdmits(t *testing.T) {
	t.Parallel()
	manifests := strings.Replace(shopManifests, "metadata: {name: nginx}", `metadata: {name: nginx, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}`, 1)
	o := optionsOf(stateOf(t, manifests))
	bare := strings.NewReplacer(", namespace: shop", "", "  ingressClassName: nginx\n", "").Replace(newcomer)
	if got := differenceOf(t, o, "?namespace=shop", bare); !strings.Contains(got, "+ shop.example/next") {
		t.Errorf("without a namespace and a class:\n%s", got)
	}
	older := strings.Replace(newcomer, "name: new,", "name: web,", 1)
	if got := differenceOf(t, o, "", older+"---\n"+newcomer); !strings.Contains(got, "Ingress shop/web already has Prefix /") {
		t.Errorf("the Ingress that exists lost its age:\n%s", got)
	}
}

func TestDiffRefuses(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	for _, test := range []struct {
		method, query, body string
		status              int
		text                string
	}{
		{http.MethodGet, "", "", 405, `/diff: want the method POST (got "GET")`},
		{http.MethodPost, "", "", 400, "want manifests of Ingresses"},
		{http.MethodPost, "", "kind: Ingress", 400, "manifests: document 1: Ingress: apiVersion: want"},
		{http.MethodPost, "", "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: a}", 400, "passed over: Ingress extensions/v1beta1"},
		{http.MethodPost, "?format=html", newcomer, 400, `format: want text, json or markdown (got "html")`},
		{http.MethodPost, "?namespace=A", newcomer, 400, "namespace: want the name of a namespace"},
		{http.MethodPost, "", strings.Repeat("#", debugapi.MostManifests+1), 413, "want at most"},
	} {
		if status, text := post(o, test.method, debugapi.DiffPath+test.query, test.body); status != test.status || !strings.Contains(text, test.text) {
			t.Errorf("%+.60v: %d, %s", test, status, text)
		}
	}
}

// strangers are an Ingress that names a Secret of another namespace, and settings that would
// allow it.
const strangers = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: edge}
data: {allow-cross-namespace-resources: "true"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: curious
  namespace: shop
  annotations:
    nginx.ingress.kubernetes.io/auth-type: basic
    nginx.ingress.kubernetes.io/auth-secret: vault/secret
    nginx.ingress.kubernetes.io/auth-secret-type: auth-map
spec:
  ingressClassName: nginx
  rules: [{host: curious.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// vault is a Secret of another namespace. The names of its keys are users.
const vault = `
---
apiVersion: v1
kind: Secret
metadata: {name: secret, namespace: vault}
stringData: {hidden-name: "no hash"}
`

// TestDiffKeepsToTheRunningBoundary: manifests learn nothing of Secrets by allowing themselves
// those of other namespaces; with the running setting they do.
func TestDiffKeepsToTheRunningBoundary(t *testing.T) {
	t.Parallel()
	settings := func(o *translate.Options) { o.ConfigMap = snapshot.Name{Namespace: "edge", Name: "settings"} }
	running := "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: edge}\ndata: {allow-cross-namespace-resources: \"%s\"}\n"
	upper := strings.ReplaceAll(strangers, "allow-cross-namespace-resources", "Allow-Cross-Namespace-Resources")
	if upper == strangers || strings.Contains(differenceOf(t, optionsOf(stateOf(t, shopManifests+vault, settings)), "", upper), "hidden-name") {
		t.Error("a key in upper case tells of Secrets")
	}
	for value, learns := range map[string]bool{"": false, "false": false, "true": true} {
		manifests := shopManifests + vault
		if value != "" {
			manifests += fmt.Sprintf(running, value)
		}
		got := differenceOf(t, optionsOf(stateOf(t, manifests, settings)), "", strangers)
		if strings.Contains(got, "hidden-name") != learns {
			t.Errorf("running %q: got\n%s", value, got)
		}
		if noted := strings.Contains(got, "allow-cross-namespace-resources of ConfigMap edge/settings: the value that runs counts"); noted == learns {
			t.Errorf("running %q: noted %v:\n%s", value, noted, got)
		}
	}
}
