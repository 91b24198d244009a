package cluster

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
)

// Whichever way Secrets are watched, a certificate is presented when it comes
// after its Ingress, is renewed, goes and comes back.
func TestSecretsComeChangeAndGo(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"metadata", "referenced", "all"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			name := "secrets-" + mode
			s := newSite(t, Shared(t), name, "--watch-secrets", mode)
			s.web(t, "web", 1)
			host := name + ".example"
			s.Apply(t, covered(s.ingress("web", Rule(host, "/", "web", 80)), "cert", host))
			request := s.Request("https://" + host + "/")
			EventuallyAnswer(t, request, "the pod, with the default certificate", func(a *Answer) bool { return from("web")(a) && s.fallback(a) })
			for _, what := range []string{"created", "renewed", "renewed again"} {
				secret := s.TLSSecret(t, name, "cert", host)
				takes(t, what, func() { s.Apply(t, secret) }, request, isCertificate(certificateIn(t, secret)))
			}
			bad := s.TLSSecret(t, name, "cert", host)
			bad.Data[corev1.TLSCertKey] = []byte("no certificate")
			takes(t, "spoilt", func() { s.Apply(t, bad) }, request, s.fallback)
			secret := s.TLSSecret(t, name, "cert", host)
			takes(t, "mended", func() { s.Apply(t, secret) }, request, isCertificate(certificateIn(t, secret)))
			takes(t, "deleted", func() { s.Delete(t, secret) }, request, s.fallback)
			takes(t, "created again", func() { s.Apply(t, secret) }, request, isCertificate(certificateIn(t, secret)))

			// Nothing refers to it for a while, in which it is renewed.
			s.Apply(t, s.ingress("web", Rule(host, "/", "web", 80)))
			// The certificate stays until the workers before have drained, the redirect
			// to HTTPS does not.
			EventuallyAnswer(t, s.get(host, "/"), "no redirect", from("web"))
			secret = s.TLSSecret(t, name, "cert", host)
			s.Apply(t, secret)
			takes(t, "referred to again", func() { s.Apply(t, covered(s.ingress("web", Rule(host, "/", "web", 80)), "cert", host)) },
				request, isCertificate(certificateIn(t, secret)))
		})
	}
}

// readAll are the rights that a sluice needs besides those to Secrets.
func readAll() []rbacv1.PolicyRule {
	read := []string{"get", "list", "watch"}
	return []rbacv1.PolicyRule{
		Allow("networking.k8s.io", []string{"ingresses", "ingressclasses"}, read...), Allow("discovery.k8s.io", []string{"endpointslices"}, read...),
		Allow("", []string{"services", "configmaps", "namespaces"}, read...),
	}
}

// With the right to get two Secrets and no others, referenced Secrets do: the
// certificate of one that may be read is presented and renewed, and an Ingress
// that refers to one that may not holds up nobody.
func TestReferencedSecretsNeedNoOtherRights(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name = "named-only"
	c.Apply(t, Web(name, "web", 1)...)
	mine, theirs := c.TLSSecret(t, name, "mine", "mine.example"), c.TLSSecret(t, name, "theirs", "theirs.example")
	c.Apply(t, classOf(name), mine, theirs, covered(ingressOf(name, name, "mine", Rule("mine.example", "/", "web", 80)), "mine", "mine.example"))
	named := Allow("", []string{"secrets"}, "get")
	named.ResourceNames = []string{"mine", "late"}
	account := c.Account(t, name, "sluice", Everywhere(readAll()...), Within(name, named))
	s := &site{Cluster: c, name: name, Sluice: RunSluice(t, account, flagsFor(name, "--watch-secrets", "referenced")...)}
	EventuallyAnswer(t, s.Request("https://mine.example/"), "its certificate", isCertificate(certificateIn(t, mine)))

	s.Apply(t, covered(s.ingress("theirs", Rule("theirs.example", "/", "web", 80)), "theirs", "theirs.example"))
	EventuallyAnswer(t, s.Request("https://theirs.example/"), "the pod, with the default certificate", func(a *Answer) bool { return from("web")(a) && s.fallback(a) })
	logged(t, s.Sluice, "level=ERROR", "Secret named-only/theirs", "forbidden")
	logged(t, s.Sluice, "spec.tls[0].secretName", "Sluice has no permission to read Secret named-only/theirs")
	late := s.TLSSecret(t, name, "late", "late.example")
	s.Apply(t, covered(s.ingress("late", Rule("late.example", "/", "web", 80)), "late", "late.example"))
	takes(t, "a Secret that came after its Ingress, beside the forbidden one", func() { s.Apply(t, late) }, s.Request("https://late.example/"), isCertificate(certificateIn(t, late)))
	renewed := s.TLSSecret(t, name, "mine", "mine.example")
	takes(t, "renewed, beside the forbidden one", func() { s.Apply(t, renewed) }, s.Request("https://mine.example/"), isCertificate(certificateIn(t, renewed)))
	if got := countLogged(t, s.Sluice, "level=ERROR", "Secret named-only/theirs"); got != 1 {
		t.Errorf("that it is forbidden is said %d times", got)
	}
	s.relaunch(t)
	EventuallyAnswer(t, s.Request("https://mine.example/"), "its certificate, after a start with the forbidden one", isCertificate(certificateIn(t, renewed)))
}

// relaunch ends the sluice and starts it again.
func (s *Sluice) relaunch(t testing.TB) {
	t.Helper()
	s.Terminate()
	s.Launch(t)
	s.AwaitReady(t)
}

// With the metadata of Secrets, the content of those is read that something refers
// to, and of no others: all that is asked about Secrets is looked at on its way.
func TestMetadataReadsNoOtherSecrets(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name = "metadata-only"
	c.Apply(t, Web(name, "web", 1)...)
	mine := c.TLSSecret(t, name, "mine", "mine.example")
	c.Apply(t, classOf(name), mine, covered(ingressOf(name, name, "mine", Rule("mine.example", "/", "web", 80)), "mine", "mine.example"))
	others := c.TLSSecret(t, name, "", "mine.example")
	for i := range 10 {
		others.Name = fmt.Sprintf("other-%d", i)
		c.Apply(t, others)
	}
	kubeconfig, asked := overhear(t, c)
	s := &site{Cluster: c, name: name, Sluice: RunSluice(t, kubeconfig, flagsFor(name)...)}
	request := s.Request("https://mine.example/")
	EventuallyAnswer(t, request, "its certificate", isCertificate(certificateIn(t, mine)))
	for i := range 10 {
		others.Name, others.Labels = fmt.Sprintf("other-%d", i), map[string]string{"changed": "yes"}
		c.Apply(t, others)
	}
	renewed := s.TLSSecret(t, name, "mine", "mine.example")
	takes(t, "renewed, after changes of others", func() { s.Apply(t, renewed) }, request, isCertificate(certificateIn(t, renewed)))
	const mineAlone = "metadata.name=mine"
	reads := 0
	for _, r := range asked() {
		metadata := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
		switch {
		case r.URL.Path == "/api/v1/namespaces/metadata-only/secrets" && r.URL.Query().Get("fieldSelector") == mineAlone:
			reads++
		case strings.Contains(r.URL.Path, "/secrets") && !metadata:
			t.Errorf("content was asked for: %s", r.URL)
		}
	}
	if reads < 2 || reads > 4 {
		t.Errorf("the Secret that is referred to was read %d times, want about twice", reads)
	}
}

// overhear gives a kubeconfig of the administrator that leads through this
// process, and what was asked there so far.
func overhear(t testing.TB, c *Cluster) (kubeconfig string, asked func() []*http.Request) {
	t.Helper()
	transport, err := rest.TransportFor(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(c.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var requests []*http.Request
	proxy := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, r.In.Clone(context.Background()))
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.CloseClientConnections)
	return c.mustWriteKubeconfig(t, &rest.Config{Host: server.URL}), func() []*http.Request {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(requests)
	}
}
