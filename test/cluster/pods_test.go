package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sluice/test/kit"
)

// at is the URL of a pod.
func at(address string) string { return fmt.Sprintf("http://%s:%d/", address, PodPort) }

func TestPodsAnswer(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "answer")
	c.Apply(t, Web(ns, "web", 3)...)
	c.AwaitDeployment(t, ns, "web")
	pods := map[string]bool{}
	for _, address := range c.AwaitEndpoints(t, ns, "web", 3) {
		answer := EventuallyStatus(t, Request{URL: at(address) + "some/path?q=1", From: "10.255.7.7"}, http.StatusOK)
		e := answer.Echo
		if e == nil || e.IP != address || e.Namespace != ns || e.Port != PodPort || e.Method != "GET" || e.Path != "/some/path?q=1" ||
			e.Host != fmt.Sprintf("%s:%d", address, PodPort) || !strings.HasPrefix(e.Client, "10.255.7.7:") {
			t.Errorf("the pod at %s answers %s", address, answer.Body)
			continue
		}
		pods[e.Pod] = true
	}
	for _, pod := range c.Pods(t, ns, "web") {
		if !pods[pod.Name] {
			t.Errorf("the pod %s is none of those that answer: %v", pod.Name, pods)
		}
	}
}

// awaitRefusal waits until nobody listens at a pod's address.
func awaitRefusal(t *testing.T, address string) {
	t.Helper()
	Eventually(t, "a refused connection to "+address, func(ctx context.Context) error {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(address, fmt.Sprint(PodPort)))
		if err == nil {
			connection.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
}

func TestDeletedPodStopsListening(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "deleted")
	c.Apply(t, Web(ns, "web", 1)...)
	address := c.AwaitEndpoints(t, ns, "web", 1)[0]
	pod := c.Pods(t, ns, "web")[0]
	EventuallyStatus(t, Request{URL: at(address)}, http.StatusOK)
	c.Delete(t, &pod)
	awaitRefusal(t, address)
	c.awaitOthers(t, ns, []string{address})
}

// awaitOthers waits until as many endpoints as there were have other addresses.
func (c *Cluster) awaitOthers(t *testing.T, namespace string, former []string) {
	t.Helper()
	Eventually(t, fmt.Sprintf("endpoints other than %q", former), func(ctx context.Context) error {
		now, err := c.Endpoints(ctx, namespace, "web")
		if err != nil {
			return err
		}
		if len(now) != len(former) || slices.ContainsFunc(now, func(a string) bool { return slices.Contains(former, a) }) {
			return fmt.Errorf("there are %q", now)
		}
		return nil
	})
}

// begin sends a request whose body does not end before finish, and returns when the
// pod has begun to read it. The channel gets nil for an answer, or the error.
func begin(t *testing.T, address string) (answered <-chan error, finish func()) {
	t.Helper()
	body, end := endless()
	begun, result := make(chan struct{}), make(chan error, 1)
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at(address), body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Expect", "100-continue")
	go func() {
		response, err := (&http.Transport{ExpectContinueTimeout: kit.Patience}).RoundTrip(request)
		if err == nil {
			response.Body.Close()
		}
		result <- err
	}()
	select {
	case <-begun:
	case err := <-result:
		t.Fatalf("the request ended before the pod began with it: %v", err)
	}
	return result, end
}

// endless is a body that goes on until end: a reader that waits would hold up the client
// when the connection is cut off.
func endless() (body io.Reader, end func()) {
	ended := make(chan struct{})
	return readerFunc(func(p []byte) (int, error) {
		select {
		case <-ended:
			return 0, io.EOF
		case <-time.After(10 * time.Millisecond):
			p[0] = 'x'
			return 1, nil
		}
	}), func() { close(ended) }
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestDeletedPodFinishesWhatItHasBegun: during its stop delay a pod goes on as
// before, while its EndpointSlice says that it is terminating; then it finishes
// what it has begun.
func TestDeletedPodFinishesWhatItHasBegun(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "begun")
	d, grace := Deployment(ns, "web", 1), int64(kit.Patience.Seconds())
	d.Spec.Template.Annotations = map[string]string{StopDelayAnnotation: kit.Patience.String()}
	d.Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
	c.Apply(t, d, Service(ns, "web"))
	address, pod := c.AwaitEndpoints(t, ns, "web", 1)[0], c.Pods(t, ns, "web")[0].Name
	answered, finish := begin(t, address)
	*d.Spec.Replicas = 0
	c.Apply(t, d)
	c.awaitEndpoint(t, ns, address, func(ready, serving, terminating bool) bool { return !ready && serving && terminating })
	EventuallyStatus(t, Request{URL: at(address)}, http.StatusOK)
	c.annotatePod(t, ns, pod, StopDelayAnnotation, "0s")
	awaitRefusal(t, address)
	select {
	case err := <-answered:
		t.Fatalf("the slow request was answered before the pod stopped listening: %v", err)
	default:
	}
	finish()
	if err := <-answered; err != nil {
		t.Errorf("the slow request: %v", err)
	}
	c.awaitNoPods(t, ns)
}

// TestDeletedPodIsCutOffAfterItsGracePeriod, even in the middle of a request.
func TestDeletedPodIsCutOffAfterItsGracePeriod(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "cut")
	d, grace := Deployment(ns, "web", 1), int64(1)
	d.Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
	c.Apply(t, d, Service(ns, "web"))
	answered, _ := begin(t, c.AwaitEndpoints(t, ns, "web", 1)[0])
	began := time.Now()
	c.Delete(t, d)
	if err := <-answered; err == nil {
		t.Error("the slow request was answered")
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("the slow request was cut off after %s, before the end of the grace period", took)
	}
	c.awaitNoPods(t, ns)
}

func (c *Cluster) awaitEndpoint(t *testing.T, namespace, address string, wanted func(ready, serving, terminating bool) bool) {
	t.Helper()
	Eventually(t, "the state of the endpoint "+address, func(ctx context.Context) error {
		list, err := c.clients.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, slice := range list.Items {
			for _, e := range slice.Endpoints {
				if s := e.Conditions; e.Addresses[0] == address && wanted(*s.Ready, *s.Serving, *s.Terminating) {
					return nil
				}
			}
		}
		return fmt.Errorf("the slices are %v", list.Items)
	})
}

func (c *Cluster) awaitNoPods(t *testing.T, namespace string) {
	t.Helper()
	Eventually(t, "the end of all pods in "+namespace, func(ctx context.Context) error {
		list, err := c.clients.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("there are %d", len(list.Items))
		}
		return err
	})
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "ready")
	c.Apply(t, Web(ns, "web", 2)...)
	c.AwaitEndpoints(t, ns, "web", 2)
	pod := c.Pods(t, ns, "web")[0]
	c.SetReady(t, ns, pod.Name, false)
	if left := c.AwaitEndpoints(t, ns, "web", 1); left[0] == pod.Status.PodIP {
		t.Errorf("the unready pod's address %s is still there", left[0])
	}
	EventuallyStatus(t, Request{URL: at(pod.Status.PodIP)}, http.StatusOK)
	c.SetReady(t, ns, pod.Name, true)
	c.AwaitEndpoints(t, ns, "web", 2)
}

// TestRollingUpdate: the new pods take some time to become ready, and the old
// ones are there until then.
func TestRollingUpdate(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "rolling")
	c.Apply(t, Web(ns, "web", 2)...)
	old := c.AwaitEndpoints(t, ns, "web", 2)
	d := Deployment(ns, "web", 2)
	none, one := intstr.FromInt32(0), intstr.FromInt32(1)
	d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &none, MaxSurge: &one}}
	d.Spec.Template.Annotations = map[string]string{StartDelayAnnotation: "300ms"}
	began := time.Now()
	c.Apply(t, d)
	c.AwaitDeployment(t, ns, "web")
	if took := time.Since(began); took < 600*time.Millisecond {
		t.Errorf("two pods, one after the other, became ready after %s", took)
	}
	c.awaitOthers(t, ns, old)
}

// TestProtocols: the ports of one pod speak HTTPS, TCP and UDP, and HTTP/2
// where a client begins with it.
func TestProtocols(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "protocols")
	d := Deployment(ns, "web", 1)
	d.Spec.Template.Spec.Containers[0].Ports = append(d.Spec.Template.Spec.Containers[0].Ports,
		corev1.ContainerPort{Name: "https", ContainerPort: 8443},
		corev1.ContainerPort{Name: "tcp-lines", ContainerPort: 9000},
		corev1.ContainerPort{Name: "packets", ContainerPort: 9000, Protocol: corev1.ProtocolUDP},
	)
	c.Apply(t, d, Service(ns, "web"))
	address := c.AwaitEndpoints(t, ns, "web", 1)[0]
	name := ns + "/" + c.Pods(t, ns, "web")[0].Name
	answer := EventuallyStatus(t, Request{URL: "https://web." + ns + ".svc/", To: address + ":8443", Roots: c.Roots()}, http.StatusOK)
	if answer.Echo == nil || answer.Echo.SNI != "web."+ns+".svc" || answer.Echo.Port != 8443 {
		t.Errorf("over HTTPS: %s", answer.Body)
	}
	for _, network := range []string{"tcp", "udp"} {
		if got := converse(t, network, address+":9000", "hello"); got != name+" hello" {
			t.Errorf("over %s: %q", network, got)
		}
	}
	if proto := overHTTP2(t, at(address)); proto != "HTTP/2.0" {
		t.Errorf("over HTTP/2: %s", proto)
	}
}

// converse sends a line and gives the line that comes back.
func converse(t *testing.T, network, address, text string) string {
	t.Helper()
	connection, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(kit.Patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(connection, text)
	line, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// overHTTP2 asks in HTTP/2 without TLS and gives the protocol of the answer.
func overHTTP2(t *testing.T, url string) string {
	t.Helper()
	protocols := &http.Protocols{}
	protocols.SetUnencryptedHTTP2(true)
	response, err := (&http.Client{Transport: &http.Transport{Protocols: protocols}}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.Proto
}
