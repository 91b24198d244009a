package cluster

import (
	"net/url"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
)

// The certificate is that of the Secret whose tls item has the host, by SNI, also
// where one Secret is for several hosts or for a wildcard; else the default one.
func TestConformanceTLS(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name = "conform-tls"
	c.Apply(t, Web(name, "web", 1)...)
	general := c.TLSSecret(t, name, "general", "general.example")
	one, two, wild := c.TLSSecret(t, name, "one", "one.tls.example"), c.TLSSecret(t, name, "two", "two.tls.example", "three.tls.example"), c.TLSSecret(t, name, "wild", "*.wild.tls.example")
	ing := ingressOf(name, name, "web")
	for _, host := range []string{"one.tls.example", "two.tls.example", "three.tls.example", "*.wild.tls.example"} {
		ing.Spec.Rules = append(ing.Spec.Rules, Rule(host, "/", "web", 80))
	}
	ing.Spec.TLS = []networkingv1.IngressTLS{
		{Hosts: []string{"one.tls.example"}, SecretName: "one"}, {Hosts: []string{"two.tls.example", "three.tls.example"}, SecretName: "two"},
		{Hosts: []string{"*.wild.tls.example"}, SecretName: "wild"},
	}
	s := newSite(t, c, name, "--default-ssl-certificate", name+"/general")
	c.Apply(t, general, one, two, wild, ingressOf(name, name, "plain", Rule("plain.tls.example", "/", "web", 80)), ing)
	at := func(host string) Request { return s.Request("https://" + host + "/") }
	// Certificates are there a moment before the hosts are.
	steady(t, "the pod and its certificate", at("one.tls.example"), func(a *Answer) bool { return from("web")(a) && isCertificate(certificateIn(t, one))(a) })
	for host, secret := range map[string]string{
		"one.tls.example": "one", "two.tls.example": "two", "three.tls.example": "two", "x.wild.tls.example": "wild",
		"plain.tls.example": "general", "nosuch.example": "general", "a.b.wild.tls.example": "general",
	} {
		for _, o := range []struct {
			name   string
			wanted func(*Answer) bool
		}{{"one", isCertificate(certificateIn(t, one))}, {"two", isCertificate(certificateIn(t, two))}, {"wild", isCertificate(certificateIn(t, wild))}, {"general", isCertificate(certificateIn(t, general))}} {
			if o.name == secret {
				must(t, at(host), "the certificate of "+secret, o.wanted)
			}
		}
	}
	trusting := at("two.tls.example")
	trusting.Roots = c.Roots()
	must(t, trusting, "the pod, for a client that verifies", from("web"))
	must(t, s.get("one.tls.example", "/a/b"), "a redirect to HTTPS", func(a *Answer) bool {
		to, err := url.Parse(a.Header.Get("Location"))
		return err == nil && a.Status == 308 && to.Scheme == "https" && to.Hostname() == "one.tls.example" && to.Path == "/a/b"
	})
	must(t, s.get("plain.tls.example", "/"), "no redirect for an Ingress without tls items", from("web"))

	renewed := c.TLSSecret(t, name, "general", "general.example")
	takes(t, "another default certificate", func() { c.Apply(t, renewed) }, at("nosuch.example"), isCertificate(certificateIn(t, renewed)))
	takes(t, "another certificate of a host", func() { c.Apply(t, c.TLSSecret(t, name, "one", "one.tls.example")) }, at("one.tls.example"),
		func(a *Answer) bool { return !isCertificate(certificateIn(t, one))(a) && shows("one.tls.example")(a) })
	ing.Spec.TLS = ing.Spec.TLS[1:]
	takes(t, "no tls item any more for a host", func() { c.Apply(t, ing) }, at("one.tls.example"), isCertificate(certificateIn(t, renewed)))
}
