package cluster

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// spread counts which pods answer many requests.
func (s *site) spread(t *testing.T, host string, requests int) map[string]int {
	t.Helper()
	var mu sync.Mutex
	counts := map[string]int{}
	each(4, requests, func(int) {
		answer, err := s.get(host, "/").Do(context.Background())
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			counts[err.Error()]++
		case answer.Status != http.StatusOK || answer.Echo == nil:
			counts[fmt.Sprint("status ", answer.Status)]++
		default:
			counts[answer.Echo.IP]++
		}
	})
	return counts
}

// Requests go to all ready pods of a Service, to each as many; to new ones as
// soon as they are ready, and no more to those that are gone.
func TestConformanceLoadBalancing(t *testing.T) {
	t.Parallel()
	s := conform(t, "conform-load")
	const host, perPod = "load.example", 60
	s.Apply(t, Web(s.name, "web", 4)...)
	s.Apply(t, s.ingress("web", Rule(host, "/", "web", 80)))
	for _, count := range []int{4, 6, 2} {
		s.Apply(t, Deployment(s.name, "web", int32(count)))
		s.AwaitDeployment(t, s.name, "web")
		addresses := s.AwaitEndpoints(t, s.name, "web", count)
		EventuallyStatus(t, s.get(host, "/"), http.StatusOK)
		Eventually(t, fmt.Sprintf("requests to %d pods alone", count), func(context.Context) error {
			if answering := slices.Sorted(maps.Keys(s.spread(t, host, 4*count))); !slices.Equal(answering, addresses) {
				return fmt.Errorf("%q answer, want %q", answering, addresses)
			}
			return nil
		})
		counts := s.spread(t, host, perPod*count)
		t.Logf("%d requests to %d pods: %v", perPod*count, count, counts)
		for _, address := range addresses {
			// Each worker of nginx takes turns by itself, so that some difference is left.
			if got := counts[address]; got < perPod*3/4 || got > perPod*5/4 {
				t.Errorf("%d of %d requests went to %s, want about %d", got, perPod*count, address, perPod)
			}
		}
	}
}

// A Service is found by the number or the name of its port, and its pods by the
// targetPort, number or name.
func TestConformanceServicePorts(t *testing.T) {
	t.Parallel()
	s := conform(t, "conform-ports", "web")
	service := Service(s.name, "web")
	service.Spec.Ports = []corev1.ServicePort{
		{Name: "by-name", Port: 8000, TargetPort: intstr.FromString("http")},
		{Name: "by-number", Port: 9000, TargetPort: intstr.FromInt32(PodPort)},
	}
	byName := Rule("name.ports.example", "/", "web", 0)
	byName.HTTP.Paths[0].Backend.Service.Port.Name = "by-name"
	s.Apply(t, service, s.ingress("ports", byName, Rule("number.ports.example", "/", "web", 9000), Rule("wrong.ports.example", "/", "web", 81)))
	s.expect(t, expectation{"number.ports.example", "/", "web"}, expectation{"name.ports.example", "/", "web"})
	must(t, s.get("wrong.ports.example", "/"), "a refusal: there is no such port", status(http.StatusServiceUnavailable))
}

// What a request says reaches the pod, and what the pod answers the client.
func TestConformanceRequestsArriveWhole(t *testing.T) {
	t.Parallel()
	s := conform(t, "conform-whole", "web")
	s.Apply(t, s.ingress("web", Rule("whole.example", "/", "web", 80)))
	s.expect(t, expectation{"whole.example", "/", "web"})
	request := s.get("whole.example", "/some%20path/x?a=1&b=%2F")
	request.Method, request.Body = http.MethodPut, "a body"
	request.Header = http.Header{"X-Mine": {"one"}, StatusHeader: {"418"}}
	answer := must(t, request, "the pod's answer", status(http.StatusTeapot))
	e := answer.Echo
	if e == nil || e.Method != http.MethodPut || e.Host != "whole.example" || e.Path != "/some%20path/x?a=1&b=%2F" || e.Body != "a body" || e.Headers.Get("X-Mine") != "one" {
		t.Errorf("the pod was asked %+v", e)
	}
}
