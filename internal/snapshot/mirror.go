package snapshot

import (
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mirrored holds EndpointSlices with the content of Source.
type Mirrored struct {
	Source *corev1.Endpoints
	Slices []*discoveryv1.EndpointSlice
}

// Mirror converts core/v1 Endpoints to EndpointSlices, as the EndpointSliceMirroring
// controller of Kubernetes does: one slice for each subset and address family, with the
// label of the Service of the same name. Addresses that are not ready get the condition
// ready: false.
func Mirror(e *corev1.Endpoints) Mirrored {
	mirrored := Mirrored{Source: e}
	for _, subset := range e.Subsets {
		for _, family := range []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6} {
			addresses := append(endpointsOf(subset.Addresses, family, true), endpointsOf(subset.NotReadyAddresses, family, false)...)
			if len(addresses) == 0 {
				continue
			}
			slice := blankSlice(e, len(mirrored.Slices))
			slice.AddressType, slice.Endpoints, slice.Ports = family, addresses, portsOf(subset.Ports)
			mirrored.Slices = append(mirrored.Slices, slice)
		}
	}
	return mirrored
}

// blankSlice returns the slice of Endpoints with the given number, without content.
func blankSlice(e *corev1.Endpoints, number int) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:         e.Namespace,
			Name:              e.Name + "-" + strconv.Itoa(number),
			CreationTimestamp: e.CreationTimestamp,
			Labels:            map[string]string{discoveryv1.LabelServiceName: e.Name},
		},
	}
}

// endpointsOf returns the addresses of a family.
func endpointsOf(addresses []corev1.EndpointAddress, family discoveryv1.AddressType, ready bool) []discoveryv1.Endpoint {
	var found []discoveryv1.Endpoint
	for _, address := range addresses {
		if FamilyOf(address.IP) != family {
			continue
		}
		endpoint := discoveryv1.Endpoint{
			Addresses:  []string{address.IP},
			Conditions: discoveryv1.EndpointConditions{Ready: new(ready)},
			NodeName:   address.NodeName,
			TargetRef:  address.TargetRef,
		}
		if address.Hostname != "" {
			endpoint.Hostname = new(address.Hostname)
		}
		found = append(found, endpoint)
	}
	return found
}

// FamilyOf returns the address type of an IP address, "" for anything else.
func FamilyOf(ip string) discoveryv1.AddressType {
	address, err := netip.ParseAddr(ip)
	switch {
	case err != nil || address.Zone() != "":
		return ""
	case address.Is4():
		return discoveryv1.AddressTypeIPv4
	}
	return discoveryv1.AddressTypeIPv6
}

func portsOf(ports []corev1.EndpointPort) []discoveryv1.EndpointPort {
	found := make([]discoveryv1.EndpointPort, 0, len(ports))
	for _, port := range ports {
		protocol := port.Protocol
		if protocol == "" {
			protocol = corev1.ProtocolTCP
		}
		found = append(found, discoveryv1.EndpointPort{Name: new(port.Name), Port: new(port.Port), Protocol: new(protocol), AppProtocol: port.AppProtocol})
	}
	return found
}
