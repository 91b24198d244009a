package translate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// defaultPort stands in the key of the default backend for its port. It is no
// valid name of a port: what an Ingress asks of the same Service is another
// backend, as that one answers 503 where the default backend answers 404.
const defaultPort = "_default"

// backendID names a backend.
type backendID struct {
	service snapshot.Name
	port    string // as written, or defaultPort
}

func (id backendID) key() string { return id.service.String() + "/" + id.port }

// BackendOf takes the key of a model.Backend apart: the Service, and its port as it
// was asked for, which is empty for the default backend.
func BackendOf(key string) (service snapshot.Name, port string) {
	namespace, rest, _ := strings.Cut(key, "/")
	name, port, _ := strings.Cut(rest, "/")
	if port == defaultPort {
		port = ""
	}
	return snapshot.Name{Namespace: namespace, Name: name}, port
}

// backend is a backend with what it was made of.
type backend struct {
	pass    uint64
	id      backendID
	key     string // of id
	model   *model.Backend
	service *corev1.Service
	slices  []*discoveryv1.EndpointSlice
	// fault says what is wrong with the reference to it.
	fault *backendFault
	// remarks are on its objects themselves.
	remarks []model.Problem
	// cost is what nginx needs to hold it, in bytes.
	cost int64
}

// backendFault is what is wrong with a reference to a backend.
type backendFault struct {
	// field is what is wrong below backend.service: "name" or "port".
	field  string
	reason model.Reason
	text   string
}

// use is a reference to a backend.
type use struct {
	backend *backend
	// claim is nil for the default backend.
	claim *claim
}

// backends gives what the hosts use, sorted and each once, and reports the
// references that lead nowhere.
func (t *translation) backends(hosts []*host) []*model.Backend {
	var found []*backend
	for _, h := range hosts {
		for _, u := range h.built.uses {
			if u.backend.pass != t.memo.pass {
				t.refresh(u.backend)
				found = append(found, u.backend)
			}
			t.report(u.backend.remarks...)
			if fault := u.backend.fault; fault != nil && u.claim != nil {
				t.report(model.Problem{Object: u.claim.owner.ref, Field: u.faultField(), Reason: fault.reason, Text: fault.text})
			}
		}
	}
	t.checkDefaultBackend()
	slices.SortFunc(found, func(a, b *backend) int { return strings.Compare(a.model.Key, b.model.Key) })
	t.used = found
	return t.fitBackends(found)
}

// checkDefaultBackend reports a default backend that cannot be found on the
// Service itself, as no Ingress asked for it.
func (t *translation) checkDefaultBackend() {
	name := t.options.DefaultBackend
	if name == (snapshot.Name{}) {
		return
	}
	service, _ := t.service(name)
	if service != nil && len(service.Spec.Ports) > 0 {
		return
	}
	problem := model.Problem{Object: model.ObjectRef{Kind: "Service", Namespace: name.Namespace, Name: name.Name}, Reason: model.NotFound,
		Text: "it does not exist and is to be the default backend: 404 is answered"}
	if service != nil {
		problem.Field, problem.Text = "spec.ports", "want at least one port: this is the default backend, and 404 is answered"
	}
	t.report(problem)
}

func (u *use) faultField() string {
	field := u.claim.field + u.claim.backendField() + ".service." + u.backend.fault.field
	switch {
	case u.backend.fault.field != "port":
		return field
	case u.claim.backend.Service.Port.Name != "":
		return field + ".name"
	}
	return field + ".number"
}

// backendOf gives the entry of a backend.
func (t *translation) backendOf(id backendID) *backend {
	b := t.memo.backends[id]
	if b == nil {
		b = &backend{id: id, key: id.key()}
		t.memo.backends[id] = b
	}
	return b
}

// refresh makes a backend anew unless its objects are those of the last call.
func (t *translation) refresh(b *backend) {
	b.pass = t.memo.pass
	t.memo.used.backends++
	t.look(b)
}

// look finds the endpoints anew if the Service or its EndpointSlices changed.
func (t *translation) look(b *backend) {
	service, parts := t.snap.Service(b.id.service), t.snap.EndpointSlices(b.id.service)
	if b.model != nil && b.service == service && slices.Equal(b.slices, parts) {
		return
	}
	b.service, b.slices = service, slices.Clone(parts)
	b.model = &model.Backend{Key: b.key, WhenEmpty: 503}
	if b.id.port == defaultPort {
		b.model.WhenEmpty = 404
	}
	b.fault, b.remarks = t.resolve(b), nil
	b.limit()
	for _, part := range parts {
		if byName(part) {
			b.remarks = append(b.remarks, model.Problem{Object: model.ObjectRef{Kind: "EndpointSlice", Namespace: part.Namespace, Name: part.Name}, Field: "addressType", Reason: model.Unsupported,
				Text: "want IPv4 or IPv6 (got FQDN): its endpoints are left out; a Service of the type ExternalName leads to a DNS name"})
		}
	}
}

// resolve finds the endpoints.
func (t *translation) resolve(b *backend) *backendFault {
	if b.service == nil {
		return &backendFault{"name", model.NotFound, fmt.Sprintf("Service %s does not exist: 503 is answered", b.id.service)}
	}
	port, ok := b.port()
	if !ok {
		return &backendFault{"port", model.NotFound, fmt.Sprintf("Service %s has no port %s: 503 is answered; it has %s", b.id.service, b.id.port, listedPorts(b.service))}
	}
	if b.service.Spec.Type == corev1.ServiceTypeExternalName {
		if t.options.DisableExternalName {
			return b.refuse(model.Unsupported, externalNameDisabled)
		}
		return b.external(port)
	}
	b.model.Endpoints = endpointsOf(b.slices, port)
	return nil
}

// port finds the port of the Service: the first whose number, target or name is
// what was asked for. An ExternalName Service needs no list of ports.
func (b *backend) port() (*corev1.ServicePort, bool) {
	ports := b.service.Spec.Ports
	for i := range ports {
		p := &ports[i]
		if b.id.port == defaultPort || strconv.Itoa(int(p.Port)) == b.id.port || p.TargetPort.String() == b.id.port || p.Name == b.id.port {
			return p, true
		}
	}
	number, err := strconv.Atoi(b.id.port)
	if err == nil && len(ports) == 0 && b.service.Spec.Type == corev1.ServiceTypeExternalName {
		return &corev1.ServicePort{Port: int32(number)}, true
	}
	return nil, false
}

func listedPorts(service *corev1.Service) string {
	var names []string
	for _, p := range service.Spec.Ports {
		names = append(names, cmp.Or(p.Name, strconv.Itoa(int(p.Port)))+" ("+strconv.Itoa(int(p.Port))+")")
	}
	return listed(names)
}

// wrongBackend says what is wrong with a backend as it is written, as the API
// server does, and in which field of it.
func wrongBackend(b *networkingv1.IngressBackend) (field string, reason model.Reason, text string) {
	service := b.Service
	switch {
	case b.Resource != nil && service != nil:
		return "", model.InvalidValue, "want either service or resource (got both): 503 is answered"
	case b.Resource != nil:
		return ".resource", model.Unsupported, fmt.Sprintf("want a service: a %s as backend is not supported, 503 is answered", shown(b.Resource.Kind))
	case service == nil:
		return "", model.InvalidValue, "want a service (got none): 503 is answered"
	case len(validation.IsDNS1123Label(service.Name)) > 0:
		return ".service.name", model.InvalidValue, fmt.Sprintf("want the name of a Service (got %s): 503 is answered", quoted(service.Name))
	case service.Port.Name != "" && service.Port.Number != 0:
		return ".service.port", model.InvalidValue, "want either name or number (got both): 503 is answered"
	case service.Port.Name != "" && len(validation.IsValidPortName(service.Port.Name)) > 0:
		return ".service.port.name", model.InvalidValue, fmt.Sprintf("want the name of a port (got %s): 503 is answered", quoted(service.Port.Name))
	case service.Port.Name == "" && len(validation.IsValidPortNum(int(service.Port.Number))) > 0:
		return ".service.port.number", model.InvalidValue, fmt.Sprintf("want a port from 1 to 65535 (got %d): 503 is answered", service.Port.Number)
	}
	return "", "", ""
}
