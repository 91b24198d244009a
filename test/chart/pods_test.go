package chart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// podOf is the controller's pod.
func podOf(t testing.TB, values string) corev1.PodSpec {
	t.Helper()
	deployment := &appsv1.Deployment{}
	typed(t, render(t, values).Objects, "Deployment", "sluice-controller", deployment)
	return deployment.Spec.Template.Spec
}

// portsOf are the container's ports by name, with the port of the node behind a colon.
func portsOf(pod corev1.PodSpec) map[string]int32 {
	all := map[string]int32{}
	for _, port := range pod.Containers[0].Ports {
		all[port.Name] = port.ContainerPort
		if port.HostPort != 0 {
			all[port.Name+" of the node"] = port.HostPort
		}
	}
	return all
}

// TestNullIsLeftOut: what a file of values sets to null, so that a former one no
// longer holds, is not there, neither as the text null nor with an empty value.
func TestNullIsLeftOut(t *testing.T) {
	t.Parallel()
	plain, given := render(t, ""), render(t, "{tcp: {\"5432\": null}, udp: {\"53\": null}, controller: {config: {a: null}, sysctls: {net.core.somaxconn: null}, "+
		"extraArgs: {election-ttl: null, shutdown-grace-period: null, post-shutdown-grace-period: null, disable-catch-all: null, v: null}}}")
	if differs := differences(byName(t, plain.Objects), byName(t, given.Objects)); differs != "" {
		t.Errorf("null changes:\n%s", differs)
	}
	if given.Notes != plain.Notes {
		t.Errorf("null changes the notes:\n%s", given.Notes)
	}
	backend := "defaultBackend: {enabled: true, extraArgs: {verbose: %}}"
	if manifests := render(t, strings.Replace(backend, "%", "null", 1)).Manifests; strings.Contains(manifests, "--verbose") {
		t.Error("the default backend has the flag that is null")
	}
	if manifests := render(t, strings.Replace(backend, "%", "2", 1)).Manifests; !strings.Contains(manifests, "--verbose=2") {
		t.Error("the default backend has not the flag that is given")
	}
	streams := render(t, "tcp: {\"5432\": shop/database:5432, \"5433\": null}").Manifests
	if !strings.Contains(streams, "5432-tcp") || strings.Contains(streams, "5433") {
		t.Errorf("of two TCP services, one of them null, there is not the one:\n%s", streams)
	}
}

// TestSysctls: podSecurityContext's come first, the chart's are there besides, and
// on the network of the node none of the network's is.
func TestSysctls(t *testing.T) {
	t.Parallel()
	const ports = "net.ipv4.ip_unprivileged_port_start"
	for values, want := range map[string]string{
		"": ports + "=0",
		"controller: {sysctls: {" + ports + ": null}}":                                                                                   "",
		"controller: {podSecurityContext: {sysctls: [{name: net.core.somaxconn, value: \"4096\"}]}}":                                     "net.core.somaxconn=4096 " + ports + "=0",
		"controller: {podSecurityContext: {sysctls: [{name: " + ports + ", value: \"80\"}]}}":                                            ports + "=80",
		"controller: {podSecurityContext: {sysctls: [{name: net/ipv4/ip_unprivileged_port_start, value: \"80\"}]}}":                      "net/ipv4/ip_unprivileged_port_start=80",
		"controller: {hostNetwork: true}":                                                                                                "",
		"controller: {hostNetwork: true, sysctls: {kernel.shm_rmid_forced: 1, net.core.somaxconn: 4096}}":                                "kernel.shm_rmid_forced=1",
		"controller: {hostNetwork: true, podSecurityContext: {runAsGroup: 7, sysctls: [{name: net/ipv4/tcp_syncookies, value: \"1\"}]}}": "",
	} {
		pod := podOf(t, values)
		var all []string
		for _, one := range pod.SecurityContext.Sysctls {
			all = append(all, one.Name+"="+one.Value)
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%s: the sysctls are %q, want %q", values, got, want)
		}
		if *pod.SecurityContext.FSGroup != 101 {
			t.Errorf("%s: the group of the volume is %d", values, *pod.SecurityContext.FSGroup)
		}
		added := pod.Containers[0].SecurityContext.Capabilities.Add
		if !slices.Equal(added, []corev1.Capability{"NET_BIND_SERVICE"}) {
			t.Errorf("%s: the container has the capabilities %q", values, added)
		}
	}
}

// TestPortsFollowTheFlags: where nginx listens elsewhere, the ports of the container
// are there, too, and with them what names them and who lets them in.
func TestPortsFollowTheFlags(t *testing.T) {
	t.Parallel()
	const elsewhere = "admissionWebhooks: {port: 9443}, extraArgs: {http-port: 8080, https-port: \"8443\"}"
	for values, want := range map[string]map[string]int32{
		"": {"http": 80, "https": 443, "webhook": 8443},
		"controller: {admissionWebhooks: {enabled: false}}":                                  {"http": 80, "https": 443},
		"controller: {" + elsewhere + "}":                                                    {"http": 8080, "https": 8443, "webhook": 9443},
		"controller: {extraArgs: {http-port: 8080}}":                                         {"http": 8080, "https": 443, "webhook": 8443},
		"controller: {containerPort: {http: 8081, extra: 2443}, " + elsewhere + "}":          {"http": 8081, "https": 8443, "extra": 2443, "webhook": 9443},
		"controller: {hostPort: {enabled: true}, " + elsewhere + "}":                         {"http": 8080, "http of the node": 80, "https": 8443, "https of the node": 443, "webhook": 9443},
		"controller: {hostNetwork: true, hostPort: {enabled: true}, " + elsewhere + "}":      {"http": 8080, "http of the node": 8080, "https": 8443, "https of the node": 8443, "webhook": 9443},
		"controller: {hostNetwork: true, hostPort: {enabled: true}, containerPort: {a: 90}}": {"http": 80, "http of the node": 80, "https": 443, "https of the node": 443, "a": 90, "webhook": 8443},
	} {
		if got := portsOf(podOf(t, values)); !maps.Equal(got, want) {
			t.Errorf("%s: the ports are %v, want %v", values, got, want)
		}
	}
	r := render(t, "controller: {networkPolicy: {enabled: true}, "+elsewhere+"}")
	policy := &networkingv1.NetworkPolicy{}
	typed(t, r.Objects, "NetworkPolicy", "sluice-controller", policy)
	var let []int32
	for _, port := range policy.Spec.Ingress[0].Ports {
		let = append(let, port.Port.IntVal)
	}
	if !slices.Equal(let, []int32{8080, 8443, 9443}) {
		t.Errorf("the NetworkPolicy lets in %v", let)
	}
	service := &corev1.Service{}
	typed(t, r.Objects, "Service", "sluice-controller", service)
	for _, port := range service.Spec.Ports {
		if port.TargetPort.StrVal != port.Name {
			t.Errorf("the Service's port %s leads to %s", port.Name, port.TargetPort.String())
		}
	}
}
