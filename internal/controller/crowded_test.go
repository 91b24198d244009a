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
	"time"

	"sluice/internal/assemble"
	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/ocsp"
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

func (s *small) resize(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = size
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
		Resolver: resolver.New(resolver.Options{Logger: log}), Prober: prober.New(log), Stapler: ocsp.New(ocsp.Options{Logger: log})}}
}

// kinds make one item of each kind, of a little less than a page.
var kinds = map[string]func(namespace, id string) model.Dynamic{
	"certificates": func(namespace, id string) model.Dynamic {
		return model.Dynamic{
			Certificates: []*model.Certificate{{ID: namespace + id, Namespace: namespace, Chain: make([]byte, 3900)}},
			Names:        []model.CertificateName{{Host: namespace + id, ID: namespace + id}},
		}
	},
	"presented": func(namespace, id string) model.Dynamic {
		return model.Dynamic{Certificates: []*model.Certificate{{ID: namespace + id, Namespace: namespace, Chain: make([]byte, 3900)}}}
	},
	"backends": func(namespace, id string) model.Dynamic {
		b := &model.Backend{Key: namespace + id, Target: model.Target{ServicePort: model.ServicePort{Namespace: namespace, Name: "web"}}}
		for n := range 180 {
			b.Endpoints = append(b.Endpoints, model.Endpoint{Address: fmt.Sprint("10.100.100.", 100+n%100), Port: 10000 + n})
		}
		return model.Dynamic{Backends: []*model.Backend{b}}
	},
}

// pushItems pushes a plan with three new items of one namespace, and an item of another.
func pushItems(t *testing.T, c *Controller, item func(namespace, id string) model.Dynamic, good, round int) {
	t.Helper()
	parts := []model.Dynamic{item("evil", fmt.Sprintf("%02da", round)), item("evil", fmt.Sprintf("%02db", round)), item("evil", fmt.Sprintf("%02dc", round)), item("good", fmt.Sprint(good))}
	var now model.Dynamic
	for _, part := range parts {
		now.Backends, now.Certificates, now.Names = append(now.Backends, part.Backends...), append(now.Certificates, part.Certificates...), append(now.Names, part.Names...)
	}
	c.retired.note(c.wanted, now, round)
	c.wanted = now
	c.push(t.Context())
}

// TestRetiredItemsHaveAShare: a namespace replaces all that it has time and again, so that
// nginx's memory is full of it. Another one replaces one item: that has room, also beside the
// former one. The first loses its oldest items, and no item in use.
func TestRetiredItemsHaveAShare(t *testing.T) {
	t.Parallel()
	for name, item := range kinds {
		nginx := &small{held: map[string]int64{}, size: 40 * 4096}
		c := pushing(t, nginx)
		for round := range 30 {
			pushItems(t, c, item, 1, round)
			if nginx.size < nginx.used() || len(c.roomless.Backends)+len(c.roomless.Hosts) > 0 {
				t.Fatalf("%s: in round %d there is no room for %v", name, round, c.roomless)
			}
			if !slices.Contains(nginx.has("evil"), fmt.Sprintf("evil%02dc", round)) {
				t.Fatalf("%s: nginx lacks an item in use: %v", name, nginx.has(""))
			}
			c.retired.confirmed(round, time.Now(), time.Hour)
		}
		pushItems(t, c, item, 2, 29)
		if got := nginx.has("good"); !slices.Equal(got, []string{"good1", "good2"}) {
			t.Errorf("%s: nginx has %v, want both", name, got)
		}
		evil := nginx.has("evil")
		if len(evil) < 10 || evil[0] < "evil10" || evil[len(evil)-1] != "evil29c" {
			t.Errorf("%s: nginx has %v, want the newest", name, evil)
		}
		neverWithoutTheRunning(t, name, nginx, c)
	}
}

// neverWithoutTheRunning pushes more new items than fit, in plans that nginx does not run
// yet. The items of the plan that it runs stay. Once nginx runs the newest plan, all items of
// that have room.
func neverWithoutTheRunning(t *testing.T, name string, nginx *small, c *Controller) {
	t.Helper()
	running := []string{"evil29a", "evil29b", "evil29c", "good1"}
	for round := 30; round < 45; round++ {
		pushItems(t, c, kinds[name], 2, round)
		if got := nginx.has(""); slices.ContainsFunc(running, func(key string) bool { return !slices.Contains(got, key) }) {
			t.Fatalf("%s: in round %d nginx has %v, want also %v, which it runs with", name, round, got, running)
		}
	}
	if backends, certificates := c.Runtime.Full(); !backends && !certificates {
		t.Errorf("%s: everything has room", name)
	}
	c.retired.confirmed(44, time.Now(), time.Hour)
	c.push(t.Context())
	if backends, certificates := c.Runtime.Full(); backends || certificates || !slices.Contains(nginx.has(""), "evil44c") {
		t.Errorf("%s: once nginx runs the plan, it has %v, want all of the plan", name, nginx.has(""))
	}
}

// TestLeftOutUntilTheReload: the backends of all paths get other keys at once, and nginx has
// no room for both. It keeps those that it runs with; the owners of the others get Problems.
// After the reload it gets the others, and the Problems end.
func TestLeftOutUntilTheReload(t *testing.T) {
	t.Parallel()
	nginx := &small{held: map[string]int64{}, size: 1 << 20}
	source := &objects{}
	c := idle(t, source)
	c.Runtime = pushing(t, nginx).Runtime
	change := func(balancing string) *plan {
		t.Helper()
		source.Ingresses = nil
		for n := range 10 {
			ing := form(fmt.Sprint("web", n), fmt.Sprintf("web%d.example", n))
			ing.Spec.Rules[0].HTTP = servedBy(fmt.Sprint("web", n))
			ing.Annotations = map[string]string{"nginx.ingress.kubernetes.io/load-balance": balancing}
			source.Ingresses = append(source.Ingresses, ing)
		}
		c.sync(t.Context())
		return c.submitted()
	}
	roomless := func() (n int) {
		for _, p := range c.State().Problems {
			if p.Reason == model.NoRoom {
				n++
			}
		}
		return n
	}
	c.applied(t.Context(), outcome{plan: change("round_robin")})
	before := nginx.has("shop/")
	nginx.resize(nginx.used() * 3 / 2)
	next := change("ewma")
	got := nginx.has("shop/")
	if slices.ContainsFunc(before, func(key string) bool { return !slices.Contains(got, key) }) {
		t.Errorf("before the reload nginx has %v, want also %v", got, before)
	}
	if left := len(before) - (len(got) - len(before)); left == 0 || roomless() != left {
		t.Errorf("before the reload %d are left out, and there are %d Problems", left, roomless())
	}
	c.applied(t.Context(), outcome{plan: next})
	after := nginx.has("shop/")
	for _, b := range next.config.Dynamic.Backends {
		if !slices.Contains(after, b.Key) {
			t.Errorf("after the reload nginx has %v, want %s", after, b.Key)
		}
	}
	if roomless() != 0 {
		t.Errorf("after the reload there are %d Problems", roomless())
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
