//go:build image

package certmanager

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"sluice/test/cluster"
)

// Where the servers of the tests listen.
const (
	sluiceAddress = "10.255.80.80"
	acmeAddress   = "127.0.0.1:14000"
	rootsAddress  = "127.0.0.1:15000"
	dnsAddress    = "127.0.0.1:8053"
)

// world is a cluster with cert-manager, an ACME server, and Sluice as the chart installs it.
type world struct {
	*cluster.Cluster
	objects  dynamic.Interface
	replicas []*replica
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := cluster.Start(t)
	objects, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &world{Cluster: c, objects: objects}
}

// certificates is the resource of cert-manager's Certificates.
var certificates = schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}

// startCertManager starts cert-manager, and the servers that it needs for ACME.
func (w *world) startCertManager(t *testing.T) {
	t.Helper()
	kinds, err := os.ReadFile(program(t, "crds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.ApplyYAML(t, string(kinds))
	cluster.Eventually(t, "the kinds of cert-manager", func(ctx context.Context) error {
		_, err := w.objects.Resource(certificates).List(ctx, metav1.ListOptions{})
		return err
	})
	w.launch(t, "pebble-challtestsrv", "-dnsserver", dnsAddress, "-defaultIPv4", sluiceAddress, "-defaultIPv6", "",
		"-management", "127.0.0.1:8055", "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
	w.startPebble(t)
	access := w.Kubeconfig(t, "cert-manager", "system:masters")
	w.launch(t, "cert-manager", "controller", "-kubeconfig", access, "-nameserver", dnsAddress, "-dns01-check-retry-period", "1s", "-concurrent-workers", "20")
	w.launch(t, "cert-manager", "cainjector", "-kubeconfig", access)
}

// startPebble starts the ACME server. A host that it has validated needs no second challenge, and it
// does not wait before it validates.
func (w *world) startPebble(t *testing.T) {
	t.Helper()
	certificate, key, err := w.ServingFiles("acme", []string{"localhost"}, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(w.Dir(), "pebble.json")
	content := fmt.Sprintf(`{"pebble": {"listenAddress": %q, "managementListenAddress": %q, "certificate": %q, "privateKey": %q,
		"httpPort": 80, "tlsPort": 443, "keyAlgorithm": "ecdsa", "retryAfter": {"authz": 1, "order": 1}}}`, acmeAddress, rootsAddress, certificate, key)
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_AUTHZREUSE", "100")
	w.launch(t, "pebble", "-config", config, "-dnsserver", dnsAddress)
	cluster.EventuallyStatus(t, w.acme("/dir"), http.StatusOK)
}

// acme is a request to the ACME server.
func (w *world) acme(path string) cluster.Request {
	return cluster.Request{URL: "https://" + acmeAddress + path, Roots: w.Roots()}
}

// acmeRoots are the authorities of the certificates that the ACME server issues.
func (w *world) acmeRoots(t *testing.T) *x509.CertPool {
	t.Helper()
	answer := cluster.EventuallyStatus(t, cluster.Request{URL: "https://" + rootsAddress + "/roots/0", Roots: w.Roots()}, http.StatusOK)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(answer.Body)) {
		t.Fatalf("no certificate: %s", answer.Body)
	}
	return roots
}

// launch runs a program until the end of the test.
func (w *world) launch(t *testing.T, name string, arguments ...string) {
	t.Helper()
	label := name
	if name == "cert-manager" {
		label += "-" + arguments[0]
	}
	if _, err := w.Launch(label, exec.Command(program(t, name), arguments...)); err != nil {
		t.Fatal(err)
	}
}

// program is the path of a file of the set cert-manager.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := cluster.CertManagerProgram(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// certificateReady waits until cert-manager has issued a Certificate.
func (w *world) certificateReady(t *testing.T, namespace, name string) {
	t.Helper()
	cluster.Eventually(t, "the certificate "+name, func(ctx context.Context) error {
		found, err := w.objects.Resource(certificates).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if conditionOf(found, "Ready") != "True" {
			return errors.New("it is not ready")
		}
		return nil
	})
}
