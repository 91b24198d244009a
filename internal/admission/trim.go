package admission

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

// shared are the names that the reviewed Ingress has to do with, and the names with one label less
// of them.
type shared struct{ names, parents map[string]bool }

func sharedOf(hosts []string) shared {
	s := shared{map[string]bool{}, map[string]bool{}}
	for _, host := range hosts {
		s.names[host] = true
		s.parents[parentOf(host)] = true
	}
	return s
}

// near reports whether a host has names in common with the reviewed Ingress by a wildcard only.
func (s shared) near(host string) bool {
	if suffix, ok := strings.CutPrefix(host, "*."); ok {
		return s.parents[suffix]
	}
	parent := parentOf(host)
	return parent != "" && s.names["*."+parent]
}

// has reports whether a host has names in common with the reviewed Ingress.
func (s shared) has(host string) bool {
	host = strings.ToLower(host)
	return s.names[host] || s.near(host)
}

// trim returns an Ingress without most of what it has on names that are not shared, so that a review
// costs no more for it: its paths there, and its TLS. Of a host that is shared by a wildcard, one
// path stays, as well as of the first host, which has the aliases. Rules keep their indices.
func (s shared) trim(object *networkingv1.Ingress) *networkingv1.Ingress {
	at := slices.IndexFunc(object.Spec.Rules, func(rule networkingv1.IngressRule) bool { return !s.fits(rule) })
	unshared := func(item networkingv1.IngressTLS) bool {
		return len(item.Hosts) > 0 && !slices.ContainsFunc(item.Hosts, s.has)
	}
	if at < 0 && !slices.ContainsFunc(object.Spec.TLS, unshared) {
		return object
	}
	trimmed := *object
	trimmed.Spec.TLS = slices.DeleteFunc(slices.Clone(object.Spec.TLS), unshared)
	trimmed.Spec.Rules = slices.Clone(object.Spec.Rules)
	for i, rule := range object.Spec.Rules {
		switch {
		case s.fits(rule):
		case i == 0 || s.near(strings.ToLower(rule.Host)):
			trimmed.Spec.Rules[i].HTTP = &networkingv1.HTTPIngressRuleValue{Paths: rule.HTTP.Paths[:1]}
		default:
			trimmed.Spec.Rules[i] = networkingv1.IngressRule{Host: object.Spec.Rules[0].Host} // which is there already
		}
	}
	return &trimmed
}

// fits reports whether a rule is judged as it is.
func (s shared) fits(rule networkingv1.IngressRule) bool {
	return s.names[strings.ToLower(rule.Host)] || rule.HTTP == nil || len(rule.HTTP.Paths) == 0
}

// parts is the number of rules, paths and hosts of TLS of some Ingresses.
func parts(some ...*networkingv1.Ingress) (n int) {
	for _, object := range some {
		n += len(object.Spec.Rules) + len(object.Spec.TLS)
		for _, rule := range object.Spec.Rules {
			if rule.HTTP != nil {
				n += len(rule.HTTP.Paths)
			}
		}
		for _, item := range object.Spec.TLS {
			n += len(item.Hosts)
		}
	}
	return n
}
