package recorded

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/test/kit"
)

// podAddress is the address that a pod had when the answers were recorded.
func (w *World) podAddress(name string, replica int) string {
	if !slices.Contains(w.services, name) {
		w.services = append(w.services, name)
	}
	return fmt.Sprintf("10.244.%d.%d", slices.Index(w.services, name)+1, replica+1)
}

// podName gives SERVICE-REPLICA for such an address.
func (w *World) podName(address string) string {
	parts := strings.Split(address, ".")
	if number, ok := strings.CutPrefix(address, clusterAddresses); ok {
		service, _ := strconv.Atoi(number)
		return w.services[service-1] + "-vip"
	}
	service, _ := strconv.Atoi(parts[2])
	replica, _ := strconv.Atoi(parts[3])
	if service < 1 || service > len(w.services) {
		return address
	}
	if w.services[service-1] == DefaultBackend {
		return DefaultBackend
	}
	return fmt.Sprintf("%s-%d", w.services[service-1], replica-1)
}

// DefaultBackend is the Service of the variant with that name, and what the recording calls
// its pod.
const DefaultBackend = "default-backend"

// clusterAddresses begin the addresses that Services had when the answers were recorded.
const clusterAddresses = "10.96.77."

// clusterAddress returns an address for a Service here, on which a pod stands for it; a port
// of the Service becomes one that is free.
func (w *World) clusterAddress(s *Service) string {
	w.podAddress(s.Name, 0)
	recorded := fmt.Sprint(clusterAddresses, slices.Index(w.services, s.Name)+1)
	own := ""
	for _, in := range w.Ingresses {
		if in.Annotations["service-upstream"] != "" {
			own = kit.OwnAddress(w.t)
			w.unreachable = w.unreachable || own == ""
		}
	}
	if own == "" {
		return recorded
	}
	s.Ports = slices.Clone(s.Ports)
	for i := range s.Ports {
		s.Ports[i].Port = w.pods.listen(own, recorded, s.Ports[i].Port)
	}
	return own
}

// podByAddress is the address of the first pod of a Service, with a port.
var podByAddress = regexp.MustCompile(`@IP:([a-z0-9-]+)@:([0-9]+)`)

// Local puts in what a text leaves open, and turns the addresses of clients
// into such that exist here.
func (w *World) Local(text string) string {
	text = strings.ReplaceAll(text, "@NS@", w.Namespace)
	text = podByAddress.ReplaceAllStringFunc(text, w.podHere)
	return strings.NewReplacer("10.255.0.", "127.0.0.", "10.0.0.0/8", "127.0.0.0/8").Replace(text)
}

// lead makes the name of a Service lead to the pod with that address, on an address of this
// machine and a port that is free.
func (w *World) lead(s *Service, address string) {
	w.t.Helper()
	if address == "" {
		return
	}
	if w.own = kit.OwnAddress(w.t); w.own == "" {
		w.unreachable = true
		return
	}
	s.ExternalName, s.Ports = w.own, slices.Clone(s.Ports)
	for i, p := range s.Ports {
		s.Ports[i].Port = w.pods.listen(w.own, address, p.Port)
		s.Ports[i].Target = s.Ports[i].Port
		w.moved[fmt.Sprint(s.Name, ":", p.Port)] = fmt.Sprint(s.Name, ":", s.Ports[i].Port)
	}
}

// podHere starts a pod where Sluice lets an Ingress point at it: on an address that
// is not of the loopback.
func (w *World) podHere(found string) string {
	parts := podByAddress.FindStringSubmatch(found)
	port, err := strconv.Atoi(parts[2])
	if err != nil {
		w.t.Fatal(err)
	}
	own := kit.OwnAddress(w.t)
	if own == "" {
		w.unreachable = true
		return found
	}
	w.own = own
	return net.JoinHostPort(own, strconv.Itoa(w.pods.listen(own, w.podAddress(parts[1], 0), port)))
}
