package translate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// backend is a backend with what it was made of.
type backend struct {
	*assemble.Backend
	pass    uint64
	model   *model.Backend
	service *corev1.Service
	slices  []*discoveryv1.EndpointSlice
	// fault says what is wrong with the reference to it.
	fault *backendFault
	// remarks are on its objects themselves.
	remarks []model.Problem
	// cost is what nginx needs to hold it, in bytes.
	cost int64
	// ringPoints is the limit of model.Backend.
	ringPoints int
}

// backendFault is what is wrong with a reference to a backend.
type backendFault struct {
	// ofPort is set if the port is wrong and not the Service.
	ofPort bool
	reason model.Reason
	text   string
}

// backends gives what the hosts use, sorted and each once, and reports the
// references that lead nowhere.
func (t *translation) backends(of *assemble.Assembly) []*model.Backend {
	t.used, t.rings = make([]*backend, 0, len(of.Backends)), countRings(of.Backends)
	for _, w := range of.Backends {
		b := t.entryOf(w)
		t.refresh(b)
		t.report(b.remarks...)
		t.used = append(t.used, b)
	}
	for u := range of.Uses() {
		if fault := t.memo.backends[u.Backend].fault; fault != nil {
			t.report(model.Problem{Object: u.Owner.Ref, Field: fault.in(u), Reason: fault.reason, Text: u.Owner.Consequence(fault.text)})
		}
	}
	t.checkDefaultBackend()
	return t.fitBackends(t.used)
}

// entryOf gives the entry of a backend.
func (t *translation) entryOf(w *assemble.Backend) *backend {
	b := t.memo.backends[w]
	if b == nil {
		b = &backend{Backend: w}
		t.memo.backends[w] = b
	}
	return b
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

// refresh makes a backend anew unless its objects are those of the last call.
func (t *translation) refresh(b *backend) {
	b.pass = t.memo.pass
	t.memo.used.backends++
	ofService := b.Split == nil && b.ID.Host == ""
	if t.ration(b) || !ofService || t.changed(b.ID.Service) {
		t.look(b)
	}
}

// look finds the endpoints anew if the Service or its EndpointSlices changed.
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
	b.model = &model.Backend{Key: b.Key, Target: b.ID.Target(), WhenEmpty: 503, Balancing: b.Balancing}
	if b.ID.Port == assemble.DefaultPort {
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

// divide makes a split.
func (b *backend) divide() {
	if b.model == nil || b.model.Split != b.Split {
		b.model = &model.Backend{Key: b.Key, Target: b.ID.Target(), WhenEmpty: 503, Split: b.Split}
		b.limit()
	}
}

// resolve finds the endpoints.
func (t *translation) resolve(b *backend) *backendFault {
	if b.service == nil {
		return &backendFault{false, model.NotFound, fmt.Sprintf("Service %s does not exist: 503 is answered", b.ID.Service)}
	}
	port, ok := b.port()
	if !ok {
		return &backendFault{true, model.NotFound, fmt.Sprintf("Service %s has no port %s: 503 is answered; it has %s", b.ID.Service, b.ID.Port, listedPorts(b.service))}
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

// in is the field that the fault is in.
func (f *backendFault) in(u assemble.Use) string {
	if f.ofPort {
		return u.PortField
	}
	return u.Field
}
