package chart

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestHTTP3OpensUDP: where the settings turn HTTP/3 on, the pod, the Services and the
// NetworkPolicy have the port for HTTPS over UDP too.
func TestHTTP3OpensUDP(t *testing.T) {
	t.Parallel()
	for values, want := range map[string][]string{
		"":                            nil,
		"config: {use-http3: false}":  nil,
		"config: {use-http3: \"no\"}": nil,
		"config: {use-http3: true}":   {"pod 443", "service 443", "policy 443"},
		"config: {Use-HTTP3: \"True\"}, admissionWebhooks: {port: 8444}, extraArgs: {https-port: 8443}, service: {ports: {https: 9443}}": {"pod 8443", "service 9443", "policy 8443"},
		"config: {use-http3: true}, service: {enableHttp3: false}":                                                                       {"pod 443", "policy 443"},
		"config: {use-http3: true}, hostPort: {enabled: true, ports: {https: 444}}":                                                      {"pod 443 444", "service 443", "policy 443"},
	} {
		if got := udpOf(t, "networkPolicy: {enabled: true}, "+values); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", values, got, want)
		}
	}
}

// udpOf lists what has ports of UDP.
func udpOf(t *testing.T, values string) []string {
	t.Helper()
	var all []string
	for _, port := range podOf(t, "controller: {"+values+"}").Containers[0].Ports {
		if port.Protocol == corev1.ProtocolUDP && port.HostPort != 0 {
			all = append(all, fmt.Sprintf("pod %d %d", port.ContainerPort, port.HostPort))
		} else if port.Protocol == corev1.ProtocolUDP {
			all = append(all, fmt.Sprintf("pod %d", port.ContainerPort))
		}
	}
	r, service, policy := render(t, "controller: {"+values+"}"), &corev1.Service{}, &networkingv1.NetworkPolicy{}
	typed(t, r.Objects, "Service", "sluice-controller", service)
	for _, port := range service.Spec.Ports {
		if port.Protocol == corev1.ProtocolUDP && port.TargetPort.StrVal == "http3" {
			all = append(all, fmt.Sprintf("service %d", port.Port))
		}
	}
	typed(t, r.Objects, "NetworkPolicy", "sluice-controller", policy)
	for _, port := range policy.Spec.Ingress[0].Ports {
		if *port.Protocol == corev1.ProtocolUDP {
			all = append(all, fmt.Sprintf("policy %d", port.Port.IntVal))
		}
	}
	return all
}
