package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/snapshot"
)

var ownService = snapshot.Name{Namespace: "sluice", Name: "controller"}

// sliceOf is a slice of the Service with so many ready endpoints, and one that is not.
func sliceOf(service string, of discoveryv1.AddressType, ready int) *discoveryv1.EndpointSlice {
	no := false
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: ownService.Namespace, Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: of, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"192.0.2.99"}, Conditions: discoveryv1.EndpointConditions{Ready: &no}}},
	}
	for i := range ready {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("192.0.2.%d", i)}})
	}
	return slice
}

func TestReadyReplicasAreCounted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		slices []*discoveryv1.EndpointSlice
		want   int
	}{
		"none":                        {nil, 0},
		"one slice":                   {[]*discoveryv1.EndpointSlice{sliceOf("controller", "IPv4", 3), sliceOf("web", "IPv4", 9)}, 3},
		"an endpoint in two slices":   {[]*discoveryv1.EndpointSlice{sliceOf("controller", "IPv4", 3), sliceOf("controller", "IPv4", 2)}, 3},
		"the slices of both families": {[]*discoveryv1.EndpointSlice{sliceOf("controller", "IPv4", 2), sliceOf("controller", "IPv6", 3)}, 3},
		"none that is ready":          {[]*discoveryv1.EndpointSlice{sliceOf("controller", "IPv4", 0)}, 0},
	} {
		if got := readyOf(test.slices, ownService); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// A rolling update changes the number of replicas again and again, and each number that
// counts can reload nginx: one has to stand for a while. None never counts.
func TestNumbersOfReplicasSettle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Replicas: ownService})
		began := time.Now()
		for _, step := range []struct {
			after       time.Duration
			ready, want int
			wakes       bool
		}{
			{0, 0, 0, false},
			{0, 3, 3, false},
			{time.Second, 4, 3, true},
			{10 * time.Second, 3, 3, false},
			{20 * time.Second, 4, 3, true},
			{40 * time.Second, 5, 3, true},
			{60 * time.Second, 5, 3, true},
			{70 * time.Second, 5, 5, false},
			{80 * time.Second, 0, 5, false},
			{200 * time.Second, 0, 5, false},
			{300 * time.Second, 1, 5, true},
			{330 * time.Second, 1, 1, false},
		} {
			time.Sleep(time.Until(began.Add(step.after)))
			got := s.countReplicas([]*discoveryv1.EndpointSlice{sliceOf("controller", "IPv4", step.ready)})
			if got != step.want || (s.replicas.again != nil) != step.wakes {
				t.Errorf("after %v with %d: %d, want %d; looks again: %t, want %t", step.after, step.ready, got, step.want, s.replicas.again != nil, step.wakes)
			}
		}
	})
}

// Nobody else would make the controller look again once the number has settled.
func TestASettledNumberIsSignalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Replicas: ownService})
		for _, ready := range []int{2, 3} {
			s.countReplicas([]*discoveryv1.EndpointSlice{sliceOf("controller", "IPv4", ready)})
		}
		<-s.signal.touched
		if got := s.countReplicas([]*discoveryv1.EndpointSlice{sliceOf("controller", "IPv4", 3)}); got != 3 {
			t.Errorf("%d, want 3", got)
		}
	})
}

func TestWithoutTheServiceReplicasAreUnknown(t *testing.T) {
	t.Parallel()
	if got := New(Options{}).countReplicas([]*discoveryv1.EndpointSlice{sliceOf("", "IPv4", 3)}); got != 0 {
		t.Errorf("%d, want 0", got)
	}
}
