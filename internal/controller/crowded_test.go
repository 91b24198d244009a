package controller

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/assemble"
	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/prober"
	"sluice/internal/report"
	"sluice/internal/resolver"
)

// small is an nginx with little memory, by its control socket.
type small struct {
	mu   sync.Mutex
	held map[string]int64 // the costs of certificates and backends
	size int64
}

// bodyOf is a push.
type bodyOf struct {
	Set struct {
		Backends     []json.RawMessage
		Certificates []struct{ ID, Chain, Key string }
	}
	Delete struct{ Backends, Certificates []string }
}

func (s *small) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body bodyOf
	_ = json.NewDecoder(r.Body).Decode(&body)
	failed := map[string][]string{}
	set := func(kind, key string, size int) {
		cost := assemble.EntryCost(len(key), size)
		if before := s.held[key]; s.used()-before+cost > s.size {
			failed[kind] = append(failed[kind], key)
			return
		}
		s.held[key] = cost
	}
	for _, raw := range body.Set.Backends {
		var b struct{ Key string }
		_ = json.Unmarshal(raw, &b)
		set("backends", b.Key, len(raw))
	}
	for _, c := range body.Set.Certificates {
		set("certificates", c.ID, len(c.Chain)+len(c.Key))
	}
	for _, key := range slices.Concat(body.Delete.Backends, body.Delete.Certificates) {
		delete(s.held, key)
	}
	memory := map[string]int64{"size": s.size, "free": s.size - s.used()}
	if len(failed) > 0 {
		w.WriteHeader(http.StatusInsufficientStorage)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"boot": "1", "failed": failed, "memory": map[string]any{"backends": memory, "certificates": memory}})
}

func (s *small) used() (sum int64) {
	for cost := range maps.Values(s.held) {
		sum += cost
	}
	return sum
}

// has returns the keys in nginx that begin with a text, sorted.
func (s *small) has(begin string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.held)), func(key string) bool { return !strings.HasPrefix(key, begin) })
}

// pushing returns a controller that pushes to a small nginx.
func pushing(t *testing.T, nginx *small) *Controller {
	t.Helper()
	listener, err := net.Listen("unix", t.TempDir()+"/control.sock")
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: nginx}}
	server.Start()
	t.Cleanup(server.Close)
	log := slog.New(slog.DiscardHandler)
	return &Controller{report: report.New(log), Options: Options{Runtime: dynamic.New(listener.Addr().String()), Log: log,
		Resolver: resolver.New(resolver.Options{Logger: log}), Prober: prober.New(log)}}
}

// TestRetiredItemsHaveAShare: a namespace replaces all that it has time and again, so that
// nginx's memory is full of it. Another one replaces one item: that has room, also beside the
// former one. The first loses its oldest items, and no item in use.
func TestRetiredItemsHaveAShare(t *testing.T) {
	t.Parallel()
	certificate := func(namespace, id string) (d model.Dynamic) {
		d.Certificates = []*model.Certificate{{ID: namespace + id, Namespace: namespace, Chain: make([]byte, 3900)}}
		d.Names = []model.CertificateName{{Host: namespace + id, ID: namespace + id}}
		return d
	}
	presented := func(namespace, id string) (d model.Dynamic) {
		d.Certificates = []*model.Certificate{{ID: namespace + id, Namespace: namespace, Chain: make([]byte, 3900)}}
		return d
	}
	backend := func(namespace, id string) (d model.Dynamic) {
		b := &model.Backend{Key: namespace + id, Target: model.Target{ServicePort: model.ServicePort{Namespace: namespace, Name: "web"}}}
		for n := range 180 {
			b.Endpoints = append(b.Endpoints, model.Endpoint{Address: fmt.Sprint("10.100.100.", 100+n%100), Port: 10000 + n})
		}
		d.Backends = []*model.Backend{b}
		return d
	}
	for name, item := range map[string]func(namespace, id string) model.Dynamic{"certificates": certificate, "presented": presented, "backends": backend} {
		nginx := &small{held: map[string]int64{}, size: 40 * 4096}
		c := pushing(t, nginx)
		push := func(good, round int) {
			parts := []model.Dynamic{item("evil", fmt.Sprintf("%02da", round)), item("evil", fmt.Sprintf("%02db", round)), item("evil", fmt.Sprintf("%02dc", round)), item("good", fmt.Sprint(good))}
			var now model.Dynamic
			for _, part := range parts {
				now.Backends, now.Certificates, now.Names = append(now.Backends, part.Backends...), append(now.Certificates, part.Certificates...), append(now.Names, part.Names...)
			}
			c.retired.note(c.wanted, now, round)
			c.wanted = now
			c.push(t.Context())
		}
		for round := range 30 {
			push(1, round)
			if nginx.size < nginx.used() || len(c.roomless.Backends)+len(c.roomless.Hosts) > 0 {
				t.Fatalf("%s: in round %d there is no room for %v", name, round, c.roomless)
			}
			if !slices.Contains(nginx.has("evil"), fmt.Sprintf("evil%02dc", round)) {
				t.Fatalf("%s: nginx lacks an item in use: %v", name, nginx.has(""))
			}
		}
		push(2, 29)
		if got := nginx.has("good"); !slices.Equal(got, []string{"good1", "good2"}) {
			t.Errorf("%s: nginx has %v, want both", name, got)
		}
		evil := nginx.has("evil")
		if len(evil) < 10 || evil[0] < "evil10" || evil[len(evil)-1] != "evil29c" {
			t.Errorf("%s: nginx has %v, want the newest", name, evil)
		}
	}
}

// TestExcess: who has less than the share loses nothing.
func TestExcess(t *testing.T) {
	t.Parallel()
	var items []leftover
	for n := range 10 {
		items = append(items, leftover{namespace: "evil", key: fmt.Sprint(n), plan: n, cost: 100})
	}
	items = append(items, leftover{namespace: "good", key: "x", cost: 300})
	for room, want := range map[int64]int{2000: 0, 1300: 0, 1000: 3, 600: 7, 100: 11, 0: 11} {
		gone := excess(slices.Clone(items), room)
		if len(gone) != want {
			t.Errorf("with room for %d, %d go, want %d", room, len(gone), want)
		}
		if 0 < len(gone) && len(gone) < 10 && (gone[0].key != "0" || slices.ContainsFunc(gone, func(l leftover) bool { return l.namespace == "good" })) {
			t.Errorf("with room for %d, these go: %v", room, gone)
		}
	}
}
