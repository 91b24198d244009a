package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// polled gives Secrets that are read by name from an API server that has only
// shop/cert and denies shop/denied, and what was asked of it.
func polled(t *testing.T) (p *polledObjects[corev1.Secret, *corev1.Secret], asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests = append(requests, r.Method+" "+r.URL.String())
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/v1/namespaces/shop/secrets/cert":
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"shop","name":"cert","resourceVersion":"2"},"data":{"version":"Mg=="}}`)
		case "/api/v1/namespaces/shop/secrets/denied":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no right","code":403}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"not found","code":404}`)
		}
	}))
	t.Cleanup(server.Close)
	client, err := kube.Connect(kube.Options{Server: server.URL, QPS: 1000, Burst: 1000})
	if err != nil {
		t.Fatal(err)
	}
	p = New(Options{Client: client, Secrets: ReferencedSecrets}).secrets.(*polledObjects[corev1.Secret, *corev1.Secret])
	return p, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(requests)
	}
}

// Referenced Secrets are read by their names, and neither listed nor watched: who
// may do that could read all Secrets of the cluster.
func TestReferencedSecretsAreReadByNameOnly(t *testing.T) {
	t.Parallel()
	p, asked := polled(t)
	p.follow(t.Context(), []snapshot.Name{shopCert, {Namespace: "shop", Name: "denied"}, {Namespace: "shop", Name: "missing"}})
	if found := p.all(); len(found) != 1 || string(found[0].Data["version"]) != "2" || !p.hasSynced() {
		t.Errorf("got %v, and that all were read is %t", found, p.hasSynced())
	}
	if errs := p.source.troubles.all(); len(errs) != 1 || errs[0].Error() != "Secret shop/denied: no right" {
		t.Errorf("got %v", errs)
	}
	got := asked()
	slices.Sort(got)
	want := []string{
		"GET /api/v1/namespaces/shop/secrets/cert?resourceVersion=0",
		"GET /api/v1/namespaces/shop/secrets/denied?resourceVersion=0",
		"GET /api/v1/namespaces/shop/secrets/missing?resourceVersion=0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("asked was %q, want %q", got, want)
	}
	p.follow(t.Context(), nil)
	if len(p.all()) != 0 || len(p.source.troubles.all()) != 0 {
		t.Errorf("left are %v and %v", p.all(), p.source.troubles.all())
	}
}

// Only another content is a change. What the API server remembered from before,
// or could not tell, changes nothing.
func TestPolledSecretChanges(t *testing.T) {
	t.Parallel()
	same := secretAt(3)
	same.Data = secretAt(2).Data
	for name, test := range map[string]struct {
		read *corev1.Secret
		err  error
		want bool
		data string // none if it is gone
	}{
		"another version":                    {secretAt(3), nil, true, "3"},
		"the same version":                   {secretAt(2), nil, false, "2"},
		"another version, the same content":  {same, nil, false, "2"},
		"an older version":                   {secretAt(1), nil, false, "2"},
		"it is gone":                         {nil, nil, true, ""},
		"it could not be read":               {nil, errors.New("no right"), false, "2"},
		"the API server did not answer soon": {nil, context.DeadlineExceeded, false, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := New(Options{Secrets: ReferencedSecrets}).secrets.(*polledObjects[corev1.Secret, *corev1.Secret])
			p.keep([]snapshot.Name{shopCert})
			p.hold(shopCert, secretAt(2), nil)
			if got := p.hold(shopCert, test.read, test.err); got != test.want {
				t.Errorf("a change: %t, want %t", got, test.want)
			}
			found := ""
			for _, s := range p.all() {
				found = string(s.Data["version"])
			}
			if found != test.data {
				t.Errorf("it is %q, want %q", found, test.data)
			}
		})
	}
}

// What is waited for is read again soon, what is there less often; and however
// many there are, no tick reads more than a few, each in its turn.
func TestRhythmOfPolledSecrets(t *testing.T) {
	t.Parallel()
	p := New(Options{Secrets: ReferencedSecrets}).secrets.(*polledObjects[corev1.Secret, *corev1.Secret])
	names := []snapshot.Name{shopCert, {Namespace: "shop", Name: "missing"}}
	p.keep(names)
	now := time.Now()
	if got := p.due(now); len(got) != 0 {
		t.Errorf("what follow reads is due already: %v", got)
	}
	p.hold(names[0], secretAt(2), nil)
	p.hold(names[1], nil, nil)
	for after, want := range map[time.Duration][]snapshot.Name{time.Second: nil, 3 * time.Second: names[1:], 11 * time.Second: {names[1], names[0]}} {
		if got := p.due(now.Add(after)); !slices.Equal(got, want) {
			t.Errorf("due after %v are %v, want %v", after, got, want)
		}
	}

	var many []snapshot.Name
	for i := range 200 {
		many = append(many, snapshot.Name{Namespace: "many", Name: fmt.Sprintf("%03d", i)})
	}
	p.keep(many)
	for i, name := range many {
		if i%2 == 0 {
			p.hold(name, secretAt(2), nil)
		} else {
			p.hold(name, nil, nil)
		}
	}
	got := p.due(time.Now().Add(time.Minute))
	if len(got) != atATick || got[0] != many[1] || got[atATick/2] != many[0] {
		t.Errorf("%d are due at once: %v", len(got), got)
	}
}
