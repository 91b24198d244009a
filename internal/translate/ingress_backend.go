package translate

import (
	"fmt"
	"strconv"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// pathService reads the backend of a rule. Most paths of an Ingress have the same one,
// and share it.
func pathService(r *claim.Rules, b *networkingv1.IngressBackend) *claim.Service {
	var last *claim.Service
	if n := len(r.Claims); n > 0 {
		last = r.Claims[n-1].Action.Service
	}
	return backendService(b, r.Owner.Ref.Namespace, last)
}

// backendService reads a backend, and returns last if that is equal.
func backendService(b *networkingv1.IngressBackend, namespace string, last *claim.Service) *claim.Service {
	if field, reason, text := wrongBackend(b); text != "" {
		return &claim.Service{Fault: &claim.Fault{Field: field, Reason: reason, Text: text}}
	}
	port, field := b.Service.Port.Name, ".name"
	if port == "" {
		port, field = strconv.Itoa(int(b.Service.Port.Number)), ".number"
	}
	read := claim.Service{Name: snapshot.Name{Namespace: namespace, Name: b.Service.Name}, Port: port, PortField: field}
	if last != nil && *last == read {
		return last
	}
	made := read
	return &made
}

// wrongBackend returns the fault of a backend as written, by the rules of the API
// server, with its field.
func wrongBackend(b *networkingv1.IngressBackend) (field string, reason model.Reason, text string) {
	service := b.Service
	switch {
	case b.Resource != nil && service != nil:
		return "", model.InvalidValue, "want either service or resource (got both): 503 is answered"
	case b.Resource != nil:
		return ".resource", model.Unsupported, fmt.Sprintf("want a service: a %s as backend is not supported, 503 is answered", claim.Shown(b.Resource.Kind))
	case service == nil:
		return "", model.InvalidValue, "want a service (got none): 503 is answered"
	case len(validation.IsDNS1123Label(service.Name)) > 0:
		return ".service.name", model.InvalidValue, fmt.Sprintf("want the name of a Service (got %s): 503 is answered", model.Quoted(service.Name))
	case service.Port.Name != "" && service.Port.Number != 0:
		return ".service.port", model.InvalidValue, "want either name or number (got both): 503 is answered"
	case service.Port.Name != "" && len(validation.IsValidPortName(service.Port.Name)) > 0:
		return ".service.port.name", model.InvalidValue, fmt.Sprintf("want the name of a port (got %s): 503 is answered", model.Quoted(service.Port.Name))
	case service.Port.Name == "" && len(validation.IsValidPortNum(int(service.Port.Number))) > 0:
		return ".service.port.number", model.InvalidValue, fmt.Sprintf("want a port from 1 to 65535 (got %d): 503 is answered", service.Port.Number)
	}
	return "", "", ""
}
