package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"sluice/test/kit"
)

func TestMain(m *testing.M) { Main(m) }

func TestStarts(t *testing.T) {
	began := time.Now()
	c := Shared(t)
	version, err := c.Admin().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Kubernetes %s was up after %.1f s", version, time.Since(began).Seconds())
	nodes, err := c.Admin().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 2 {
		t.Errorf("the nodes are %v, %v", nodes.Items, err)
	}
}

// clientsOf gives the clients of whom a kubeconfig is for.
func clientsOf(t *testing.T, kubeconfig string) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

func TestAccountsMayDoWhatIsGranted(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	here, elsewhere := c.NewNamespace(t, "rights"), c.NewNamespace(t, "others")
	read := Allow("", []string{"secrets"}, "list")
	for _, account := range []struct {
		name           string
		kubeconfig     string
		here, anywhere bool
	}{
		{"nothing granted", c.Account(t, here, "nobody"), false, false},
		{"granted in one namespace", c.Account(t, here, "here", Within(here, read)), true, false},
		{"granted everywhere", c.Account(t, here, "anywhere", Everywhere(read)), true, true},
		{"a user of no group", c.Kubeconfig(t, "jane"), false, false},
		{"an administrator", c.Kubeconfig(t, "root", "system:masters"), true, true},
	} {
		t.Run(account.name, func(t *testing.T) {
			clients := clientsOf(t, account.kubeconfig)
			for namespace, may := range map[string]bool{here: account.here, elsewhere: account.anywhere, "": account.anywhere} {
				// The API server hears of new rights by watches, so not at once.
				Eventually(t, fmt.Sprintf("may=%t in %q", may, namespace), func(ctx context.Context) error {
					_, err := clients.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
					if may == (err == nil) && (err == nil || apierrors.IsForbidden(err)) {
						return nil
					}
					return fmt.Errorf("got %v", err)
				})
			}
		})
	}
}

func TestApplyAndDelete(t *testing.T) {
	c := Shared(t)
	const text = `
kind: ConfigMap
apiVersion: v1
metadata: {name: one, namespace: applied}
data: {a: "%s"}
---
kind: ConfigMap
apiVersion: v1
metadata: {name: two}
`
	c.Apply(t, Namespace("applied"))
	for _, value := range []string{"first", "second"} {
		c.ApplyYAML(t, fmt.Sprintf(text, value))
		one, err := c.Admin().CoreV1().ConfigMaps("applied").Get(t.Context(), "one", metav1.GetOptions{})
		if err != nil || one.Data["a"] != value {
			t.Fatalf("after applying %q: %v, %v", value, one.Data, err)
		}
		one.Data["a"] = "an object that was read"
		c.Apply(t, one)
	}
	if _, err := c.Admin().CoreV1().ConfigMaps("default").Get(t.Context(), "two", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	c.DeleteYAML(t, text)
	c.Delete(t, Namespace("applied")) // the namespace controller has to empty it
	if _, err := c.Admin().CoreV1().Namespaces().Get(t.Context(), "applied", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: %v", err)
	}
}

func TestAPIServerStopsAndStarts(t *testing.T) {
	t.Parallel()
	c := Start(t)
	c.Apply(t, Web("outage", "web", 1)...)
	before := c.AwaitEndpoints(t, "outage", "web", 1)
	began := time.Now()
	c.StopAPIServer(t)
	if _, err := c.Admin().ServerVersion(); err == nil {
		t.Error("the API server answers though it was stopped")
	}
	EventuallyStatus(t, Request{URL: at(before[0])}, http.StatusOK)
	c.StartAPIServer(t)
	t.Logf("it was stopped and up again after %.1f s", time.Since(began).Seconds())
	if after := c.AwaitEndpoints(t, "outage", "web", 1); after[0] != before[0] {
		t.Errorf("the endpoints were %q and are %q", before, after)
	}
	began = time.Now()
	c.Apply(t, Deployment("outage", "web", 2))
	c.AwaitEndpoints(t, "outage", "web", 2)
	t.Logf("the controllers and nodes were back after %.1f s more", time.Since(began).Seconds())
}

func TestCompactionMakesOldWatchesGone(t *testing.T) {
	t.Parallel()
	c := Start(t)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "changing"}}
	var versions []string
	for _, value := range []string{"1", "2", "3"} {
		object.Data = map[string]string{"value": value}
		c.Apply(t, object)
		read, err := c.Admin().CoreV1().ConfigMaps("default").Get(t.Context(), "changing", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, read.ResourceVersion)
	}
	if err := firstEvent(t, c, versions[0]); err != nil {
		t.Errorf("before the compaction: %v", err)
	}
	c.CompactEtcd(t)
	if err := firstEvent(t, c, versions[0]); !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("after the compaction: %v, want 410", err)
	}
}

// firstEvent watches ConfigMaps from a version, and gives what is wrong with the
// first event.
func firstEvent(t *testing.T, c *Cluster, version string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
	defer cancel()
	w, err := c.Admin().CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return err
	}
	defer w.Stop()
	event, open := <-w.ResultChan()
	if !open {
		return errors.New("the watch ended without an event")
	}
	if event.Type == watch.Error {
		return apierrors.FromObject(event.Object)
	}
	return nil
}
