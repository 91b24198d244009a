package cluster

import (
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

// TestPolledObjectsFollowABackup: after etcd was restored, objects have older versions
// than before. An API server that only remembers less is not believed.
func TestPolledObjectsFollowABackup(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	remembered, stored := 900, 900
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		version := stored
		if r.URL.Query().Get("resourceVersion") == "0" {
			version = remembered
		}
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"cert","resourceVersion":"%d"},"data":{"v":"%[1]d"}}`, version)
	}))
	t.Cleanup(server.Close)
	client, err := kube.Connect(kube.Options{Server: server.URL, QPS: 1000, Burst: 1000})
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Client: client})
	s.headers.follow(t.Context(), []snapshot.Name{shopCert})
	for _, step := range []struct {
		remembered, stored int
		want               string
	}{{900, 900, "900"}, {800, 900, "900"}, {500, 500, "500"}, {600, 600, "600"}} {
		mu.Lock()
		remembered, stored = step.remembered, step.stored
		mu.Unlock()
		s.headers.read(t.Context(), []snapshot.Name{shopCert})
		if got := s.headers.all()[0].Data["v"]; got != step.want {
			t.Errorf("remembered %d, stored %d: held %s, want %s", step.remembered, step.stored, got, step.want)
		}
	}
}

// TestNamespacesTakeTurns: however many missing or held objects a namespace names,
// those of another one are read at the next tick.
func TestNamespacesTakeTurns(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{false, true} {
		p := New(Options{}).headers
		mine := snapshot.Name{Namespace: "b", Name: "mine"}
		var names []snapshot.Name
		for i := range 1500 {
			names = append(names, snapshot.Name{Namespace: "a", Name: fmt.Sprintf("other-%04d", i)})
		}
		names = append(names, mine)
		p.keep(names)
		for _, name := range names {
			o := configMapAt(name, 2)
			if !there {
				o = nil
			}
			p.hold(name, o, nil)
		}
		if due := p.due(time.Now().Add(time.Minute)); !slices.Contains(due, mine) {
			t.Errorf("there: %t: %s is not among the first that are due", there, mine)
		}
	}
}

// TestObjectsThatStayMissingAreReadLessOften as long as they do.
func TestObjectsThatStayMissingAreReadLessOften(t *testing.T) {
	t.Parallel()
	p := New(Options{}).headers
	p.keep([]snapshot.Name{shopCert})
	wait := func() time.Duration {
		p.hold(shopCert, nil, nil)
		return time.Until(p.held[shopCert].due).Round(time.Second)
	}
	want := []time.Duration{missingAgain, 2 * missingAgain, 4 * missingAgain, heldAgain, heldAgain}
	for i, want := range want {
		if got := wait(); got != want {
			t.Errorf("read %d: due after %s, want %s", i, got, want)
		}
	}
	p.hold(shopCert, configMapAt(shopCert, 2), nil)
	if got := wait(); got != missingAgain {
		t.Errorf("after it was there: due after %s, want %s", got, missingAgain)
	}
}

func configMapAt(name snapshot.Name, version int) *corev1.ConfigMap {
	o := new(corev1.ConfigMap)
	o.Namespace, o.Name, o.ResourceVersion = name.Namespace, name.Name, fmt.Sprint(version)
	return o
}
