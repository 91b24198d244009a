package decode

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"sluice/internal/snapshot"
)

// checkEndpointSlice checks a slice and sets missing names and protocols. Unlike the API
// server it accepts loopback and link-local addresses, because with manifests the
// backends can run on the same machine.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/
func checkEndpointSlice(slice *discoveryv1.EndpointSlice) []fault {
	var faults []fault
	if service, ok := slice.Labels[discoveryv1.LabelServiceName]; ok && !isLabel(service) {
		faults = append(faults, wrong(entry("metadata.labels", discoveryv1.LabelServiceName), wantLabel, service))
	}
	switch slice.AddressType {
	case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6, discoveryv1.AddressTypeFQDN:
		for i := range slice.Endpoints {
			faults = append(faults, item("endpoints", i, checkAddresses(slice.AddressType, slice.Endpoints[i].Addresses))...)
		}
	case "":
		faults = append(faults, missing("addressType", "IPv4, IPv6 or FQDN"))
	default:
		faults = append(faults, wrong("addressType", "IPv4, IPv6 or FQDN", string(slice.AddressType)))
	}
	portNames := make([]string, len(slice.Ports))
	for i := range slice.Ports {
		faults = append(faults, item("ports", i, checkSlicePort(&slice.Ports[i]))...)
		portNames[i] = *slice.Ports[i].Name
	}
	return append(faults, checkPortNames(portNames)...)
}

func checkAddresses(family discoveryv1.AddressType, addresses []string) []fault {
	if len(addresses) == 0 {
		return []fault{missing("addresses", "at least one address")}
	}
	var faults []fault
	for i, address := range addresses {
		valid := snapshot.FamilyOf(address) == family
		if family == discoveryv1.AddressTypeFQDN {
			valid = isSubdomain(address)
		}
		if !valid {
			faults = append(faults, item("addresses", i, []fault{wrong("", "an address of type "+string(family), address)})...)
		}
	}
	return faults
}

// checkSlicePort accepts a port without a number, which means all ports.
func checkSlicePort(port *discoveryv1.EndpointPort) []fault {
	if port.Name == nil {
		port.Name = new(string)
	}
	if port.Protocol == nil {
		port.Protocol = new(corev1.ProtocolTCP)
	}
	faults := checkProtocol(port.Protocol)
	if port.Port != nil {
		faults = append(faults, checkPort(*port.Port)...)
	}
	return faults
}

// checkEndpoints does for core/v1 Endpoints what checkEndpointSlice does for slices.
func checkEndpoints(endpoints *corev1.Endpoints) []fault {
	var faults []fault
	for i := range endpoints.Subsets {
		faults = append(faults, item("subsets", i, checkSubset(&endpoints.Subsets[i]))...)
	}
	return faults
}

func checkSubset(subset *corev1.EndpointSubset) []fault {
	faults := checkIPs("addresses", subset.Addresses)
	faults = append(faults, checkIPs("notReadyAddresses", subset.NotReadyAddresses)...)
	portNames := make([]string, len(subset.Ports))
	for i := range subset.Ports {
		port := &subset.Ports[i]
		portNames[i] = port.Name
		faults = append(faults, item("ports", i, append(checkPort(port.Port), checkProtocol(&port.Protocol)...))...)
	}
	return append(faults, checkPortNames(portNames)...)
}

func checkIPs(field string, addresses []corev1.EndpointAddress) []fault {
	var faults []fault
	for i := range addresses {
		if ip := addresses[i].IP; snapshot.FamilyOf(ip) == "" {
			faults = append(faults, item(field, i, []fault{wrong("ip", "an IP address", ip)})...)
		}
	}
	return faults
}
