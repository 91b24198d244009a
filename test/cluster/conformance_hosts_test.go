package cluster

import (
	"context"
	"errors"
	"net/http"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conform runs a sluice with a Deployment for each of some Services.
func conform(t *testing.T, name string, services ...string) *site {
	t.Helper()
	s := newSite(t, Shared(t), name)
	for _, service := range services {
		s.Apply(t, Web(s.name, service, 1)...)
	}
	for _, service := range services {
		s.AwaitEndpoints(t, s.name, service, 1)
	}
	return s
}

// expectation is which Service answers a request; none if it is "".
type expectation struct{ host, path, service string }

// expect waits for the last of the Ingresses to be served, then asks each request
// once.
func (s *site) expect(t *testing.T, all ...expectation) {
	t.Helper()
	wanted := func(e expectation) func(*Answer) bool {
		if e.service == "" {
			return status(http.StatusNotFound)
		}
		return from(e.service)
	}
	for i, e := range all {
		if i == 0 {
			steady(t, "an answer of "+e.service, s.get(e.host, e.path), wanted(e))
		}
		answer, err := s.get(e.host, e.path).Do(t.Context())
		if err != nil || !wanted(e)(answer) {
			t.Errorf("http://%s%s: want %q, got %+v (%v)", e.host, e.path, e.service, answer, err)
		}
	}
}

// The default backend of an Ingress without rules answers hosts that no Ingress
// has; that of one with rules, what its rules leave over of their hosts.
func TestConformanceDefaultBackend(t *testing.T) {
	t.Parallel()
	s := conform(t, "conform-default", "fallback", "rest", "shop")
	must(t, s.get("any.example", "/"), "nothing", status(http.StatusNotFound))
	all := s.ingress("all")
	all.Spec.DefaultBackend = &Rule("", "/", "fallback", 80).HTTP.Paths[0].Backend
	own := s.ingress("own", path("own.default.example", "/shop", networkingv1.PathTypePrefix, "shop"))
	own.Spec.DefaultBackend = &Rule("", "/", "rest", 80).HTTP.Paths[0].Backend
	s.Apply(t, all, own, s.ingress("none", path("none.default.example", "/shop", networkingv1.PathTypePrefix, "shop")))
	s.expect(t,
		expectation{"none.default.example", "/shop", "shop"},
		expectation{"none.default.example", "/other", ""},
		expectation{"own.default.example", "/shop", "shop"},
		expectation{"own.default.example", "/other", "rest"},
		expectation{"any.example", "/", "fallback"},
		expectation{"any.example", "/some/path", "fallback"},
	)
	takes(t, "deleted", func() { s.Delete(t, all) }, s.get("any.example", "/"), status(http.StatusNotFound))
	must(t, s.get("own.default.example", "/other"), "the other's own", from("rest"))
}

// A precise host is matched whole and whatever its case or port; a wildcard stands
// for exactly one label, and gives way to a precise host.
func TestConformanceHosts(t *testing.T) {
	t.Parallel()
	s := conform(t, "conform-hosts", "wild", "precise", "deep")
	s.Apply(t,
		s.ingress("wild", Rule("*.hosts.example", "/", "wild", 80)),
		s.ingress("deep", Rule("*.deep.hosts.example", "/", "deep", 80)),
		s.ingress("precise", Rule("precise.hosts.example", "/precise", "precise", 80)))
	s.expect(t,
		expectation{"precise.hosts.example", "/precise", "precise"},
		expectation{"PRECISE.Hosts.example", "/precise", "precise"},
		expectation{"precise.hosts.example:8080", "/precise", "precise"},
		expectation{"precise.hosts.example", "/other", ""},
		expectation{"other.hosts.example", "/precise", "wild"},
		expectation{"other.hosts.example:80", "/", "wild"},
		expectation{"two.labels.hosts.example", "/", ""},
		expectation{"hosts.example", "/", ""},
		expectation{"xprecise.hosts.example", "/", "wild"},
		expectation{"precise.hosts.example.org", "/precise", ""},
		expectation{"one.deep.hosts.example", "/", "deep"},
		expectation{"deep.hosts.example", "/", "wild"},
		expectation{"two.labels.deep.hosts.example", "/", ""},
	)
}

// Rules of several Ingresses for one host are one: each path goes where its own
// Ingress says, and for one path the oldest counts.
func TestConformanceHostOfSeveralIngresses(t *testing.T) {
	t.Parallel()
	s := conform(t, "conform-merged", "one", "two")
	s.Apply(t, s.ingress("one", Rule("merged.example", "/one", "one", 80)))
	s.expect(t, expectation{"merged.example", "/one", "one"})
	oldest := s.ingressNow(t, s.name, "one").CreationTimestamp
	Eventually(t, "the next second, as ages are told by seconds", func(context.Context) error {
		if metav1.Now().Unix() == oldest.Unix() {
			return errors.New("it is the same")
		}
		return nil
	})
	s.Apply(t, s.ingress("two", Rule("merged.example", "/two", "two", 80), Rule("merged.example", "/one", "two", 80)))
	s.expect(t,
		expectation{"merged.example", "/two", "two"},
		expectation{"merged.example", "/one", "one"},
		expectation{"merged.example", "/", ""},
	)
	takes(t, "the older one was deleted", func() { s.Delete(t, s.ingress("one")) }, s.get("merged.example", "/one"), from("two"))
}
