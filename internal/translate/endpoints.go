package translate

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/assemble"
	"sluice/internal/model"
)

// endpointsOf returns the ready endpoints of a port or, if none is ready, those that
// still serve while they terminate. They are sorted, each once, of both families. near
// selects those of the zone; if none of these serves, all count. A near of nil selects all.
func endpointsOf(parts []*discoveryv1.EndpointSlice, port *corev1.ServicePort, near func(*discoveryv1.EndpointSlice, *discoveryv1.Endpoint) bool) []model.Endpoint {
	var ready, ending []model.Endpoint
	for _, part := range parts {
		if byName(part) {
			continue
		}
		numbers := portsOf(part, port)
		for i := range part.Endpoints {
			endpoint := &part.Endpoints[i]
			conditions := endpoint.Conditions
			switch {
			case near != nil && !near(part, endpoint):
			case conditions.Ready == nil || *conditions.Ready:
				ready = addEndpoints(ready, endpoint.Addresses, numbers)
			case isTrue(conditions.Serving) && isTrue(conditions.Terminating):
				ending = addEndpoints(ending, endpoint.Addresses, numbers)
			}
		}
	}
	if len(ready) == 0 {
		ready = ending
	}
	if len(ready) == 0 && near != nil {
		return endpointsOf(parts, port, nil)
	}
	slices.SortFunc(ready, func(a, b model.Endpoint) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port))
	})
	return slices.Compact(ready)
}

// toCluster makes the cluster address of the Service the only endpoint. It reports whether
// there is such an address.
func (b *backend) toCluster(port *corev1.ServicePort) bool {
	ip, err := netip.ParseAddr(b.service.Spec.ClusterIP)
	if err != nil || ip.Zone() != "" || model.Forbidden(ip) {
		b.remarks = append(b.remarks, model.Problem{Object: refTo(kindService, b.ID.Service), Field: "spec.clusterIP", Reason: model.Unsupported,
			Text: fmt.Sprintf("want an address, because an Ingress has service-upstream (got %s): its endpoints get the requests", model.Quoted(b.service.Spec.ClusterIP))})
		return false
	}
	b.model.Endpoints = []model.Endpoint{{Address: ip.Unmap().String(), Port: int(port.Port)}}
	return true
}

// lackOf describes what the EndpointSlices of a backend without endpoints lack.
func lackOf(parts []*discoveryv1.EndpointSlice, id assemble.BackendID) string {
	all, ready := 0, 0
	for _, part := range parts {
		all += len(part.Endpoints)
		for i := range part.Endpoints {
			if condition := part.Endpoints[i].Conditions.Ready; condition == nil || *condition {
				ready++
			}
		}
	}
	switch {
	case len(parts) == 0:
		return fmt.Sprintf("Service %s has no EndpointSlice", id.Service)
	case all == 0:
		return fmt.Sprintf("the EndpointSlices of Service %s hold no endpoint", id.Service)
	case ready == 0:
		return fmt.Sprintf("none of the %d endpoints of Service %s is ready", all, id.Service)
	}
	return fmt.Sprintf("no endpoint of Service %s has an IP address and a port that belongs to its port %s", id.Service, id.Port)
}

// byName reports whether a slice has DNS names, which only ExternalName Services may
// have.
func byName(part *discoveryv1.EndpointSlice) bool {
	return part.AddressType == discoveryv1.AddressTypeFQDN
}

func isTrue(b *bool) bool { return b != nil && *b }

func addEndpoints(list []model.Endpoint, addresses []string, ports []int) []model.Endpoint {
	for _, address := range addresses {
		ip, err := netip.ParseAddr(address)
		if err != nil || ip.Zone() != "" {
			continue
		}
		for _, port := range ports {
			list = append(list, model.Endpoint{Address: ip.String(), Port: port})
		}
	}
	return list
}

// portsOf returns the numbers of a Service's port in a slice: those with the same
// protocol and name (a port without a name takes all), else the target if that is a
// number.
func portsOf(part *discoveryv1.EndpointSlice, port *corev1.ServicePort) []int {
	var numbers []int
	for _, p := range part.Ports {
		protocol, name := corev1.ProtocolTCP, ""
		if p.Protocol != nil {
			protocol = *p.Protocol
		}
		if p.Name != nil {
			name = *p.Name
		}
		if p.Port == nil || protocol != cmp.Or(port.Protocol, corev1.ProtocolTCP) || port.Name != "" && port.Name != name {
			continue
		}
		numbers = append(numbers, int(*p.Port))
	}
	if len(numbers) == 0 && port.TargetPort.Type == intstr.Int && port.TargetPort.IntVal > 0 {
		numbers = append(numbers, int(port.TargetPort.IntVal))
	}
	return numbers
}

// externalNameDisabled ends the Problem of such a Service.
const externalNameDisabled = "is not followed, as the controller runs with --disable-svc-external-name"

// external sets the address or name of an ExternalName Service. It refuses those that
// lead to the controller's own machine, whose ports are not for tenants.
func (b *backend) external(port *corev1.ServicePort) *backendFault {
	number := int(port.Port)
	if port.TargetPort.Type == intstr.Int && port.TargetPort.IntVal > 0 {
		number = int(port.TargetPort.IntVal)
	}
	if text := b.leadTo(b.service.Spec.ExternalName, number); text != "" {
		return b.refuse(model.InvalidValue, text)
	}
	return nil
}

// leadOut makes the model of a host that is not a Service. A fault of the host was
// reported already.
func (b *backend) leadOut() {
	if b.model != nil {
		return
	}
	b.model = b.Model()
	number, _ := strconv.Atoi(b.ID.Port)
	b.leadTo(b.ID.Host, number)
	b.limit()
}

// leadTo sets the endpoint or the DNS name of a backend; text is the reason if it
// cannot.
func (b *backend) leadTo(host string, port int) (text string) {
	address, name, text := whereIs(host)
	switch {
	case text != "":
	case name == "":
		b.model.Endpoints = []model.Endpoint{{Address: address.String(), Port: port}}
	default:
		b.model.ExternalName, b.model.ExternalPort = name, port
	}
	return text
}

// whereIs returns the address or the DNS name of a host; text is the reason if it has
// neither.
func whereIs(host string) (address netip.Addr, name, text string) {
	name = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(name); err == nil {
		if model.Forbidden(ip) {
			return ip, "", "leads to this machine, its link or its cloud's metadata"
		}
		return ip.Unmap(), "", ""
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasPrefix(name, "localhost.") {
		return address, "", "leads to this machine"
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 || numeric(name) {
		return address, "", "is no DNS name"
	}
	return address, name, ""
}

// numeric reports whether the last label of a name is a number: resolvers read forms
// such as 127.1 and 0x7f.1 as addresses.
// Source: https://url.spec.whatwg.org/#ends-in-a-number-checker
func numeric(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
}

func (b *backend) refuse(reason model.Reason, text string) *backendFault {
	return &backendFault{false, reason, fmt.Sprintf("the externalName %s of Service %s %s: 503 is answered", model.Quoted(b.service.Spec.ExternalName), b.ID.Service, text)}
}
