package status

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
	"sluice/test/kubetest"
)

// texts gives addresses as one line.
func texts(all []Address) string {
	var texts []string
	for _, a := range all {
		texts = append(texts, strings.Trim(a.IP+"/"+a.Hostname, "/"))
	}
	return strings.Join(texts, " ")
}

func read(t *testing.T, s Source) string {
	t.Helper()
	all, err := s.read(t.Context())
	if err != nil {
		return err.Error()
	}
	return texts(all)
}

func TestAddressesOfAList(t *testing.T) {
	t.Parallel()
	s, err := OfList([]string{"lb.example", "192.0.2.10", " 192.0.2.9", "2001:DB8::1", "LB.example.", "192.0.2.9", "::ffff:192.0.2.8"})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, s); got != "192.0.2.8 192.0.2.9 192.0.2.10 2001:db8::1 lb.example" {
		t.Errorf("they are %s", got)
	}
	for _, bad := range []string{"", "a_b", "http://x", "192.0.2.1:80", "fe80::1%eth0", "*.example", strings.Repeat("a", 254)} {
		if _, err := OfList([]string{"192.0.2.1", bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAddressesOfAService(t *testing.T) {
	t.Parallel()
	name := snapshot.Name{Namespace: "sluice", Name: "public"}
	for want, service := range map[string]corev1.Service{
		"lb.example":                           {Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "lb.example"}},
		"10.0.0.1 2001:db8::1":                 {Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", ClusterIPs: []string{"2001:db8::1", "10.0.0.1"}, ExternalIPs: []string{"192.0.2.1"}}},
		"10.0.0.2":                             {Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.2"}},
		"":                                     {Spec: corev1.ServiceSpec{ClusterIP: "None"}},
		"192.0.2.1 192.0.2.2":                  {Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ClusterIP: "10.0.0.3", ExternalIPs: []string{"192.0.2.2", "192.0.2.1"}}},
		"10.0.0.4":                             {Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ClusterIP: "10.0.0.4"}},
		"192.0.2.3 192.0.2.4 2001:db8::3/both": balanced([]string{"192.0.2.3", "192.0.2.4"}, corev1.LoadBalancerIngress{IP: "192.0.2.3"}, corev1.LoadBalancerIngress{IP: "2001:db8::3", Hostname: "both"}),
		"elb.example":                          balanced(nil, corev1.LoadBalancerIngress{Hostname: "elb.example"}, corev1.LoadBalancerIngress{Hostname: "not valid"}),
	} {
		api := kubetest.New(t)
		service.Namespace, service.Name = name.Namespace, name.Name
		api.Put(kube.Services, &service)
		if got := read(t, OfService(api.Client(), name)); got != want {
			t.Errorf("%v %v has %q, want %q", service.Spec, service.Status, got, want)
		}
	}
	if got := read(t, OfService(kubetest.New(t).Client(), name)); !strings.Contains(got, "sluice/public") {
		t.Errorf("of a Service that is missing is said %q", got)
	}
}

func balanced(external []string, points ...corev1.LoadBalancerIngress) corev1.Service {
	return corev1.Service{
		Spec:   corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIP: "10.0.0.9", ExternalIPs: external},
		Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: points}},
	}
}

// fleet puts pods and nodes on an API server.
type fleet struct{ *kubetest.Server }

func (f fleet) node(name string, addresses ...corev1.NodeAddress) {
	f.Put(kube.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Addresses: addresses}})
}

func (f fleet) pod(name, node string, change func(*corev1.Pod)) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: name, Labels: map[string]string{"app": "sluice", "pod-template-hash": "of " + name}},
		Spec:       corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			HostIPs: []corev1.HostIP{{IP: "10.1.0.1"}, {IP: "2001:db8:1::1"}},
		},
	}
	if change != nil {
		change(pod)
	}
	f.Put(kube.Pods, pod)
}

func unready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
func ending(p *corev1.Pod)  { p.DeletionTimestamp = new(metav1.Now()) }
func foreign(p *corev1.Pod) { p.Labels["app"] = "other" }
func pending(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }
func internal(ip string) corev1.NodeAddress {
	return corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip}
}
func external(ip string) corev1.NodeAddress {
	return corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: ip}
}

var self = snapshot.Name{Namespace: "sluice", Name: "self"}

func newFleet(t *testing.T) fleet {
	f := fleet{kubetest.New(t)}
	f.node("n1", internal("10.0.0.1"), external("192.0.2.1"), external("2001:db8::1"), corev1.NodeAddress{Type: corev1.NodeHostName, Address: "n1"})
	f.node("n2", internal("10.0.0.2"))
	f.node("n3", internal("10.0.0.3"), external("192.0.2.3"))
	f.pod("self", "n1", nil)
	return f
}

func TestAddressesOfNodes(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pod("second", "n1", nil)
	f.pod("third", "n2", nil)
	f.pod("gone", "n4", nil)
	for name, change := range map[string]func(*corev1.Pod){"unready": unready, "ending": ending, "foreign": foreign, "pending": pending} {
		f.pod(name, "n3", change)
	}
	replicas := NewReplicas(f.Client(), self)
	if got := read(t, OfNodes(replicas, corev1.NodeExternalIP)); got != "10.0.0.2 192.0.2.1 2001:db8::1" {
		t.Errorf("external ones are preferred, and they are %s", got)
	}
	if got := read(t, OfNodes(replicas, corev1.NodeInternalIP)); got != "10.0.0.1 10.0.0.2" {
		t.Errorf("internal ones are preferred, and they are %s", got)
	}
}

// A Role of one namespace cannot grant reading nodes.
func TestAddressesOfNodesThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.Intrude(func(r *http.Request) error {
		if strings.Contains(r.URL.Path, "/nodes/") {
			return apierrors.NewForbidden(corev1.Resource("nodes"), "n1", errors.New("no rights"))
		}
		return nil
	})
	if got := read(t, OfNodes(NewReplicas(f.Client(), self), corev1.NodeExternalIP)); got != "10.1.0.1 2001:db8:1::1" {
		t.Errorf("they are %s", got)
	}
}

// A Pod without labels is alone: an empty selector would take all Pods.
func TestReplicasOfAPodWithoutLabels(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pod("self", "n1", func(p *corev1.Pod) { delete(p.Labels, "app") })
	f.pod("second", "n2", nil)
	n, err := NewReplicas(f.Client(), self).others(t.Context())
	if n != 0 || err != nil {
		t.Errorf("%d others, %v", n, err)
	}
}

func TestShutdown(t *testing.T) {
	for name, c := range map[string]struct {
		others    []func(*corev1.Pod) // second pods
		addresses int
		own       bool
		follower  bool
		broken    bool
		removed   bool
	}{
		"the last replica with one address":           {addresses: 1, removed: true},
		"with others that are not ready, or end":      {others: []func(*corev1.Pod){unready, ending}, addresses: 1, removed: true},
		"with another replica":                        {others: []func(*corev1.Pod){nil}, addresses: 1},
		"with several addresses of a load balancer":   {addresses: 2},
		"with several addresses of its nodes":         {addresses: 2, own: true, removed: true},
		"of its nodes, with another replica":          {others: []func(*corev1.Pod){nil}, addresses: 2, own: true},
		"of one that does not lead":                   {addresses: 1, follower: true},
		"when it is not known who else there is":      {addresses: 1, broken: true},
		"when there never was an address to be found": {},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				f := fleet{w.api}
				f.pod("self", "n1", nil)
				for i, change := range c.others {
					f.pod(fmt.Sprint("other-", i), "n1", change)
				}
				theirs := snapshot.Name{Namespace: "shop", Name: "theirs"}
				w.create(web)
				var addresses []string
				for i := range c.addresses {
					addresses = append(addresses, fmt.Sprint("192.0.2.", i+1))
				}
				r := w.prepare(w.api.Client(), addresses...)
				r.Source.own, r.Replicas = c.own, NewReplicas(w.api.Client(), self)
				r.leads.Store(true)
				go r.Run(w.Context(), &r.lead)
				w.serve(r)
				written := w.statusOf(web)
				w.create(theirs)
				w.overwrite(theirs, "203.0.113.9")
				r.setLeads(!c.follower)
				if c.broken {
					w.api.Delete(kube.Pods, self)
				}
				w.writes()
				r.Shutdown(w.Context())
				if c.removed {
					written = ""
				}
				w.want(web, written)
				w.want(theirs, "203.0.113.9")
				if n := len(w.writes()); (n == 1) != c.removed {
					t.Errorf("%d writes", n)
				}
				w.serve(r)
				w.pass(5*time.Minute, r)
				w.wantWrites(0) // nothing is written afterwards
			})
		})
	}
}
