package cluster

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// With --watch-namespace nothing of other namespaces is served, or asked for: an
// account with rights in that namespace alone will do.
func TestWatchNamespace(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	c.Apply(t, Web("watched", "web", 1)...)
	c.Apply(t, Web("unwatched", "web", 1)...)
	c.Apply(t, classOf("watched"))
	account := c.Account(t, "watched", "sluice", Within("watched", append(readAll(), Allow("", []string{"secrets"}, "get", "list", "watch"))...),
		Everywhere(Allow("networking.k8s.io", []string{"ingressclasses"}, "get", "list", "watch")))
	s := &site{Cluster: c, name: "watched", Sluice: RunSluice(t, account, flagsFor("watched", "--watch-namespace", "watched", "--disable-leader-election")...)}
	c.Apply(t, ingressOf("watched", "unwatched", "web", Rule("unwatched.example", "/", "web", 80)))
	secret := c.TLSSecret(t, "watched", "cert", "watched.example")
	c.Apply(t, secret, covered(ingressOf("watched", "watched", "web", Rule("watched.example", "/", "web", 80)), "cert", "watched.example"))
	EventuallyAnswer(t, s.Request("https://watched.example/"), "the pod and its certificate", func(a *Answer) bool {
		return from("web")(a) && isCertificate(certificateIn(t, secret))(a)
	})
	must(t, s.get("unwatched.example", "/"), "nothing", status(http.StatusNotFound))
	if lines := s.Log.Lines(t, "forbidden"); len(lines) > 0 {
		t.Errorf("more was asked for:\n%s", strings.Join(lines, "\n"))
	}
}

// With --watch-namespace-selector a namespace is served as long as its labels are
// those that are asked for.
func TestWatchNamespaceSelector(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "selector", "--watch-namespace-selector", "served=yes")
	labelled := func(value string) func() {
		return func() {
			namespace := Namespace("selected")
			namespace.Labels = map[string]string{"served": value}
			s.Apply(t, namespace)
		}
	}
	labelled("no")()
	s.Apply(t, Deployment("selected", "web", 1), Service("selected", "web"))
	s.AwaitEndpoints(t, "selected", "web", 1)
	s.Apply(t, ingressOf("selector", "selected", "web", Rule("selected.example", "/", "web", 80)))
	request := s.get("selected.example", "/")
	must(t, request, "nothing", status(http.StatusNotFound))
	for range 2 {
		takes(t, "the label was set", labelled("yes"), request, from("web"))
		takes(t, "it was changed", labelled("no"), request, status(http.StatusNotFound))
	}
	labelled("yes")()
	EventuallyAnswer(t, request, "the pod", from("web"))
	takes(t, "the Ingress changed while it counted", func() {
		s.Apply(t, ingressOf("selector", "selected", "web", Rule("selected.example", "/moved", "web", 80)))
	}, s.get("selected.example", "/moved"), from("web"))
}

// Services and endpoints of namespaces that nothing routes to cost nothing that
// stays: no memory, no work. When something routes there, they are served.
func TestUnroutedNamespacesCostNothing(t *testing.T) {
	t.Parallel()
	const services, workers = 2000, 8
	s := newSite(t, Shared(t), "unrouted")
	s.web(t, "web", 1)
	s.Apply(t, s.ingress("web", Rule("unrouted.example", "/", "web", 80)))
	EventuallyAnswer(t, s.get("unrouted.example", "/"), "the pod", from("web"))
	s.Apply(t, Namespace("crowd"))
	address := s.AwaitEndpoints(t, "unrouted", "web", 1)[0]
	before := s.memory(t)
	each(workers, services, func(i int) {
		service, slice := unselected("crowd", fmt.Sprintf("crowd-%d", i), address)
		// By the plain client: it is some thousand calls.
		if _, err := s.Admin().CoreV1().Services("crowd").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
		if i%4 > 0 && i < services-1 {
			return
		}
		if _, err := s.Admin().DiscoveryV1().EndpointSlices("crowd").Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})
	// A change that is seen says that all before it were.
	s.Apply(t, Deployment("unrouted", "web", 0))
	EventuallyStatus(t, s.get("unrouted.example", "/"), http.StatusServiceUnavailable)
	after := s.memory(t)
	t.Logf("%d Services elsewhere: %d MB before, %d MB after", services, before>>20, after>>20)
	// Kept, they would be some 2 KB each, twice, and as much garbage.
	if grown := after - before; grown > 24<<20 {
		t.Errorf("the controller grew by %d MB", grown>>20)
	}
	if lines := s.Log.Lines(t, "crowd"); len(lines) > 0 {
		t.Errorf("the log tells of them:\n%s", lines[0])
	}
	ing := ingressOf("unrouted", "crowd", "web", Rule("crowd.example", "/", fmt.Sprintf("crowd-%d", services-1), 80))
	takes(t, "something routes there now", func() { s.Apply(t, ing) }, s.get("crowd.example", "/"), func(a *Answer) bool { return a.Status != http.StatusNotFound })
	_, slice := unselected("crowd", fmt.Sprintf("crowd-%d", services-1))
	takes(t, "what changes there counts", func() { s.Apply(t, slice) }, s.get("crowd.example", "/"), status(http.StatusServiceUnavailable))
	takes(t, "nothing routes there any more", func() { s.Delete(t, ing) }, s.get("crowd.example", "/"), status(http.StatusNotFound))
}

// each calls do for 0 to count-1, so many at a time.
func each(workers, count int, do func(i int)) {
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < count; i += workers {
				do(i)
			}
		})
	}
	group.Wait()
}

// memory is what the controller has of its own.
// Source: proc(5), /proc/pid/status, RssAnon.
func (s *site) memory(t testing.TB) int {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "RssAnon:" {
			kilobytes, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("there is no RssAnon")
	return 0
}

// A namespace whose Services were there long before something routes to it is
// served from then on, and whatever changes in it.
func TestNamespaceBecomesRouted(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "routing")
	s.Apply(t, Web("routed", "web", 2)...)
	s.AwaitEndpoints(t, "routed", "web", 2)
	ing := ingressOf("routing", "routed", "web", Rule("routed.example", "/", "web", 80))
	request := s.get("routed.example", "/")
	for range 3 {
		takes(t, "routed", func() { s.Apply(t, ing) }, request, from("web"))
		takes(t, "not routed", func() { s.Delete(t, ing) }, request, status(http.StatusNotFound))
	}
	s.Apply(t, Deployment("routed", "web", 1))
	addresses := s.AwaitEndpoints(t, "routed", "web", 1)
	takes(t, "routed after a change that nobody looked at", func() { s.Apply(t, ing) }, request, func(a *Answer) bool {
		return from("web")(a) && a.Echo.IP == addresses[0]
	})
	s.Apply(t, Deployment("routed", "web", 3))
	for _, address := range s.AwaitEndpoints(t, "routed", "web", 3) {
		EventuallyAnswer(t, request, "the pod "+address, func(a *Answer) bool { return a.Echo != nil && a.Echo.IP == address })
	}
}
