package controller

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/resolver"
)

// resolving gives the controller a resolver that asks a function instead of DNS, for
// a record such as "60 A 192.0.2.1", or "" if there is none. It uses no socket, so that
// the clock of a synctest bubble goes on.
func resolving(t *testing.T, c *Controller, answer func(dns.Question) (record string, answered bool)) {
	t.Helper()
	conf := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(conf, []byte("nameserver 127.0.0.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go answerQueries(&dns.Conn{Conn: server}, answer)
		return client, nil
	}
	c.Resolver = resolver.New(resolver.Options{Conf: conf, Dial: dial, Logger: c.Log})
	go c.Resolver.Run(t.Context())
	go c.forward(t.Context())
}

func answerQueries(connection *dns.Conn, answer func(dns.Question) (record string, answered bool)) {
	defer connection.Close()
	for {
		query, err := connection.ReadMsg()
		if err != nil {
			return
		}
		record, answered := answer(query.Question[0])
		if !answered {
			continue
		}
		reply := new(dns.Msg).SetReply(query)
		if one, err := dns.NewRR(query.Question[0].Name + " " + record); err == nil && record != "" {
			reply.Answer = []dns.RR{one}
		}
		_ = connection.WriteMsg(reply)
	}
}

// address is a DNS in which each name has the same address, valid for a second.
type address struct{ atomic.Value }

func (a *address) answer(question dns.Question) (record string, answered bool) {
	if text := a.Load().(string); question.Qtype == dns.TypeA && text != "" {
		return "1 A " + text, true
	}
	return "", true
}

// untilNamed runs the loop until a condition holds.
func (c *Controller) untilNamed(t *testing.T, what string, holds func() bool) {
	t.Helper()
	const patience = 4 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !holds() {
		if !c.turn(ctx, nil) {
			t.Fatalf("waited in vain for %s; the problems are %v", what, c.latest.problems)
		}
	}
}

// TestOwnersAreToldOfForbiddenAddresses: a forbidden address of an externalName is a
// Problem of its Service until DNS has another answer.
func TestOwnersAreToldOfForbiddenAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var record address
		record.Store("169.254.169.254")
		source := &objects{}
		web := form("web", "a.example")
		web.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "db", Port: networkingv1.ServiceBackendPort{Number: 80}}}
		source.Ingresses = []*networkingv1.Ingress{web}
		source.Services = []*corev1.Service{{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "db.example."}}}
		source.Services[0].Namespace, source.Services[0].Name = web.Namespace, "db"
		c := idle(t, source)
		resolving(t, c, record.answer)
		c.sync(t.Context())
		told := func() string {
			for _, p := range c.latest.problems {
				if p.Object.Kind == "Service" && p.Field == "spec.externalName" && p.Reason == model.InvalidValue {
					return p.String()
				}
			}
			return ""
		}
		c.untilNamed(t, "the Problem", func() bool { return strings.Contains(told(), "169.254.169.254") })
		record.Store("127.0.0.1") // no address before, none now: yet another reason
		c.untilNamed(t, "the other Problem", func() bool { return strings.Contains(told(), "127.0.0.1") })
		record.Store("192.0.2.1")
		c.untilNamed(t, "its end", func() bool { return told() == "" })
	})
}

// TestOwnersAreToldOfNamesWithoutAddress: each Ingress with an annotation that names a
// host without addresses has a Problem, and so has the Service with such an
// externalName, until DNS has an address.
func TestOwnersAreToldOfNamesWithoutAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var record address
		record.Store("")
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
		resolving(t, c, record.answer)
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
			c.untilNamed(t, want, func() bool { return told() == want })
		}
		namespace := source.Ingresses[0].Namespace
		line := func(name, annotation, failure string) string {
			return "Ingress " + namespace + "/" + name + ": " + annotation + ": DNS has no address for nope.example: " + failure
		}
		await(strings.Join([]string{line("asks", prefix+"auth-url", "clients get 500"), line("asks-too", prefix+"auth-url", "clients get 500"),
			line("at-path", "sluice.io/paths.auth-url", "clients get 500"), line("copies", prefix+"mirror-target", "nothing is mirrored")}, "\n"))
		record.Store("192.0.2.1")
		await("")
	})
}
