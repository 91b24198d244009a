package lint

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Unreachable is the reason for a host of an annotation that probably cannot be reached,
// or that leads back to the paths that it should protect.
const Unreachable model.Reason = "Unreachable"

// unreachable reports the hosts that annotations name for subrequests, such as
// authentication servers, and that probably do not answer.
func unreachable(config *model.Config, all []*corev1.Service) []model.Problem {
	services := map[snapshot.Name]*corev1.Service{}
	for _, s := range all {
		services[snapshot.Name{Namespace: s.Namespace, Name: s.Name}] = s
	}
	var problems []model.Problem
	for s := range translate.Subrequests(config) {
		text := wrongTarget(s, services)
		if text == "" && s.Annotation == "auth-url" {
			text = leadsBack(config.Static.Servers, s)
		}
		if text == "" {
			continue
		}
		for _, asker := range s.Askers {
			problems = append(problems, model.Problem{Object: asker.Object, Field: asker.Field, Reason: Unreachable, Text: text})
		}
	}
	return problems
}

// wrongTarget returns the reason why a host and port probably do not answer; "" if they may.
func wrongTarget(s translate.Subrequest, services map[snapshot.Name]*corev1.Service) string {
	t := s.Backend.Target
	name, isService := serviceOf(t.Host)
	if _, err := netip.ParseAddr(t.Host); err != nil && !strings.Contains(t.Host, ".") {
		return fmt.Sprintf("want NAME.NAMESPACE.svc.cluster.local (got %q): the controller looks for a host without a dot in its own namespace, and %s if it is not there", t.Host, s.Failure)
	}
	if !isService {
		return ""
	}
	service := services[name]
	switch {
	case service == nil:
		return fmt.Sprintf("Service %s is not among the objects: if it does not exist, %s", name, s.Failure)
	case service.Spec.ClusterIP == corev1.ClusterIPNone, service.Spec.Type == corev1.ServiceTypeExternalName:
		return "" // its DNS name leads to endpoints, on any port
	}
	var ports []string
	for _, p := range service.Spec.Ports {
		ports = append(ports, strconv.Itoa(int(p.Port)))
	}
	if slices.Contains(ports, t.Port) {
		return ""
	}
	return fmt.Sprintf("Service %s has no port %s: %s; it has %s", name, t.Port, s.Failure, strings.Join(ports, ", "))
}

// serviceOf parses NAME.NAMESPACE.svc and NAME.NAMESPACE.svc.cluster.local.
func serviceOf(host string) (name snapshot.Name, ok bool) {
	labels := strings.Split(strings.TrimSuffix(host, ".cluster.local"), ".")
	if len(labels) != 3 || labels[2] != "svc" {
		return snapshot.Name{}, false
	}
	return snapshot.Name{Namespace: labels[1], Name: labels[0]}, true
}

// leadsBack returns the reason why an authentication server is a host of Sluice whose path
// cannot answer such requests; "" if there is none.
func leadsBack(servers []*model.Server, s translate.Subrequest) string {
	host := s.Backend.Target.Host
	path, _, _ := strings.Cut(s.Proxy.URI, "?")
	if strings.Contains(path, "$") || s.Backend.Target.Port != "80" && s.Backend.Target.Port != "443" {
		return ""
	}
	answer := route.Match(servers, host, path)
	if answer.Outcome != route.Served || answer.Server.Host == "" {
		return ""
	}
	asks := func(b model.Block) bool { return b.Name == "external-auth" }
	switch l := answer.Location; {
	case l.Rule.Kind == model.RuleFallback && l.Return != nil:
		return fmt.Sprintf("no rule of %s takes the path %s: %s; want an Ingress for it, without auth-url", host, model.OneLine(path, mostPath), s.Failure)
	case slices.ContainsFunc(l.Blocks, asks):
		return fmt.Sprintf("Sluice asks itself, as %s has auth-url for the path %s of %s: %s; want an Ingress of its own for it, without auth-url", l.Rule.Object, model.OneLine(path, mostPath), host, s.Failure)
	}
	return ""
}
