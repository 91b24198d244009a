package status

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// Address is the address of an Ingress: an IP address, a hostname, or both of one
// load balancer.
type Address struct{ IP, Hostname string }

// Source returns the addresses of this deployment: OfList, OfService or OfNodes.
type Source struct {
	read func(context.Context) ([]Address, error)
	// own is set if only this deployment is reached at these addresses, so that they
	// lead nowhere when it ends.
	own bool
}

// OfList returns fixed IP addresses and hostnames, from --publish-status-address.
func OfList(list []string) (Source, error) {
	var all []Address
	for _, text := range list {
		a, ok := parse(strings.TrimSpace(text))
		if !ok {
			return Source{}, fmt.Errorf("want IP addresses and hostnames (got %q)", text)
		}
		all = append(all, a)
	}
	all = inOrder(all)
	return Source{read: func(context.Context) ([]Address, error) { return all, nil }}, nil
}

// OfService returns the addresses of a Service, from --publish-service. The Service
// is read at each interval, and when Refresh is called.
func OfService(client *kube.Client, name snapshot.Name) Source {
	return Source{read: func(ctx context.Context) ([]Address, error) {
		var service corev1.Service
		if err := client.Get(ctx, kube.Services, name, &service); err != nil {
			return nil, fmt.Errorf("read the addresses of Service %s: %w", name, err)
		}
		return inOrder(ofService(&service)), nil
	}}
}

// ofService returns the addresses of a Service as ingress-nginx publishes them.
func ofService(service *corev1.Service) []Address {
	switch service.Spec.Type {
	case corev1.ServiceTypeExternalName:
		return parseAll([]string{service.Spec.ExternalName})
	case corev1.ServiceTypeLoadBalancer:
		all := parseAll(service.Spec.ExternalIPs)
		for _, point := range service.Status.LoadBalancer.Ingress {
			// Each is checked separately: the API server rejects the whole status if
			// one is not valid.
			ip, _ := parse(point.IP)
			name, _ := parse(point.Hostname)
			all = append(all, Address{IP: ip.IP, Hostname: name.Hostname})
		}
		return all
	case corev1.ServiceTypeNodePort:
		if all := parseAll(service.Spec.ExternalIPs); len(all) > 0 {
			return all
		}
	}
	if len(service.Spec.ClusterIPs) > 0 {
		return parseAll(service.Spec.ClusterIPs)
	}
	return parseAll([]string{service.Spec.ClusterIP})
}

// OfNodes returns the addresses of the nodes that ready replicas run on: external
// ones, or internal ones if a node has no other or InternalIP is preferred
// (--report-node-internal-ip-address).
func OfNodes(replicas *Replicas, preferred corev1.NodeAddressType) Source {
	return Source{own: true, read: func(ctx context.Context) ([]Address, error) {
		all, err := replicas.nodeAddresses(ctx, preferred)
		return inOrder(all), err
	}}
}

// ofNode returns the addresses of one node.
func ofNode(node *corev1.Node, preferred corev1.NodeAddressType) []Address {
	var internal, external []string
	for _, a := range node.Status.Addresses {
		switch a.Type {
		case corev1.NodeInternalIP:
			internal = append(internal, a.Address)
		case corev1.NodeExternalIP:
			external = append(external, a.Address)
		}
	}
	if preferred == corev1.NodeInternalIP || len(external) == 0 {
		return parseAll(internal)
	}
	return parseAll(external)
}

// parse recognises an IP address or a hostname. It returns false for anything else.
func parse(text string) (Address, bool) {
	if ip, err := netip.ParseAddr(text); err == nil {
		return Address{IP: ip.Unmap().String()}, ip.Zone() == ""
	}
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return Address{}, false
	}
	return Address{Hostname: name}, true
}

// parseAll parses the texts, and skips those that are no address, such as the
// ClusterIP "None".
func parseAll(texts []string) []Address {
	var all []Address
	for _, text := range texts {
		if a, ok := parse(text); ok && text != corev1.ClusterIPNone {
			all = append(all, a)
		}
	}
	return all
}

// inOrder sorts addresses, IPv4 before IPv6 before names, and drops duplicates and
// empty ones.
func inOrder(all []Address) []Address {
	all = slices.DeleteFunc(all, func(a Address) bool { return a == Address{} })
	slices.SortFunc(all, func(a, b Address) int {
		x, errX := netip.ParseAddr(a.IP)
		y, errY := netip.ParseAddr(b.IP)
		if named := cmp.Compare(rank(errX), rank(errY)); named != 0 {
			return named
		}
		return cmp.Or(x.Compare(y), strings.Compare(a.Hostname, b.Hostname))
	})
	return slices.Compact(all)
}

// rank orders texts that are no IP addresses after those that are.
func rank(err error) int {
	if err != nil {
		return 1
	}
	return 0
}
