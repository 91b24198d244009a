package cluster

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"sluice/test/kit"
)

// crowd is how many Ingresses come and go at once.
const crowd = 1000

// churn is a namespace in which they do, each with a Service and an EndpointSlice
// that leads to one listener.
type churn struct {
	cluster *Cluster
	name    string
	address string // of the listener
	sluice  *Sluice
	rounds  int // how often the Ingress that stays was changed
}

// crowded marks the objects that come and go.
var crowded = map[string]string{"crowd": "yes"}

func (h *churn) host(i int) string { return fmt.Sprintf("c%d.churn.example", i) }

// objects are those of one host.
func (h *churn) objects(i int) (*networkingv1.Ingress, *corev1.Service, *discoveryv1.EndpointSlice) {
	name := fmt.Sprintf("c%d", i)
	ingress := ingressOf(h.name, h.name, name, Rule(h.host(i), "/", name, 80))
	service, slice := unselected(h.name, name, h.address)
	ingress.Labels, service.Labels = crowded, crowded
	slice.Labels["crowd"] = "yes"
	return ingress, service, slice
}

// create makes all objects at once: as fast as the API server takes them.
func (h *churn) create(t *testing.T) {
	t.Helper()
	clients, ctx := h.cluster.Admin(), t.Context()
	h.each(t, func(i int) error {
		ingress, service, slice := h.objects(i)
		if _, err := clients.NetworkingV1().Ingresses(h.name).Create(ctx, ingress, metav1.CreateOptions{}); err != nil {
			return err
		}
		if _, err := clients.CoreV1().Services(h.name).Create(ctx, service, metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err := clients.DiscoveryV1().EndpointSlices(h.name).Create(ctx, slice, metav1.CreateOptions{})
		return err
	})
}

// each does something for each host of the crowd, several at a time.
func (h *churn) each(t *testing.T, do func(i int) error) {
	t.Helper()
	const atOnce = 16
	var all sync.WaitGroup
	for first := range atOnce {
		all.Go(func() {
			for i := first; i < crowd && !t.Failed(); i += atOnce {
				if err := do(i); err != nil {
					t.Errorf("host %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// delete deletes all of them at once. The API server ends a request after a
// minute, which so many deletions take on a busy machine. Then it is asked again:
// what is deleted by then is not there any more. All together took over four minutes at a load of 20.
func (h *churn) delete(t *testing.T) {
	t.Helper()
	which := metav1.ListOptions{LabelSelector: "crowd=yes"}
	ctx, cancel := context.WithTimeout(context.Background(), 3*kit.Patience)
	defer cancel()
	var all sync.WaitGroup
	for _, kind := range []schema.GroupVersionResource{
		networkingv1.SchemeGroupVersion.WithResource("ingresses"), corev1.SchemeGroupVersion.WithResource("services"),
		discoveryv1.SchemeGroupVersion.WithResource("endpointslices"),
	} {
		all.Go(func() {
			objects := h.cluster.applier.dynamic.Resource(kind).Namespace(h.name)
			if err := poll(ctx, func(ctx context.Context) error { return objects.DeleteCollection(ctx, metav1.DeleteOptions{}, which) }); err != nil {
				t.Errorf("delete all %s: %v", kind.Resource, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// await waits until every host of the crowd is answered with a status.
func (h *churn) await(t *testing.T, status int) {
	t.Helper()
	for _, i := range []int{0, crowd - 1, crowd / 2} {
		EventuallyStatus(t, h.sluice.Request("http://"+h.host(i)+"/"), status)
	}
	h.each(t, func(i int) error {
		ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
		defer cancel()
		return poll(ctx, func(ctx context.Context) error { return h.sluice.Request("http://"+h.host(i)+"/").answers(ctx, status) })
	})
}

// phase does something to the crowd, waits until what is served is as it should
// be, prints what it took, and fails the test if there were more reloads than
// --sync-rate-limit allows for the time.
func (h *churn) phase(t *testing.T, what string, do func(*testing.T), status int) {
	t.Helper()
	began, reloads := time.Now(), h.sluice.reloads(t)
	do(t)
	written := time.Since(began)
	h.await(t, status)
	took := time.Since(began)
	reloads = h.sluice.reloads(t) - reloads
	t.Logf("%s: written in %.1f s, served after %.1f s, %d reloads, %s", what, written.Seconds(), took.Seconds(), reloads, h.memory(t))
	if most := 5 + int(math.Ceil(10*took.Seconds())); reloads > most || reloads > crowd/4 || reloads == 0 {
		t.Errorf("%s: %d reloads, want some, at most %d and at most %d", what, reloads, most, crowd/4)
	}
}

// footprint is the memory that a sluice and its nginx hold.
type footprint struct {
	controller, nginx float64 // MB that are theirs alone, or their share
	live              float64 // MB of objects on the controller's heap, after the last collection
}

func (m footprint) String() string {
	return fmt.Sprintf("controller %.1f MB (%.1f MB live on the heap), nginx %.1f MB", m.controller, m.live, m.nginx)
}

func (h *churn) memory(t *testing.T) footprint {
	t.Helper()
	m := footprint{controller: share(h.sluice.PID()), live: h.live(t)}
	for _, pid := range h.nginx(t) {
		m.nginx += share(pid)
	}
	return m
}

// nginx are the processes of nginx: the master and its workers.
func (h *churn) nginx(t *testing.T) []int {
	t.Helper()
	master := h.sluice.master(t)
	return append(kit.Children(master), master)
}

// share is the memory of a process without its program, in MB: what it shares with
// others counts in part (proc(5), smaps_rollup). How many run the same program differs
// from one moment to the next while tests run side by side.
func share(pid int) (megabytes float64) {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(content)) {
		name, rest, _ := strings.Cut(line, ":")
		sign := map[string]float64{"Pss": 1, "Pss_File": -1}[name]
		if sign == 0 {
			continue
		}
		kilobytes, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		megabytes += sign * kilobytes / 1024
	}
	return megabytes
}

// collection is a line of GODEBUG=gctrace=1; what it finds is the size of what a
// collection has left.
var collection = regexp.MustCompile(`(?m)^gc \d+ .* \d+->\d+->(\d+) MB,`)

// live is the size of the objects that the last collection of the controller has
// left.
func (h *churn) live(t *testing.T) float64 {
	t.Helper()
	found := collection.FindAllStringSubmatch(h.sluice.Log.Text(t), -1)
	if found == nil {
		return 0
	}
	size, _ := strconv.ParseFloat(found[len(found)-1][1], 64)
	return size
}

// settle has the Ingress that stays changed until a check holds, as only with
// changes come syncs and collections of the controller's heap. The last change is
// served, and former workers are gone, when it returns: memory that is measured
// then is not that of a reload under way.
func (h *churn) settle(t *testing.T, what string, holds func() bool) {
	t.Helper()
	kit.Await(t, what, func() bool {
		h.change(t)
		<-time.After(100 * time.Millisecond)
		return holds()
	})
	path := h.change(t)
	EventuallyStatus(t, h.sluice.Request("http://steady.churn.example"+path), http.StatusServiceUnavailable)
	kit.Await(t, "the end of former workers", func() bool { return !h.draining(t) })
}

// change gives the Ingress that stays another path, which leads to a Service that
// is not there.
func (h *churn) change(t *testing.T) (path string) {
	t.Helper()
	h.rounds++
	path = fmt.Sprintf("/round-%d", h.rounds)
	o := ingressOf(h.name, h.name, "steady", Rule("steady.churn.example", "/", "steady", 80))
	o.Spec.Rules = append(o.Spec.Rules, Rule("steady.churn.example", path, "missing", 80))
	h.cluster.Apply(t, o)
	return path
}

// draining says whether workers of former generations go on.
func (h *churn) draining(t *testing.T) bool {
	t.Helper()
	for _, pid := range h.nginx(t) {
		title, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(title), "shutting down") {
			return true
		}
	}
	return false
}

// startChurn serves a host that stays.
func startChurn(t *testing.T) *churn {
	t.Helper()
	c := Shared(t)
	h := &churn{cluster: c, name: "churn"}
	h.address, _ = standIn(t, says("here"))
	c.Apply(t, Namespace(h.name))
	c.lend(t, classOf(h.name))
	c.Apply(t, append(routeTo(h.name, "steady", h.address), ingressOf(h.name, h.name, "steady", Rule("steady.churn.example", "/", "steady", 80)))...)
	h.sluice = PrepareSluice(t, c.Kubeconfig(t, "admin", "system:masters"), alone(h.name)...)
	h.sluice.Environment = append(h.sluice.Environment, "GODEBUG=gctrace=1")
	h.sluice.Launch(t)
	h.sluice.AwaitReady(t)
	EventuallyStatus(t, h.sluice.Request("http://steady.churn.example/"), http.StatusOK)
	return h
}

// TestCrowdComesAndGoes: 1,000 Ingresses are made, deleted and made again at
// once. What is served is right each time, a host that stays loses no request,
// and neither controller nor nginx keeps what is gone.
func TestCrowdComesAndGoes(t *testing.T) {
	t.Parallel()
	h := startChurn(t)
	send := func(what string, kept bool) *Load {
		return Traffic{What: what, URLs: []string{"http://steady.churn.example/"}, To: h.sluice.at(), Kept: kept, Clients: 2, Pause: 20 * time.Millisecond}.Begin(t)
	}
	loads := []*Load{send("the host that stays, a connection a request", false), send("the host that stays, kept connections", true)}
	loads = append(loads, Traffic{What: "the host that stays, HTTP/2", URLs: []string{"https://steady.churn.example/"}, To: fmt.Sprintf("127.0.0.1:%d", h.sluice.HTTPS), Kept: true, Proto: "HTTP/2.0", Clients: 2, Pause: 20 * time.Millisecond}.Begin(t))
	h.settle(t, "the first collection", func() bool { return h.live(t) > 0 })
	before := h.memory(t)
	t.Cleanup(func() { h.delete(t) })
	h.phase(t, "1,000 come", h.create, http.StatusOK)
	h.settle(t, "one change more", func() bool { return true })
	full := h.memory(t)
	h.phase(t, "1,000 go", h.delete, http.StatusNotFound)
	most := 1.3*before.live + 4
	// The master gives back what has become free at the reload after, and settle
	// reloads at least once.
	h.settle(t, fmt.Sprintf("a heap of %.1f MB", most), func() bool { return h.live(t) <= most })
	empty := h.memory(t)
	h.phase(t, "1,000 come again", h.create, http.StatusOK)
	h.settle(t, "one change more", func() bool { return true })
	h.grown(t, "without the crowd", before, empty)
	h.grown(t, "with it", full, h.memory(t))
	for _, l := range loads {
		l.NoneFailed(t, 200)
	}
}

// grown fails the test where a second amount of memory is much more than the
// first.
func (h *churn) grown(t *testing.T, what string, first, second footprint) {
	t.Helper()
	t.Logf("%s: from %s to %s", what, first, second)
	const factor, more = 1.3, 20
	if second.nginx > factor*first.nginx+more {
		t.Errorf("%s: nginx grew from %.1f to %.1f MB", what, first.nginx, second.nginx)
	}
	if second.controller > factor*first.controller+more {
		t.Errorf("%s: the controller grew from %.1f to %.1f MB", what, first.controller, second.controller)
	}
}
