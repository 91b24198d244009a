package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// ReservedPort is a port with another listener. Use names that, such as "--http-port".
type ReservedPort struct {
	Number int
	Use    string
}

// wantStream is the valid form of an entry.
var wantStream = map[model.Protocol]string{
	model.TCP: "want NAMESPACE/SERVICE:PORT, with :PROXY behind it to accept PROXY headers and ::PROXY or :PROXY:PROXY to send them",
	model.UDP: "want NAMESPACE/SERVICE:PORT",
}

// streamEntry is one entry of a ConfigMap of TCP or UDP services. Its key is the port
// that nginx listens on.
type streamEntry struct {
	*translation
	object     model.ObjectRef
	protocol   model.Protocol
	key, value string
}

// streams reads a ConfigMap of TCP or UDP services. It leaves out invalid entries.
func (t *translation) streams(name snapshot.Name, protocol model.Protocol) []model.Stream {
	if name == (snapshot.Name{}) {
		return nil
	}
	object := refTo(kindConfigMap, name)
	configMap := t.snap.ConfigMap(name)
	if configMap == nil {
		t.report(model.Problem{Object: object, Reason: model.NotFound, Text: fmt.Sprintf("it does not exist: there are no %s services", protocol)})
		return nil
	}
	byPort := map[int]model.Stream{}
	for _, key := range slices.SortedFunc(maps.Keys(configMap.Data), plainFirst) {
		entry := streamEntry{t, object, protocol, key, configMap.Data[key]}
		stream, ok := entry.read()
		if !ok {
			continue
		}
		if first, taken := byPort[stream.Port]; taken {
			entry.refuse(model.Conflict, fmt.Sprintf("the key %s is the same port", first.Field))
			continue
		}
		byPort[stream.Port] = stream
	}
	return slices.SortedFunc(maps.Values(byPort), func(a, b model.Stream) int { return cmp.Compare(a.Port, b.Port) })
}

// plainFirst orders keys without leading zeros before those of the same port with them.
func plainFirst(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// refuse reports an entry that is left out.
func (e streamEntry) refuse(reason model.Reason, text string) {
	e.remark(reason, text+": nothing listens on this port")
}

func (e streamEntry) remark(reason model.Reason, text string) {
	e.report(model.Problem{Object: e.object, Field: e.key, Reason: reason, Text: text})
}

// read returns the stream of an entry; ok is false if the entry is invalid.
func (e streamEntry) read() (model.Stream, bool) {
	s := model.Stream{Protocol: e.protocol, Source: e.object, Field: e.key}
	var ok bool
	if s.Port, ok = e.port(); !ok {
		return s, false
	}
	fields := strings.Split(strings.TrimSpace(e.value), ":")
	service, err := serviceOf(e.value)
	if len(fields) < 2 || len(fields) > 4 || err != nil {
		e.refuse(model.InvalidValue, fmt.Sprintf("%s (got %s)", wantStream[e.protocol], model.Quoted(e.value)))
		return s, false
	}
	s.Service = model.ServicePort{Namespace: service.Namespace, Name: service.Name, Port: fields[1]}
	if s.AcceptsProxy, s.SendsProxy, ok = e.proxy(fields[2:]); !ok {
		return s, false
	}
	s.Endpoints, ok = e.endpoints(service, fields[1])
	return s, ok
}

// serviceOf returns the Service that an entry names.
func serviceOf(value string) (snapshot.Name, error) {
	service, _, _ := strings.Cut(strings.TrimSpace(value), ":")
	return snapshot.ParseName(service)
}

// port reads the key. As in ingress-nginx, it may have leading zeros.
func (e streamEntry) port() (int, bool) {
	port, err := strconv.Atoi(e.key)
	if err != nil || port < 1 || port > 65535 {
		e.refuse(model.InvalidValue, fmt.Sprintf("want a port from 1 to 65535 as the key (got %s)", model.Quoted(e.key)))
		return 0, false
	}
	at := slices.IndexFunc(e.options.Reserved, func(r ReservedPort) bool { return r.Number == port })
	if at >= 0 {
		e.refuse(model.Conflict, fmt.Sprintf("want another port: %d is that of %s", port, e.options.Reserved[at].Use))
		return 0, false
	}
	return port, true
}

// proxy reads the fields behind the port of the Service: whether to accept PROXY
// headers, and whether to send them. Both may be empty.
func (e streamEntry) proxy(fields []string) (accepts, sends, ok bool) {
	var words [2]bool
	for i, field := range fields {
		switch {
		case strings.EqualFold(field, "PROXY"):
			words[i] = true
		case field != "":
			e.refuse(model.InvalidValue, fmt.Sprintf("%s (got %s)", wantStream[e.protocol], model.Quoted(e.value)))
			return false, false, false
		}
	}
	if e.protocol != model.TCP && len(fields) > 0 {
		e.remark(model.Unsupported, fmt.Sprintf("%s (got %s): PROXY headers are for TCP, and have no effect here", wantStream[e.protocol], model.Quoted(e.value)))
		return false, false, true
	}
	return words[0], words[1], true
}

// endpoints returns the endpoints. As in ingress-nginx, there is no listener without
// any, so that clients try another address at once.
func (e streamEntry) endpoints(name snapshot.Name, port string) ([]model.Endpoint, bool) {
	service, parts := e.service(name)
	if service == nil {
		e.refuse(model.NotFound, fmt.Sprintf("Service %s does not exist (got %s)", name, model.Quoted(e.value)))
		return nil, false
	}
	found := servicePort(service, port, e.protocol)
	if found == nil {
		e.refuse(model.NotFound, fmt.Sprintf("Service %s has no port %s of %s; it has %s (got %s)", name, model.Quoted(port), e.protocol, listedProtocols(service), model.Quoted(e.value)))
		return nil, false
	}
	if e.ofNamespace() {
		if text := beyondScope(service); text != "" {
			e.refuse(model.Unsupported, fmt.Sprintf("%s (got %s)", text, model.Quoted(e.value)))
			return nil, false
		}
		var others []model.Problem
		parts, others = selected(parts)
		e.report(others...)
	}
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		return e.external(service, found)
	}
	endpoints := endpointsOf(parts, found, e.options.nearby(service))
	if len(endpoints) == 0 {
		e.refuse(model.NotFound, fmt.Sprintf("Service %s has no endpoint for port %s that serves (got %s)", name, port, model.Quoted(e.value)))
	}
	return endpoints, len(endpoints) > 0
}

// external returns the endpoint of an ExternalName Service. It refuses a DNS name,
// because each change of its addresses would need a reload.
func (e streamEntry) external(service *corev1.Service, port *corev1.ServicePort) ([]model.Endpoint, bool) {
	b := &backend{Backend: &assemble.Backend{ID: assemble.BackendID{Service: snapshot.Name{Namespace: service.Namespace, Name: service.Name}}}, service: service, model: &model.Backend{}}
	fault := b.external(port)
	if e.options.DisableExternalName {
		fault = b.refuse(model.Unsupported, externalNameDisabled)
	}
	if fault != nil {
		e.refuse(fault.reason, strings.TrimSuffix(fault.text, ": 503 is answered"))
		return nil, false
	}
	if b.model.ExternalName != "" {
		e.refuse(model.Unsupported, fmt.Sprintf("want a Service with endpoints, or an externalName that is an IP address (got %s, whose externalName is %s)", model.Quoted(e.value), model.Quoted(b.model.ExternalName)))
		return nil, false
	}
	return b.model.Endpoints, true
}

// servicePort is the port of a Service with that number, or else name, and with that
// protocol; nil for none.
func servicePort(service *corev1.Service, port string, protocol model.Protocol) *corev1.ServicePort {
	number, err := strconv.Atoi(port)
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		asked := p.Name == port
		if err == nil {
			asked = int(p.Port) == number
		}
		if asked && string(cmp.Or(p.Protocol, corev1.ProtocolTCP)) == string(protocol) {
			return p
		}
	}
	return nil
}

func listedProtocols(service *corev1.Service) string {
	var ports []string
	for _, p := range service.Spec.Ports {
		text := strconv.Itoa(int(p.Port)) + " " + string(cmp.Or(p.Protocol, corev1.ProtocolTCP))
		if p.Name != "" {
			text = p.Name + " (" + text + ")"
		}
		ports = append(ports, text)
	}
	if len(ports) == 0 {
		return "none"
	}
	return claim.Listed(ports)
}
