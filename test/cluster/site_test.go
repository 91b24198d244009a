package cluster

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// site is a namespace, a class and a sluice that serves it, all of one name. Its
// sluice writes no status, so that nothing changes but by the test.
type site struct {
	*Cluster
	*Sluice
	name string
}

// newSite runs a sluice for a class and a namespace of a test's own.
func newSite(t testing.TB, c *Cluster, name string, flags ...string) *site {
	t.Helper()
	c.Apply(t, Namespace(name), classOf(name))
	return &site{Cluster: c, Sluice: runFor(t, c, name, flags...), name: name}
}

// runFor runs a sluice that serves the classes of controllerOf(name), as the
// administrator.
func runFor(t testing.TB, c *Cluster, name string, flags ...string) *Sluice {
	t.Helper()
	return RunSluice(t, c.Kubeconfig(t, "sluice-"+name, "system:masters"), flagsFor(name, flags...)...)
}

// within runs a sluice for a namespace whose account has rights there and nowhere
// else, so that it cannot read classes.
func within(t testing.TB, c *Cluster, name string) *site {
	t.Helper()
	read := []string{"get", "list", "watch"}
	account := c.Account(t, name, "sluice", Within(name,
		Allow("networking.k8s.io", []string{"ingresses"}, read...), Allow("discovery.k8s.io", []string{"endpointslices"}, read...),
		Allow("", []string{"services", "secrets", "configmaps"}, read...)))
	return &site{Cluster: c, name: name, Sluice: RunSluice(t, account, flagsFor(name, "--watch-namespace", name, "--disable-leader-election")...)}
}

// flagsFor are the flags of a sluice that has nothing to do with those of other
// tests.
func flagsFor(name string, more ...string) []string {
	return append([]string{"--ingress-class", name, "--controller-class", controllerOf(name), "--election-id", name, "--update-status=false"}, more...)
}

func controllerOf(name string) string { return "sluice.test/" + name }

// classOf is the class of a site.
func classOf(name string) *networkingv1.IngressClass {
	class := IngressClass(name)
	class.Spec.Controller = controllerOf(name)
	return class
}

// ingressOf is an Ingress of a class, in a namespace.
func ingressOf(class, namespace, name string, rules ...networkingv1.IngressRule) *networkingv1.Ingress {
	ing := Ingress(namespace, name, rules...)
	ing.Spec.IngressClassName = &class
	return ing
}

// ingress is an Ingress of the site.
func (s *site) ingress(name string, rules ...networkingv1.IngressRule) *networkingv1.Ingress {
	return ingressOf(s.name, s.name, name, rules...)
}

// web makes pods and their Service, and waits for them.
func (s *site) web(t testing.TB, name string, replicas int32) {
	t.Helper()
	s.Apply(t, Web(s.name, name, replicas)...)
	s.AwaitEndpoints(t, s.name, name, int(replicas))
}

// get is a request to the site's sluice.
func (s *site) get(host, path string) Request { return s.Request("http://" + host + path) }

// annotated gives an Ingress annotations with nginx's prefix.
func annotated(ing *networkingv1.Ingress, pairs ...string) *networkingv1.Ingress {
	ing.Annotations = map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		ing.Annotations["nginx.ingress.kubernetes.io/"+pairs[i]] = pairs[i+1]
	}
	return ing
}

// covered gives an Ingress a tls item.
func covered(ing *networkingv1.Ingress, secret string, hosts ...string) *networkingv1.Ingress {
	ing.Spec.TLS = append(ing.Spec.TLS, networkingv1.IngressTLS{Hosts: hosts, SecretName: secret})
	return ing
}

// path is a rule of one path of a type.
func path(host, path string, kind networkingv1.PathType, service string) networkingv1.IngressRule {
	rule := Rule(host, path, service, 80)
	rule.HTTP.Paths[0].PathType = &kind
	return rule
}

// takes does something, waits until a request is answered as wanted, and logs how
// long that took. Then it waits until the answer is always so.
func takes(t testing.TB, what string, do func(), r Request, wanted func(*Answer) bool) {
	t.Helper()
	do()
	reaches(t, what, r, wanted)
	steady(t, what, r, wanted)
}

// reaches waits until a request is answered as wanted, perhaps not by all that may
// answer it, and logs how long that took.
func reaches(t testing.TB, what string, r Request, wanted func(*Answer) bool) {
	t.Helper()
	began := time.Now()
	EventuallyAnswer(t, r, what, wanted)
	t.Logf("%s: %d ms", what, time.Since(began).Milliseconds())
}

// steady waits until a request is always answered as wanted: for a moment after a
// reload the workers before take some connections still.
func steady(t testing.TB, what string, r Request, wanted func(*Answer) bool) {
	t.Helper()
	Eventually(t, what+" from "+r.URL+" all the time", func(ctx context.Context) error {
		for range 20 {
			answer, err := r.Do(ctx)
			if err != nil {
				return err
			}
			if !wanted(answer) {
				return fmt.Errorf("the answer is %d %.300q", answer.Status, answer.Body)
			}
		}
		return nil
	})
}

// status wants an answer of that status.
func status(code int) func(*Answer) bool {
	return func(a *Answer) bool { return a.Status == code }
}

// from wants an answer of a pod of a Deployment.
func from(app string) func(*Answer) bool {
	return func(a *Answer) bool {
		return a.Status == http.StatusOK && a.Echo != nil && strings.HasPrefix(a.Echo.Pod, app+"-")
	}
}

// must wants an answer at once: what it is about has been there before.
func must(t testing.TB, r Request, what string, wanted func(*Answer) bool) *Answer {
	t.Helper()
	answer, err := r.Do(t.Context())
	if err != nil {
		t.Fatalf("%s: %s: %v", r.URL, what, err)
	}
	if !wanted(answer) {
		t.Fatalf("%s: want %s, got %d %.300q", r.URL, what, answer.Status, answer.Body)
	}
	return answer
}

// reloads counts those so far, and syncs all turns of the loop that were told of.
func (s *site) reloads(t testing.TB) int { return s.Log.Reloads(t) }
func (s *site) syncs(t testing.TB) int   { return len(s.Log.Lines(t, "msg=sync")) }

// awaitReload waits until a reload is told of, which is a moment after it is
// served: when the workers before have ended.
func (s *site) awaitReload(t testing.TB, of string) {
	t.Helper()
	logged(t, s.Sluice, "reload=true", of)
}

// logged waits for a line of the log that has all of some texts.
func logged(t testing.TB, s *Sluice, texts ...string) {
	t.Helper()
	Eventually(t, fmt.Sprintf("a line of the log with %q", texts), func(context.Context) error {
		if countLogged(t, s, texts...) == 0 {
			return fmt.Errorf("there is none")
		}
		return nil
	})
}

// countLogged counts the lines of the log that have all of some texts.
func countLogged(t testing.TB, s *Sluice, texts ...string) int {
	t.Helper()
	count := 0
	for _, line := range s.Log.Lines(t, "") {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			count++
		}
	}
	return count
}

// conf is the nginx.conf that runs.
func (s *site) conf(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.State, "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// shows wants a certificate for a host, and another one for "".
func shows(host string) func(*Answer) bool {
	return func(a *Answer) bool { return a.Certificate != nil && (a.Certificate.VerifyHostname(host) == nil) }
}

// isSerial wants the certificate of a Secret.
func isCertificate(c *x509.Certificate) func(*Answer) bool {
	return func(a *Answer) bool { return a.Certificate != nil && a.Certificate.Equal(c) }
}

// now reads an Ingress, for what has to be changed in place.
func (c *Cluster) ingressNow(t testing.TB, namespace, name string) *networkingv1.Ingress {
	t.Helper()
	ing, err := c.Admin().NetworkingV1().Ingresses(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ing
}
