package controller

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/resolver"
)

// nameServer answers each question for an address with the same record, valid for a
// second. It returns its resolv.conf and its port.
func nameServer(t *testing.T, record *atomic.Value) (conf, port string) {
	t.Helper()
	listener, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: listener, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, query *dns.Msg) {
		answer := new(dns.Msg).SetReply(query)
		if query.Question[0].Qtype == dns.TypeA {
			one, err := dns.NewRR(query.Question[0].Name + " 1 A " + record.Load().(string))
			if err == nil {
				answer.Answer = []dns.RR{one}
			}
		}
		_ = w.WriteMsg(answer)
	})}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { listener.Close() })
	conf = filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(conf, []byte("nameserver 127.0.0.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(listener.LocalAddr().String())
	return conf, port
}

// TestOwnersAreToldOfForbiddenAddresses: a forbidden address of an externalName is a
// Problem of its Service until DNS has another answer.
func TestOwnersAreToldOfForbiddenAddresses(t *testing.T) {
	t.Parallel()
	var record atomic.Value
	record.Store("169.254.169.254")
	conf, port := nameServer(t, &record)
	source := &objects{}
	web := form("web", "a.example")
	web.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "db", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	source.Ingresses = []*networkingv1.Ingress{web}
	source.Services = []*corev1.Service{{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "db.example."}}}
	source.Services[0].Namespace, source.Services[0].Name = web.Namespace, "db"
	c := idle(t, source)
	c.Resolver = resolver.New(resolver.Options{Conf: conf, Port: port, Logger: c.Log})
	go c.Resolver.Run(t.Context())
	c.sync(t.Context())
	told := func() string {
		for _, p := range c.latest.problems {
			if p.Object.Kind == "Service" && p.Field == "spec.externalName" && p.Reason == model.InvalidValue {
				return p.String()
			}
		}
		return ""
	}
	await := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.After(2 * time.Minute); !holds(); {
			select {
			case <-c.Resolver.Watch():
				c.resolved(t.Context())
			case <-c.pace.due:
				c.syncOrWait(t.Context())
			case <-deadline:
				t.Fatalf("waited in vain for %s; the problems are %v", what, c.latest.problems)
			}
		}
	}
	await("the Problem", func() bool { return strings.Contains(told(), "169.254.169.254") })
	record.Store("127.0.0.1") // no address before, none now: yet another reason
	await("the other Problem", func() bool { return strings.Contains(told(), "127.0.0.1") })
	record.Store("192.0.2.1")
	await("its end", func() bool { return told() == "" })
}

// TestOwnersAreToldOfNamesWithoutAddress: each Ingress with an annotation that names a
// host without addresses has a Problem, and so has the Service with such an
// externalName, until DNS has an address.
func TestOwnersAreToldOfNamesWithoutAddress(t *testing.T) {
	t.Parallel()
	var record atomic.Value
	record.Store("none") // no record
	conf, port := nameServer(t, &record)
	source := &objects{}
	const prefix = "nginx.ingress.kubernetes.io/"
	asked := map[string]map[string]string{
		"asks":     {prefix + "auth-url": "http://nope.example/x"},
		"asks-too": {prefix + "auth-url": "http://nope.example/x"},
		"at-path":  {"sluice.io/paths.auth-url": "/: http://nope.example/x"},
		"copies":   {prefix + "mirror-target": "http://nope.example/x"},
	}
	for name, annotations := range asked {
		ing := form(name, name+".example")
		backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
		ing.Spec.Rules[0].HTTP = &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: backend}}}
		ing.Annotations = annotations
		source.Ingresses = append(source.Ingresses, ing)
	}
	c := idle(t, source)
	c.Resolver = resolver.New(resolver.Options{Conf: conf, Port: port, Logger: c.Log})
	go c.Resolver.Run(t.Context())
	c.sync(t.Context())
	told := func() string {
		var lines []string
		for _, p := range c.latest.problems {
			if p.Reason == model.NotFound && strings.Contains(p.Text, "nope.example") {
				lines = append(lines, p.String())
			}
		}
		return strings.Join(lines, "\n")
	}
	await := func(want string) {
		t.Helper()
		for deadline := time.After(2 * time.Minute); told() != want; {
			select {
			case <-c.Resolver.Watch():
				c.resolved(t.Context())
			case <-c.pace.due:
				c.syncOrWait(t.Context())
			case <-deadline:
				t.Fatalf("waited in vain for %q; the problems are %v", want, c.latest.problems)
			}
		}
	}
	namespace := source.Ingresses[0].Namespace
	line := func(name, annotation, failure string) string {
		return "Ingress " + namespace + "/" + name + ": " + annotation + ": DNS has no address for nope.example: " + failure
	}
	await(strings.Join([]string{line("asks", prefix+"auth-url", "clients get 500"), line("asks-too", prefix+"auth-url", "clients get 500"),
		line("at-path", "sluice.io/paths.auth-url", "clients get 500"), line("copies", prefix+"mirror-target", "nothing is mirrored")}, "\n"))
	record.Store("192.0.2.1")
	await("")
}
