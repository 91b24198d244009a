package translate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// defaultPort stands in the key of the default backend for its port. It is no
// valid name of a port: what an Ingress asks of the same Service is another
// backend, as that one answers 503 where the default backend answers 404.
const defaultPort = "_default"

// backendID names a backend.
type backendID struct {
	// service is that of a port, or has the namespace of who asked for a host.
	service snapshot.Name
	host    string // what is no Service, empty for none
	port    string // as written, or defaultPort
	// variant is a hash of the balancing of the backend, or of what a split is of;
	// empty for a backend whose endpoints are picked in turn.
	variant string
}

func (b *backend) compare(o *backend) int { return strings.Compare(b.key, o.key) }

// key is opaque. Those of one Service begin with its name and "/", as onlyEndpoints
// finds them by; no Service has a name that begins with "_".
func (id backendID) key() string {
	name := id.service.Name
	if id.host != "" {
		name = "_" + id.host
	}
	key := id.service.Namespace + "/" + name + "/" + id.port
	if id.variant != "" {
		key += "~" + id.variant
	}
	return key
}

// target is what the backend stands for.
func (id backendID) target() model.Target {
	port := id.port
	if port == defaultPort {
		port = ""
	}
	return model.Target{ServicePort: model.ServicePort{Namespace: id.service.Namespace, Name: id.service.Name, Port: port}, Host: id.host}
}

// backend is a backend with what it was made of.
type backend struct {
	pass    uint64
	place   place
	id      backendID
	key     string // of id
	model   *model.Backend
	service *corev1.Service
	slices  []*discoveryv1.EndpointSlice
	// balancing is nil for a backend whose endpoints are picked in turn. A split has no
	// endpoints.
	balancing *model.Balancing
	split     *model.Split
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
	found := make([]*backend, 0, len(t.memo.backends))
	for _, h := range hosts {
		for _, u := range h.built.uses {
			if u.backend.pass != t.memo.pass {
				t.refresh(u.backend)
				found = append(found, u.backend)
			}
			t.report(u.backend.remarks...)
			if fault := u.backend.fault; fault != nil && u.claim != nil {
				t.report(model.Problem{Object: u.claim.owner.ref, Field: u.faultField(), Reason: fault.reason, Text: u.claim.consequence(fault.text)})
			}
		}
	}
	t.checkDefaultBackend()
	t.used = t.memo.sortedBackends.next(t.memo.pass, found)
	return t.fitBackends(t.used)
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
	if u.backend.fault.field == "port" {
		field += u.claim.action.portField
	}
	return field
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
	ofService := b.split == nil && b.id.host == ""
	if b.model == nil || !ofService || t.changed(b.id.service) {
		t.look(b)
	}
}

// look finds the endpoints anew if the Service or its EndpointSlices changed.
func (t *translation) look(b *backend) {
	switch {
	case b.split != nil:
		b.divide()
		return
	case b.id.host != "":
		b.leadOut()
		return
	}
	service, parts := t.snap.Service(b.id.service), t.snap.EndpointSlices(b.id.service)
	if b.model != nil && b.service == service && slices.Equal(b.slices, parts) {
		return
	}
	b.service, b.slices = service, slices.Clone(parts)
	b.model = &model.Backend{Key: b.key, Target: b.id.target(), WhenEmpty: 503, Balancing: b.balancing}
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

// divide makes a split.
func (b *backend) divide() {
	if b.model == nil || b.model.Split != b.split {
		b.model = &model.Backend{Key: b.key, Target: b.id.target(), WhenEmpty: 503, Split: b.split}
		b.limit()
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
