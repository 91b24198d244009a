package decode

import (
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// checkIngress checks an Ingress as the API server does, with one exception: it accepts
// paths that contain "//", "/../" and the like. They cause a Problem of the path, and the
// rest of the Ingress is served.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/ingress-v1/
func checkIngress(ing *networkingv1.Ingress) []fault {
	spec := &ing.Spec
	var faults []fault
	if class := spec.IngressClassName; class != nil && !isSubdomain(*class) {
		faults = append(faults, wrong("ingressClassName", wantSubdomain, *class))
	}
	if spec.DefaultBackend == nil && len(spec.Rules) == 0 {
		faults = append(faults, missing("", "rules or a defaultBackend"))
	}
	if spec.DefaultBackend != nil {
		faults = append(faults, within("defaultBackend", checkBackend(spec.DefaultBackend))...)
	}
	for i := range spec.TLS {
		faults = append(faults, item("tls", i, checkTLS(&spec.TLS[i]))...)
	}
	for i := range spec.Rules {
		faults = append(faults, item("rules", i, checkRule(&spec.Rules[i]))...)
	}
	return within("spec", faults)
}

func checkTLS(tls *networkingv1.IngressTLS) []fault {
	var faults []fault
	for i, host := range tls.Hosts {
		if !isHost(host) {
			faults = append(faults, item("hosts", i, []fault{wrong("", wantHost, host)})...)
		}
	}
	if tls.SecretName != "" && !isSubdomain(tls.SecretName) {
		faults = append(faults, wrong("secretName", wantSubdomain, tls.SecretName))
	}
	return faults
}

func checkRule(rule *networkingv1.IngressRule) []fault {
	var faults []fault
	if rule.Host != "" && !isHost(rule.Host) {
		faults = append(faults, wrong("host", wantHost, rule.Host))
	}
	if rule.HTTP == nil {
		return faults
	}
	if len(rule.HTTP.Paths) == 0 {
		faults = append(faults, missing("http.paths", "at least one path"))
	}
	for i := range rule.HTTP.Paths {
		faults = append(faults, item("http.paths", i, checkPath(&rule.HTTP.Paths[i]))...)
	}
	return faults
}

func checkPath(path *networkingv1.HTTPIngressPath) []fault {
	faults := append(checkPathType(path), within("backend", checkBackend(&path.Backend))...)
	mayBeEmpty := path.PathType != nil && *path.PathType == networkingv1.PathTypeImplementationSpecific
	switch {
	case path.Path == "" && mayBeEmpty:
	case path.Path == "":
		faults = append(faults, missing("path", `a path that begins with "/"`))
	case path.Path[0] != '/':
		faults = append(faults, wrong("path", `a path that begins with "/"`, path.Path))
	case strings.ContainsFunc(path.Path, unicode.IsControl):
		faults = append(faults, wrong("path", "a path without control characters", path.Path))
	}
	return faults
}

func checkPathType(path *networkingv1.HTTPIngressPath) []fault {
	const want = "Exact, Prefix or ImplementationSpecific"
	if path.PathType == nil {
		return []fault{missing("pathType", want)}
	}
	switch *path.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific:
		return nil
	}
	return []fault{wrong("pathType", want, string(*path.PathType))}
}

// checkBackend requires either a service or a resource.
func checkBackend(backend *networkingv1.IngressBackend) []fault {
	switch {
	case backend.Service != nil && backend.Resource != nil:
		return []fault{{"", "want either a service or a resource (got both)"}}
	case backend.Service != nil:
		return within("service", checkServiceBackend(backend.Service))
	case backend.Resource != nil:
		return within("resource", checkResource(backend.Resource))
	}
	return []fault{missing("", "a service or a resource")}
}

// checkServiceBackend requires a name, and a port by either name or number.
func checkServiceBackend(service *networkingv1.IngressServiceBackend) []fault {
	var faults []fault
	if !isLabel(service.Name) {
		faults = append(faults, wrong("name", wantLabel, service.Name))
	}
	port := service.Port
	switch {
	case port.Name != "" && port.Number != 0:
		faults = append(faults, fault{"port", "want either a number or a name (got both)"})
	case port.Name != "":
		if !isPortName(port.Name) {
			faults = append(faults, wrong("port.name", wantPortName, port.Name))
		}
	case port.Number == 0:
		faults = append(faults, missing("port", "a number or a name"))
	case !isPort(port.Number):
		faults = append(faults, fault{"port.number", checkPort(port.Number)[0].text})
	}
	return faults
}

// checkResource requires names that can be segments of a path.
func checkResource(resource *corev1.TypedLocalObjectReference) []fault {
	const want = `a name without "/" and "%"`
	var faults []fault
	if group := resource.APIGroup; group != nil && *group != "" && !isSubdomain(*group) {
		faults = append(faults, wrong("apiGroup", wantSubdomain, *group))
	}
	if !isSegment(resource.Kind) {
		faults = append(faults, wrong("kind", want, resource.Kind))
	}
	if !isSegment(resource.Name) {
		faults = append(faults, wrong("name", want, resource.Name))
	}
	return faults
}

func isSegment(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/%") && !strings.ContainsFunc(name, unicode.IsControl)
}

// checkIngressClass checks the controller.
func checkIngressClass(class *networkingv1.IngressClass) []fault {
	const want = "a controller such as k8s.io/ingress-nginx, at most 250 characters"
	controller := class.Spec.Controller
	domain, path, found := strings.Cut(controller, "/")
	if controller == "" {
		return []fault{missing("spec.controller", want)}
	}
	if !found || path == "" || !isSubdomain(domain) || len(controller) > 250 || strings.ContainsFunc(controller, unprintable) {
		return []fault{wrong("spec.controller", want, controller)}
	}
	return nil
}
