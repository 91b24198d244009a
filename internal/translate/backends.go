package translate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// backend is a backend with its model and the objects that the model was made of.
type backend struct {
	*assemble.Backend
	model   *model.Backend
	service *corev1.Service
	slices  []*discoveryv1.EndpointSlice
	// fault is the mistake in references to it, nil for none.
	fault *backendFault
	// remarks are Problems of its objects themselves.
	remarks []model.Problem
	// cost is its size in nginx's memory, in bytes.
	cost int64
	// ringPoints is the limit of model.Backend.
	ringPoints int
}

// backendFault is a mistake in a reference to a backend.
type backendFault struct {
	// ofPort is set if the port is wrong, not the Service.
	ofPort bool
	reason model.Reason
	text   string
}

// backends returns the backends that the hosts use, sorted, each once, and reports
// wrong references.
func (t *translation) backends(of *assemble.Assembly) []*model.Backend {
	t.used, t.rings = make([]*backend, 0, len(of.Backends)), countRings(of.Backends)
	for _, w := range of.Backends {
		b := foundFor(w)
		t.refresh(b)
		t.report(b.remarks...)
		t.used = append(t.used, b)
	}
	for u := range of.Uses() {
		if fault := foundFor(u.Backend).fault; fault != nil {
			t.report(model.Problem{Object: u.Owner.Ref, Field: fault.in(u), Reason: fault.reason, Text: fault.consequence(u)})
		}
	}
	t.checkDefaultBackend()
	return t.fitBackends(of, t.used)
}

// foundFor returns the endpoints and faults of a backend, empty ones at first.
func foundFor(w *assemble.Backend) *backend {
	b, known := w.Found.(*backend)
	if !known {
		b = &backend{Backend: w}
		w.Found = b
	}
	return b
}

// checkDefaultBackend reports a missing default backend on the Service itself, because
// no Ingress names it.
func (t *translation) checkDefaultBackend() {
	name := t.options.DefaultBackend
	if name == (snapshot.Name{}) {
		return
	}
	service, _ := t.service(name)
	if service != nil && len(service.Spec.Ports) > 0 {
		return
	}
	problem := model.Problem{Object: refTo(kindService, name), Reason: model.NotFound,
		Text: "it does not exist and is to be the default backend: 404 is answered"}
	if service != nil {
		problem.Field, problem.Text = "spec.ports", "want at least one port: this is the default backend, and 404 is answered"
	}
	t.report(problem)
}

// refresh makes a backend again if its objects changed.
func (t *translation) refresh(b *backend) {
	ofService := b.Split == nil && b.ID.Host == ""
	if t.ration(b) || !ofService || t.changed(b.ID.Service) {
		t.look(b)
	}
}

// look makes the model of a backend again if its Service, EndpointSlices or split
// changed.
func (t *translation) look(b *backend) {
	switch {
	case b.Split != nil:
		b.divide()
		return
	case b.ID.Host != "":
		b.leadOut()
		return
	}
	service, parts := t.snap.Service(b.ID.Service), t.snap.EndpointSlices(b.ID.Service)
	if b.model != nil && b.model.RingPoints == b.ringPoints && b.service == service && slices.Equal(b.slices, parts) {
		return
	}
	b.service, b.slices = service, slices.Clone(parts)
	b.model = b.Model()
	b.remarks = nil
	b.fault = t.resolve(b)
	switch {
	case b.fault != nil:
		b.model.NoEndpoints = b.fault.text
	case len(b.model.Endpoints) == 0 && b.model.ExternalName == "":
		b.model.NoEndpoints = lackOf(parts, b.ID)
	}
	b.limit()
	for _, part := range parts {
		if byName(part) {
			b.remarks = append(b.remarks, model.Problem{Object: model.ObjectRef{Kind: "EndpointSlice", Namespace: part.Namespace, Name: part.Name}, Field: "addressType", Reason: model.Unsupported,
				Text: "want IPv4 or IPv6 (got FQDN): its endpoints are left out; a Service of the type ExternalName leads to a DNS name"})
		}
	}
}

// divide makes the model of a split.
func (b *backend) divide() {
	if b.model == nil || b.model.Split != b.Split {
		b.model = b.Model()
		b.limit()
	}
}

// resolve sets the endpoints, and returns the fault if there are none.
func (t *translation) resolve(b *backend) *backendFault {
	if b.service == nil {
		return &backendFault{false, model.NotFound, fmt.Sprintf("Service %s does not exist: %d is answered", b.ID.Service, b.model.WhenEmpty)}
	}
	port, ok := b.port()
	if !ok {
		return &backendFault{true, model.NotFound, fmt.Sprintf("Service %s has no port %s: %d is answered; it has %s", b.ID.Service, b.ID.Port, b.model.WhenEmpty, listedPorts(b.service))}
	}
	if t.ofNamespace() {
		own, fault := b.ofScope()
		if fault != nil {
			return fault
		}
		b.model.Endpoints = endpointsOf(own, port, t.options.nearby(b.service))
		return nil
	}
	if b.service.Spec.Type == corev1.ServiceTypeExternalName {
		if t.options.DisableExternalName {
			return b.refuse(model.Unsupported, externalNameDisabled)
		}
		return b.external(port)
	}
	if b.Balancing != nil && b.Balancing.ServiceAddress && b.toCluster(port) {
		how := *b.Balancing
		how.Check = nil // it is for endpoints
		b.model.Balancing = &how
		return nil
	}
	b.model.Endpoints = endpointsOf(b.slices, port, t.options.nearby(b.service))
	return nil
}

// port returns the first port of the Service with the wanted number, target or name. An
// ExternalName Service needs no list of ports.
func (b *backend) port() (*corev1.ServicePort, bool) {
	ports := b.service.Spec.Ports
	for i := range ports {
		p := &ports[i]
		if b.ID.Port == assemble.DefaultPort || strconv.Itoa(int(p.Port)) == b.ID.Port || p.TargetPort.String() == b.ID.Port || p.Name == b.ID.Port {
			return p, true
		}
	}
	number, err := strconv.Atoi(b.ID.Port)
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
	return claim.Listed(names)
}

// consequence is the text with the consequence for a reference.
func (f *backendFault) consequence(u assemble.Use) string {
	if u.Instead == "" {
		return u.Owner.Consequence(f.text)
	}
	return strings.Replace(f.text, fmt.Sprintf("%d is answered", foundFor(u.Backend).model.WhenEmpty), u.Instead, 1)
}

// in is the field with the mistake.
func (f *backendFault) in(u assemble.Use) string {
	if f.ofPort {
		return u.PortField
	}
	return u.Field
}
