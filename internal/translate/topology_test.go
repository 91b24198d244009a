package translate

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
)

// sliceOf returns a slice of endpoints: "10.0.0.1 a,b" is one with zones, "10.0.0.2" one
// without.
func sliceOf(endpoints ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{Ports: []discoveryv1.EndpointPort{{Port: ptr.To[int32](8080)}}}
	for _, text := range endpoints {
		address, zones, hinted := strings.Cut(text, " ")
		e := discoveryv1.Endpoint{Addresses: []string{address}}
		if hinted {
			e.Hints = &discoveryv1.EndpointHints{}
			for zone := range strings.SplitSeq(zones, ",") {
				e.Hints.ForZones = append(e.Hints.ForZones, discoveryv1.ForZone{Name: zone})
			}
		}
		s.Endpoints = append(s.Endpoints, e)
	}
	return s
}

// The endpoints for the zone of the node are used, if Kubernetes intends that.
func TestEndpointsByZones(t *testing.T) {
	t.Parallel()
	hinted := []*discoveryv1.EndpointSlice{sliceOf("10.0.0.1 a", "10.0.0.2 b", "10.0.0.3 a,b")}
	for _, test := range []struct {
		name, zone, mode, distribution string
		parts                          []*discoveryv1.EndpointSlice
		want                           string
	}{
		{"auto", "b", "Auto", "", hinted, "10.0.0.2 10.0.0.3"},
		{"auto in small letters", "a", "auto", "", hinted, "10.0.0.1 10.0.0.3"},
		{"close", "b", "", "PreferClose", hinted, "10.0.0.2 10.0.0.3"},
		{"same zone", "b", "", "PreferSameZone", hinted, "10.0.0.2 10.0.0.3"},
		{"same node", "b", "", "PreferSameNode", hinted, "10.0.0.1 10.0.0.2 10.0.0.3"},
		{"no wish", "b", "", "", hinted, "10.0.0.1 10.0.0.2 10.0.0.3"},
		{"disabled", "b", "Disabled", "", hinted, "10.0.0.1 10.0.0.2 10.0.0.3"},
		{"no zone", "", "Auto", "", hinted, "10.0.0.1 10.0.0.2 10.0.0.3"},
		{"nothing in the zone", "c", "Auto", "", hinted, "10.0.0.1 10.0.0.2 10.0.0.3"},
		{"one without zones", "b", "Auto", "", []*discoveryv1.EndpointSlice{sliceOf("10.0.0.1 a", "10.0.0.2 b", "10.0.0.3")}, "10.0.0.1 10.0.0.2 10.0.0.3"},
		{"slices count for themselves", "b", "Auto", "", []*discoveryv1.EndpointSlice{sliceOf("10.0.0.1 a", "10.0.0.2 b"), sliceOf("10.0.0.4")}, "10.0.0.2 10.0.0.4"},
		{"a close slice of other zones", "b", "", "PreferClose", []*discoveryv1.EndpointSlice{sliceOf("10.0.0.1 a"), sliceOf("10.0.0.2 b")}, "10.0.0.1 10.0.0.2"},
		{"an auto slice of other zones", "b", "Auto", "", []*discoveryv1.EndpointSlice{sliceOf("10.0.0.1 a"), sliceOf("10.0.0.2 b")}, "10.0.0.2"},
	} {
		service := &corev1.Service{}
		if test.mode != "" {
			service.Annotations = map[string]string{corev1.AnnotationTopologyMode: test.mode}
		}
		if test.distribution != "" {
			service.Spec.TrafficDistribution = &test.distribution
		}
		o := Options{Zone: test.zone}
		var got []string
		for _, e := range endpointsOf(test.parts, &corev1.ServicePort{Port: 80}, o.nearby(service)) {
			got = append(got, e.Address)
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: got %s, want %s", test.name, text, test.want)
		}
	}
}
