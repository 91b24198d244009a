package decode

import (
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sluice/internal/snapshot"
)

// checkService checks the fields of a Service that Sluice reads. Like the API server, it
// sets a missing type and missing protocols and target ports.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/
func checkService(service *corev1.Service) []fault {
	spec := &service.Spec
	faults := checkServiceType(spec)
	if ip := spec.ClusterIP; ip != "" && ip != corev1.ClusterIPNone && snapshot.FamilyOf(ip) == "" {
		faults = append(faults, wrong("clusterIP", "an IP address or None", ip))
	}
	portNames := make([]string, len(spec.Ports))
	for i := range spec.Ports {
		portNames[i] = spec.Ports[i].Name
		faults = append(faults, item("ports", i, checkServicePort(&spec.Ports[i]))...)
	}
	return append(checkLabelName(service.Name), within("spec", append(faults, checkPortNames(portNames)...))...)
}

// checkServiceType checks the type, and the fields that depend on it.
func checkServiceType(spec *corev1.ServiceSpec) []fault {
	headless := spec.ClusterIP == corev1.ClusterIPNone
	switch spec.Type {
	case "":
		spec.Type = corev1.ServiceTypeClusterIP
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer:
	case corev1.ServiceTypeExternalName:
		return checkExternalName(spec.ExternalName)
	default:
		return []fault{wrong("type", "ClusterIP, NodePort, LoadBalancer or ExternalName", string(spec.Type))}
	}
	if len(spec.Ports) == 0 && !headless {
		return []fault{missing("ports", "at least one port")}
	}
	return nil
}

// checkExternalName accepts a DNS name, with or without a final dot, and an IP address,
// which the API server accepts as a DNS name.
func checkExternalName(name string) []fault {
	if !isSubdomain(strings.TrimSuffix(name, ".")) {
		if _, err := netip.ParseAddr(name); err != nil || name == "" {
			return []fault{wrong("externalName", "a DNS name such as db.example.com", name)}
		}
	}
	return nil
}

func checkServicePort(port *corev1.ServicePort) []fault {
	faults := append(checkPort(port.Port), checkProtocol(&port.Protocol)...)
	switch target := &port.TargetPort; {
	case target.Type == intstr.Int && target.IntVal == 0, target.Type == intstr.String && target.StrVal == "":
		*target = intstr.FromInt32(port.Port)
	case target.Type == intstr.Int && !isPort(target.IntVal):
		faults = append(faults, fault{"targetPort", checkPort(target.IntVal)[0].text})
	case target.Type == intstr.String && !isPortName(target.StrVal):
		faults = append(faults, wrong("targetPort", wantPort+" or "+wantPortName, target.StrVal))
	}
	return faults
}
