package cluster

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// refusing is a client of an API server that refuses everything and notes what
// for.
func refusing(t *testing.T) (client *kube.Client, asked func() int) {
	t.Helper()
	var mu sync.Mutex
	paths := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths[r.URL.Query().Get("fieldSelector")] = true
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no right","code":403}`))
	}))
	t.Cleanup(server.Close)
	client, err := kube.Connect(kube.Options{Server: server.URL, QPS: 1000, Burst: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return client, func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(paths)
	}
}

// Objects whose names come and go leave nothing behind: no goroutine and no
// trouble. One that must not be read is waited for no longer than until that is
// known.
func TestNamesComeAndGo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client, asked := refusing(t)
	s := New(Options{Client: client})
	s.watching = ctx
	objects := &s.configMaps
	total := 0
	for range 10 {
		var names []snapshot.Name
		for range 10 {
			total++
			names = append(names, snapshot.Name{Namespace: "shop", Name: "settings-" + strings.Repeat("x", total)})
		}
		objects.watch(ctx, names)
		eventually(t, "all are known to be refused", objects.hasSynced)
	}
	if reflectors() == 0 {
		t.Error("the test does not see the reflectors")
	}
	if got := len(s.troubles.all()); got != 10 {
		t.Errorf("%d troubles, want those of the last 10", got)
	}
	objects.watch(ctx, nil)
	eventually(t, "no reflector is left", func() bool { return reflectors() == 0 })
	if asked() < total || len(s.troubles.all()) != 0 || len(s.troubles.now) != 0 {
		t.Errorf("%d of %d were asked for; left are %v", asked(), total, s.troubles.now)
	}
}

// reflectors counts the calls of reflectors that go on. The tests in parallel do
// not run yet.
func reflectors() int {
	stacks := make([]byte, 4<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "(*Reflector).RunWithContext(")
}

// eventually polls until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
