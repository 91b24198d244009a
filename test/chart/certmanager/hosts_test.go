//go:build image

package certmanager

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"sluice/test/cluster"
)

// shop is the namespace of the hosts, below domain.
const (
	shop   = "shop"
	domain = ".acme.example"
)

// issuer validates hosts by Ingresses of the class nginx, which SOLVER names. The ports of solver pods
// are left to runSolvers.
const issuer = `
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: NAME}
spec:
  acme:
    server: https://` + acmeAddress + `/dir
    caBundle: AUTHORITY
    privateKeySecretRef: {name: NAME}
    solvers:
    - http01: {ingress: {SOLVER: nginx, podTemplate: {metadata: {annotations: {` + cluster.UnheardAnnotation + `: "true"}}}}}
---
`

// The issuers, by how their solver's Ingresses name the class: by the field, and by the annotation.
const (
	byField      = "ingressClassName"
	byAnnotation = "class"
)

// applyIssuers makes the issuers, which trust an authority.
func (w *world) applyIssuers(t *testing.T, authority []byte) {
	t.Helper()
	for _, solver := range []string{byField, byAnnotation} {
		w.ApplyYAML(t, strings.NewReplacer("NAME", strings.ToLower(solver), "SOLVER", solver, "AUTHORITY", base64.StdEncoding.EncodeToString(authority)).Replace(issuer))
	}
}

// hostCase is an Ingress that gets its certificate by the annotations of cert-manager.
type hostCase struct {
	// annotations are without the prefix of nginx, if they have none.
	annotations map[string]string
	path        string
	// also is a further host of the certificate, by its first label, "" for none.
	also   string
	issuer string // that of byField if empty
	// status is the answer to a request without credentials, by HTTPS.
	status int
}

// hostCases are by the first label of the host, the name of the Ingress, and that of its Secret.
var hostCases = map[string]hostCase{
	"plain":     {status: http.StatusOK},
	"classed":   {issuer: byAnnotation, status: http.StatusOK},
	"forced":    {annotations: map[string]string{"force-ssl-redirect": "true"}, status: http.StatusOK},
	"basic":     {annotations: map[string]string{"auth-type": "basic", "auth-secret": "users"}, status: http.StatusUnauthorized},
	"denied":    {annotations: map[string]string{"whitelist-source-range": "198.51.100.0/24"}, status: http.StatusForbidden},
	"external":  {annotations: map[string]string{"auth-url": "http://10.255.80.81/"}, status: http.StatusInternalServerError},
	"regex":     {annotations: map[string]string{"use-regex": "true"}, path: "/.*", status: http.StatusOK},
	"rewritten": {annotations: map[string]string{"rewrite-target": "/inner/$1"}, path: "/(.*)", status: http.StatusOK},
	"moved":     {annotations: map[string]string{"permanent-redirect": "https://elsewhere.example"}, status: http.StatusMovedPermanently},
	"twice":     {annotations: map[string]string{"from-to-www-redirect": "true"}, also: "www.twice", status: http.StatusOK},
	"alias":     {annotations: map[string]string{"server-alias": "other" + domain}, also: "other", status: http.StatusOK},
	"clients":   {annotations: map[string]string{"auth-tls-secret": shop + "/authority"}, status: http.StatusBadRequest},
	"in-place":  {annotations: map[string]string{"acme.cert-manager.io/http01-edit-in-place": "true", "auth-type": "basic", "auth-secret": "users"}, status: http.StatusUnauthorized},
}

func (h hostCase) ingress(name string) *networkingv1.Ingress {
	rule := cluster.Rule(name+domain, "/", "web", 80)
	if h.path != "" {
		rule.HTTP.Paths[0].Path, rule.HTTP.Paths[0].PathType = h.path, new(networkingv1.PathTypeImplementationSpecific)
	}
	ing := cluster.Ingress(shop, name, rule)
	ing.Annotations = map[string]string{"cert-manager.io/cluster-issuer": strings.ToLower(cmp.Or(h.issuer, byField))}
	for key, value := range h.annotations {
		if !strings.Contains(key, "/") {
			key = "nginx.ingress.kubernetes.io/" + key
		}
		ing.Annotations[key] = value
	}
	ing.Spec.TLS = []networkingv1.IngressTLS{{Hosts: h.hosts(name), SecretName: name}}
	return ing
}

// hosts are those of the certificate.
func (h hostCase) hosts(name string) []string {
	all := []string{name + domain}
	if h.also != "" {
		all = append(all, h.also+domain)
	}
	return all
}

// testHosts: the ACME server validates each host through Sluice's own port, beside the Ingress of the host,
// and its certificate is presented. A renewal takes no reload.
func testHosts(t *testing.T, w *world) {
	authority, err := os.ReadFile(w.AuthorityFile())
	if err != nil {
		t.Fatal(err)
	}
	w.Apply(t, cluster.Web(shop, "web", 2)...)
	w.Apply(t,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "users"}, Data: map[string][]byte{"auth": []byte("bar:{SHA}Ys23Ag/5IOWqZCw9QGaVDdHwH00=\n")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "authority"}, Data: map[string][]byte{"ca.crt": authority}})
	w.applyIssuers(t, authority)
	w.runSolvers(t)
	t.Cleanup(func() { w.showChallenges(t) })
	for name, h := range hostCases {
		w.Apply(t, h.ingress(name))
	}
	began := time.Now()
	roots := w.acmeRoots(t)
	for name := range hostCases {
		w.certificateReady(t, shop, name)
	}
	t.Logf("%d certificates were issued after %.1f s", len(hostCases), time.Since(began).Seconds())
	for name, h := range hostCases {
		for _, host := range h.hosts(name) {
			request := cluster.Request{URL: "https://" + host + "/", To: sluiceAddress + ":443", Roots: roots}
			cluster.EventuallyAnswer(t, request, fmt.Sprintf("%d and a certificate of the ACME server", h.status), func(a *cluster.Answer) bool {
				return a.Status == h.status || host != name+domain
			})
		}
	}
	t.Logf("they were presented after %.1f s", time.Since(began).Seconds())
	w.awaitNoSolvers(t)
	plain := cluster.Request{URL: "http://plain" + domain + "/", To: sluiceAddress + ":80"}
	cluster.EventuallyStatus(t, plain, http.StatusPermanentRedirect)
	w.renewsWithoutReload(t, "plain", cluster.Request{URL: "https://plain" + domain + "/", To: sluiceAddress + ":443", Roots: roots})
}

// showChallenges shows why challenges are not over if the test has failed.
func (w *world) showChallenges(t *testing.T) {
	if !t.Failed() {
		return
	}
	resource := schema.GroupVersionResource{Group: "acme.cert-manager.io", Version: "v1", Resource: "challenges"}
	list, err := w.objects.Resource(resource).List(context.WithoutCancel(t.Context()), metav1.ListOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	for _, challenge := range list.Items {
		host, _, _ := unstructured.NestedString(challenge.Object, "spec", "dnsName")
		t.Logf("the challenge of %s: %v", host, challenge.Object["status"])
	}
}

// awaitNoSolvers waits until all challenges are over, their Ingresses deleted, and served no more.
func (w *world) awaitNoSolvers(t *testing.T) {
	t.Helper()
	cluster.Eventually(t, "the end of the challenges", func(ctx context.Context) error {
		list, err := w.Admin().NetworkingV1().Ingresses(shop).List(ctx, metav1.ListOptions{LabelSelector: solverLabel})
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("the Ingress %s is still there", list.Items[0].Name)
		}
		if err != nil {
			return err
		}
		conf, err := os.ReadFile(filepath.Join(w.replicas[0].State, "nginx.conf"))
		if err == nil && strings.Contains(string(conf), "acme-challenge") {
			err = errors.New("nginx serves a challenge still")
		}
		return err
	})
}

// renewsWithoutReload: the ACME server has validated the host before, so that there is no other challenge.
func (w *world) renewsWithoutReload(t *testing.T, name string, request cluster.Request) {
	t.Helper()
	before := cluster.EventuallyStatus(t, request, http.StatusOK).Certificate.SerialNumber
	reloads := w.settledReloads(t)
	w.renew(t, shop, name)
	cluster.EventuallyAnswer(t, request, "the renewed certificate", func(a *cluster.Answer) bool {
		return a.Certificate.SerialNumber.Cmp(before) != 0
	})
	if now := w.settledReloads(t); now != reloads {
		t.Errorf("%d reloads", now-reloads)
	}
}

// settledReloads waits until there was no reload for two seconds, and returns the number of reloads. A
// reload is logged only when the former workers have ended.
func (w *world) settledReloads(t *testing.T) (count int) {
	t.Helper()
	since := time.Now()
	cluster.Eventually(t, "two seconds without a reload", func(context.Context) error {
		if now := w.replicas[0].Log.Reloads(t); now != count {
			count, since = now, time.Now()
		}
		if time.Since(since) < 2*time.Second {
			return fmt.Errorf("there are %d", count)
		}
		return nil
	})
	return count
}
