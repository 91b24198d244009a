//go:build image

package real

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
)

// TestClientAddress: with externalTrafficPolicy Local, backends are told the address of
// a client that kube-proxy leads to Sluice; with Cluster, that of a node. With Local,
// the health check that kube-proxy has for load balancers says which node has a pod, and no longer
// when that ends, so that load balancers send nobody to it.
func TestClientAddress(t *testing.T) {
	w := theWorld(t)
	r := w.install(t, "client", "restricted", "controller.service.externalTrafficPolicy=Local")
	with := r.nodeOf(t)
	// As of a load balancer that asks the check below.
	if err := cluster.IP("route replace " + r.address(t) + "/32 via " + with.address + "\n"); err != nil {
		t.Fatal(err)
	}
	s := r.openShop(t)
	if got := s.toldAddress(t); got != clientAddress {
		t.Errorf("with Local, backends are told that the client is %q, want %s", got, clientAddress)
	}
	service, err := w.Admin().CoreV1().Services(r.name).Get(t.Context(), r.controller, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(d *node) cluster.Request {
		return cluster.Request{URL: fmt.Sprintf("http://%s:%d/healthz", d.address, service.Spec.HealthCheckNodePort)}
	}
	for _, d := range w.nodes {
		want := http.StatusServiceUnavailable
		if d == with {
			want = http.StatusOK
		}
		cluster.EventuallyStatus(t, check(d), want)
	}
	r.leavesTheCheck(t, check(with))
	w.helm(t, append([]string{"upgrade"}, r.values(t, firstTag, "controller.service.externalTrafficPolicy=Cluster")...)...)
	cluster.Eventually(t, "the address of a node", func(context.Context) error {
		if got := s.toldAddress(t); got == clientAddress || !strings.HasPrefix(got, "10.") {
			return fmt.Errorf("with Cluster, backends are told that the client is %q", got)
		}
		return nil
	})
}

// leavesTheCheck: the health check of the pod's node fails while the pod ends, and before it has
// ended. Then there is a pod again.
func (r *release) leavesTheCheck(t *testing.T, check cluster.Request) {
	t.Helper()
	former := r.pod(t)
	r.kubectl(t, "scale", "--namespace", r.name, "deployment/"+r.controller, "--replicas=0")
	cluster.EventuallyStatus(t, check, http.StatusServiceUnavailable)
	now, err := r.Admin().CoreV1().Pods(r.name).Get(t.Context(), former.Name, metav1.GetOptions{})
	if err != nil || now.DeletionTimestamp == nil {
		t.Errorf("the check failed only when the pod had ended: %v", err)
	}
	r.kubectl(t, "scale", "--namespace", r.name, "deployment/"+r.controller, "--replicas=1")
	r.rollOut(t)
}

// toldAddress is what a backend is told of a client that is on no node.
func (s *shop) toldAddress(t *testing.T) string {
	t.Helper()
	r := s.request("/header?key=X-Forwarded-For")
	r.From = clientAddress
	return cluster.EventuallyStatus(t, r, http.StatusOK).Body
}

// nodeOf is the node of the only pod.
func (r *release) nodeOf(t *testing.T) *node {
	t.Helper()
	for _, d := range r.nodes {
		if d.name == r.pod(t).Spec.NodeName {
			return d
		}
	}
	t.Fatal("the pod is on no node")
	return nil
}

// TestExternalName: Services of type ExternalName lead to the addresses that the
// cluster's DNS has for their names, inside the cluster and outside.
func TestExternalName(t *testing.T) {
	t.Parallel()
	w := theWorld(t)
	listener, err := net.Listen("tcp", clientAddress+":8080")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "outside") }), ReadHeaderTimeout: time.Minute}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	r := w.install(t, "names", "restricted")
	s := r.openShop(t)
	w.ApplyYAML(t, strings.NewReplacer("NAMESPACE", s.namespace(), "CLASS", r.name).Replace(externalNames))
	for host, want := range map[string]string{"outside.names.example": "outside", "inside.names.example": "web-"} {
		cluster.EventuallyAnswer(t, cluster.Request{URL: "http://" + host + "/hostname", To: s.to + ":80"}, want, func(a *cluster.Answer) bool {
			return a.Status == http.StatusOK && strings.HasPrefix(a.Body, want)
		})
	}
}

const externalNames = `
apiVersion: v1
kind: Service
metadata: {name: outside, namespace: NAMESPACE}
spec: {type: ExternalName, externalName: outside.example}
---
apiVersion: v1
kind: Service
metadata: {name: inside, namespace: NAMESPACE}
spec: {type: ExternalName, externalName: web.NAMESPACE.svc.cluster.local}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: names, namespace: NAMESPACE}
spec:
  ingressClassName: CLASS
  rules:
  - {host: outside.names.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: outside, port: {number: 8080}}}}]}}
  - {host: inside.names.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: inside, port: {number: 80}}}}]}}
`

// answersAtNodePort: each node answers at the port that it has for the Service.
func (w *world) answersAtNodePort(t *testing.T, namespace, name string) {
	t.Helper()
	service, err := w.Admin().CoreV1().Services(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range service.Spec.Ports {
		for _, d := range w.nodes {
			r := cluster.Request{URL: port.Name + "://web.example/hostname", To: fmt.Sprintf("%s:%d", d.address, port.NodePort)}
			if answer := cluster.EventuallyStatus(t, r, http.StatusOK); !strings.HasPrefix(answer.Body, "web-") {
				t.Errorf("%s of %s answers %q", port.Name, d.name, answer.Body)
			}
		}
	}
}

// TestOnTheNodes: the values for pods on the network of the nodes, one on each.
func TestOnTheNodes(t *testing.T) {
	w := theWorld(t)
	r := w.install(t, "host", "privileged", "controller.kind=DaemonSet", "controller.hostNetwork=true", "controller.dnsPolicy=ClusterFirstWithHostNet",
		"controller.service.enabled=false", "controller.publishService.enabled=false", "controller.extraArgs.status-update-interval=5")
	s := r.openShopAt(t, w.nodes[0].address)
	s.answersAtNodes(t)
	for _, pod := range r.pods(t.Context(), t) {
		status, err := r.in(t, pod.Name, "cat", "/proc/1/status")
		if err != nil || !strings.Contains(status, "\nNoNewPrivs:\t1\n") || !strings.Contains(status, "\nUid:\t101\t") {
			t.Errorf("%s: %v\n%s", pod.Name, err, status)
		}
	}
	cluster.Eventually(t, "the addresses of the nodes in the status of the Ingress", func(ctx context.Context) error {
		ingress, err := w.Admin().NetworkingV1().Ingresses(s.namespace()).Get(ctx, "web", metav1.GetOptions{})
		if err == nil && len(ingress.Status.LoadBalancer.Ingress) != len(w.nodes) {
			err = fmt.Errorf("they are %v", ingress.Status.LoadBalancer.Ingress)
		}
		return err
	})
}

// answersAtNodes: each node answers at port 80.
func (s *shop) answersAtNodes(t *testing.T) {
	t.Helper()
	for _, d := range s.nodes {
		cluster.EventuallyStatus(t, cluster.Request{URL: "http://" + s.host + "/hostname", To: d.address + ":80"}, http.StatusOK)
	}
}

// TestHostPorts: the values for pods that have ports of the nodes, one on each node.
func TestHostPorts(t *testing.T) {
	w := theWorld(t)
	r := w.install(t, "ports", "privileged", "controller.kind=DaemonSet", "controller.hostPort.enabled=true", "controller.service.enabled=false")
	r.openShopAt(t, w.nodes[0].address).answersAtNodes(t)
}
