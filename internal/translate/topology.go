package translate

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// nearby returns the function that selects the endpoints of a Service that are for clients
// in the zone of this controller; nil if all are. Kubernetes writes the zones to the slices,
// for Services that ask for it. As in ingress-nginx, a slice counts only if each endpoint has
// zones; where a Service prefers close endpoints, one must be for this zone.
func (o *Options) nearby(service *corev1.Service) func(*discoveryv1.EndpointSlice, *discoveryv1.Endpoint) bool {
	byMode := strings.EqualFold(service.Annotations[corev1.AnnotationTopologyMode], "auto")
	close := service.Spec.TrafficDistribution != nil && isClose(*service.Spec.TrafficDistribution)
	if o.Zone == "" || !byMode && !close {
		return nil
	}
	forZone := func(e *discoveryv1.Endpoint) bool {
		return e.Hints != nil && slices.ContainsFunc(e.Hints.ForZones, func(z discoveryv1.ForZone) bool { return z.Name == o.Zone })
	}
	hinted := map[*discoveryv1.EndpointSlice]bool{}
	return func(part *discoveryv1.EndpointSlice, e *discoveryv1.Endpoint) bool {
		counts, known := hinted[part]
		if !known {
			counts = everyHinted(part) && (byMode || slices.ContainsFunc(part.Endpoints, func(e discoveryv1.Endpoint) bool { return forZone(&e) }))
			hinted[part] = counts
		}
		return !counts || forZone(e)
	}
}

// isClose reports whether a trafficDistribution prefers endpoints of the same zone.
func isClose(distribution string) bool {
	return distribution == corev1.ServiceTrafficDistributionPreferClose || distribution == corev1.ServiceTrafficDistributionPreferSameZone
}

func everyHinted(part *discoveryv1.EndpointSlice) bool {
	return !slices.ContainsFunc(part.Endpoints, func(e discoveryv1.Endpoint) bool { return e.Hints == nil || len(e.Hints.ForZones) == 0 })
}
