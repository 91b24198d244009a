package controller

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/dynamic"
)

// slowNames is a resolver with a slow DNS, which never answers for "dead" names, nor
// for AAAA. Names with "old" have the address 192.0.2.1, the others 192.0.2.2.
func slowNames(t *testing.T, c *Controller, delay time.Duration) {
	t.Helper()
	resolving(t, c, func(question dns.Question) (record string, answered bool) {
		if strings.Contains(question.Name, "dead") || question.Qtype != dns.TypeA {
			return "", false
		}
		time.Sleep(delay)
		if strings.Contains(question.Name, "old") {
			return "60 A 192.0.2.1", true
		}
		return "60 A 192.0.2.2", true
	})
}

// held stands for nginx and stores the endpoints of each push, by backend.
type held struct {
	mu        sync.Mutex
	endpoints map[string]string
	history   map[string][]string
}

func holding(t *testing.T, c *Controller) *held {
	t.Helper()
	h := &held{endpoints: map[string]string{}, history: map[string][]string{}}
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	c.Runtime = dynamic.New(socket)
	c.applier.runtime = c.Runtime
	return h
}

func (h *held) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var push struct {
		Set struct {
			Backends []struct {
				Key       string
				Endpoints json.RawMessage
			}
		}
		Delete struct{ Backends []string }
	}
	_ = json.NewDecoder(r.Body).Decode(&push)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range push.Set.Backends {
		h.endpoints[b.Key] = string(b.Endpoints)
		h.history[b.Key] = append(h.history[b.Key], string(b.Endpoints))
	}
	for _, key := range push.Delete.Backends {
		delete(h.endpoints, key)
	}
	_, _ = w.Write([]byte(`{"boot":"1"}`))
}

func (h *held) of(key string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.endpoints[key]
}

// leadsTo adds an Ingress for a Service, and the Service with a DNS name.
func (o *objects) leadsTo(service, name string) {
	ing := form("web", "a.example")
	ing.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Number: 80}}}
	s := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: name}}
	s.Namespace, s.Name = "shop", service
	services := []*corev1.Service{s}
	for _, other := range o.Services {
		if other.Name != service {
			services = append(services, other)
		}
	}
	o.Ingresses, o.Services = []*networkingv1.Ingress{ing}, services
}

// nextPlan runs the loop until a plan is submitted, and confirms it.
func (c *Controller) nextPlan(t *testing.T) {
	t.Helper()
	c.untilNamed(t, "a plan", func() bool {
		p := c.submitted()
		if p != nil {
			c.applied(t.Context(), outcome{plan: p})
		}
		return p != nil
	})
}

// TestAPlanWaitsForItsNewNames: nginx gets a file only when its new names have
// addresses, so that neither a start nor a change causes errors.
func TestAPlanWaitsForItsNewNames(t *testing.T) {
	t.Parallel()
	source := &objects{}
	c := idle(t, source)
	slowNames(t, c, 200*time.Millisecond)
	h := holding(t, c)
	for _, service := range []string{"old", "new"} {
		source.leadsTo(service, service+".example.")
		c.sync(t.Context())
		c.nextPlan(t)
		if !strings.Contains(h.of("shop/"+service+"/80"), "192.0.2.") {
			t.Errorf("%s: submitted with the endpoints %s", service, h.of("shop/"+service+"/80"))
		}
	}
}

// TestNobodyWaitsLongForDeadNames: a plan waits for a second at most, even if others
// with further new names replaced it, and the next plan does not wait.
func TestNobodyWaitsLongForDeadNames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &objects{}
		c := idle(t, source)
		slowNames(t, c, 0)
		source.leadsTo("db", "dead.example.")
		c.sync(t.Context())
		began := time.Now()
		time.Sleep(500 * time.Millisecond)
		source.leadsTo("more", "dead-2.example.")
		c.sync(t.Context())
		c.nextPlan(t)
		if took := time.Since(began); took != time.Second {
			t.Errorf("a plan with dead names was submitted %s after the first one", took)
		}
		source.leadsTo("other", "dead-3.example.")
		c.sync(t.Context())
		if c.submitted() == nil {
			t.Error("another dead name of the namespace was waited for")
		}
	})
}

// TestAnEditedNameKeepsTheEndpointsUntilItsAnswer: the file stays the same, and nginx
// has the old or the new addresses, but never none.
func TestAnEditedNameKeepsTheEndpointsUntilItsAnswer(t *testing.T) {
	t.Parallel()
	source := &objects{}
	c := idle(t, source)
	slowNames(t, c, 200*time.Millisecond)
	h := holding(t, c)
	source.leadsTo("db", "old.example.")
	c.sync(t.Context())
	c.nextPlan(t)
	source.leadsTo("db", "new.example.")
	c.sync(t.Context())
	c.untilNamed(t, "the new addresses", func() bool { return strings.Contains(h.of("shop/db/80"), "192.0.2.2") })
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, endpoints := range h.history["shop/db/80"] {
		if i > 0 && !strings.Contains(endpoints, "192.0.2.") {
			t.Errorf("nginx was told of %q", h.history["shop/db/80"])
		}
	}
}

// TestARetiredNameKeepsItsAddresses: the running file uses it until the next one is
// confirmed, whatever is removed or resolved meanwhile.
func TestARetiredNameKeepsItsAddresses(t *testing.T) {
	t.Parallel()
	source := &objects{}
	c := idle(t, source)
	slowNames(t, c, 0)
	h := holding(t, c)
	source.leadsTo("old", "old.example.")
	c.sync(t.Context())
	c.nextPlan(t)
	source.leadsTo("new", "new.example.")
	c.sync(t.Context())
	for step, happens := range []func(){func() { c.retain(t.Context()) }, func() { c.resolved(t.Context()) }, func() { c.retain(t.Context()) }} {
		happens()
		if !strings.Contains(h.of("shop/old/80"), "192.0.2.1") {
			t.Errorf("step %d: the backend of the running file has the endpoints %s", step, h.of("shop/old/80"))
		}
	}
}
