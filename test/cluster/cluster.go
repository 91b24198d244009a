// Package cluster gives tests a real control plane of Kubernetes: etcd,
// kube-apiserver with authorization, and the controllers of
// kube-controller-manager that make pods and EndpointSlices. Only the nodes are
// stand-ins: they give each pod an address of its own on which it really
// listens, and end it as a kubelet does. Exec and logs are those of the processes
// that tests bind to containers; ports are forwarded to the pod's address.
//
// All of it, with the tests themselves, the sluice under test, its nginx and the
// clients, runs in a network namespace that ends with the test binary:
//
//	func TestMain(m *testing.M) { cluster.Main(m) }
//
//	func TestShop(t *testing.T) {
//		c := cluster.Start(t) // or cluster.Shared(t): one for all tests of the package
//		ns := c.NewNamespace(t, "shop")
//		c.Apply(t, cluster.Web(ns, "web", 3)...)
//		c.Apply(t, cluster.IngressClass("nginx"), cluster.Ingress(ns, "web", cluster.Rule("shop.example", "/", "web", 80)))
//		c.AwaitEndpoints(t, ns, "web", 3)
//		s := cluster.RunSluice(t, c.Account(t, "sluice", "controller", cluster.Everywhere(rules...)))
//		answer := cluster.EventuallyStatus(t, s.Request("http://shop.example/"), 200)
//		t.Log(answer.Echo.Pod)
//	}
//
// `make cluster` builds the control plane into .cache, some six minutes the first
// time; SLUICE_CLUSTER_CACHE names another folder that holds it.
package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"sluice/test/kit"
)

// Cluster is a running control plane with its nodes.
type Cluster struct {
	// Address is where the API server listens, at port 6443, and etcd.
	Address string

	dir       string
	binaries  string
	authority *authority
	admin     *rest.Config
	clients   *kubernetes.Clientset
	applier   *applier
	nodes     *nodes // nil if whole
	audit     *audit // nil if there is none
	whole     bool   // see Whole

	etcd, api, controllers *kit.Process
	launched               []string // the names of the programs that were started
	// files counts the files that were written, so that each has its own name.
	files atomic.Int64
}

// Start runs a cluster until the end of the test. If the test fails, the ends
// of the logs are shown.
func Start(t testing.TB, options ...Option) *Cluster {
	t.Helper()
	c, err := start(t.TempDir(), options...)
	if c != nil {
		t.Cleanup(func() {
			c.showLogs(t)
			c.stop()
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shared is the cluster that all tests of a package have in common.
var shared struct {
	once    sync.Once
	cluster *Cluster
	err     error
}

// Shared gives the cluster that the tests of this package have in common. It is
// started by the first that asks, and ended by Main. Tests keep out of each
// other's way by namespaces of their own; one that stops the API server wants a
// cluster of its own, by Start. The options are those of the first that asks.
func Shared(t testing.TB, options ...Option) *Cluster {
	t.Helper()
	shared.once.Do(func() {
		var dir string // it is beside the sluice under test, and goes with it
		if dir, shared.err = os.MkdirTemp(filepath.Dir(SluicePath()), "cluster-"); shared.err == nil {
			shared.cluster, shared.err = start(dir, options...)
		}
	})
	if shared.cluster != nil {
		t.Cleanup(func() { shared.cluster.showLogs(t) })
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

// stopShared ends the shared cluster, if there is one.
func stopShared() {
	if shared.cluster != nil {
		shared.cluster.stop()
	}
}

// started counts the clusters of this process: each has an address of its own.
var started atomic.Int64

// start runs a cluster with its files in a folder. Where it fails, the cluster
// is given as far as it came, for its logs; it must be stopped all the same.
func start(dir string, options ...Option) (*Cluster, error) {
	if !Inside() {
		return nil, fmt.Errorf("a cluster needs a network namespace of its own: the package's TestMain has to call cluster.Main")
	}
	binaries, err := findBinaries(planeSet)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Address: fmt.Sprintf("10.255.%d.1", started.Add(1)-1), dir: dir, binaries: binaries}
	for _, option := range options {
		option(c)
	}
	if c.authority, err = newAuthority(dir, c.Address); err != nil {
		return c, fmt.Errorf("make the cluster's certificates: %w", err)
	}
	if err := c.connect(); err != nil {
		return c, err
	}
	if err := c.startEtcd(); err != nil {
		return c, err
	}
	if err := c.startAPIServer(); err != nil {
		return c, err
	}
	if err := c.startControllers(); err != nil {
		return c, err
	}
	if c.whole {
		return c, nil
	}
	if c.nodes, err = startNodes(c); err != nil {
		return c, fmt.Errorf("start the nodes: %w", err)
	}
	return c, nil
}

// connect makes the clients of the cluster's administrator. They say nothing to
// the API server yet.
func (c *Cluster) connect() error {
	var err error
	if c.admin, err = c.configOf("admin", "system:masters"); err != nil {
		return err
	}
	compact := c.Config() // protobuf costs the API server and the tests less than JSON
	compact.ContentType, compact.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	if c.clients, err = kubernetes.NewForConfig(compact); err != nil {
		return err
	}
	c.applier, err = newApplier(c.admin)
	return err
}

// stop ends everything, clients before servers.
func (c *Cluster) stop() {
	if c.nodes != nil {
		c.nodes.stop()
	}
	for _, p := range []*kit.Process{c.controllers, c.api, c.etcd} {
		if p != nil {
			p.Stop(syscall.SIGKILL, kit.Patience) // nothing of it is wanted any more
		}
	}
}

// Admin gives the clientset of the cluster's administrator. It is not held back
// by a limit of requests.
func (c *Cluster) Admin() *kubernetes.Clientset { return c.clients }

// Config gives the administrator's access, to make other clients with.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// StopAPIServer ends the API server, as if its machine had died. Whoever watches
// loses the connection, and finds nobody until StartAPIServer.
func (c *Cluster) StopAPIServer(t testing.TB) {
	t.Helper()
	c.api.Stop(syscall.SIGKILL, kit.Patience)
}

// StartAPIServer starts the API server again, at the same address and with the
// same etcd, and waits until it is ready.
func (c *Cluster) StartAPIServer(t testing.TB) {
	t.Helper()
	if !c.api.Ended() {
		t.Fatal("the API server runs already")
	}
	if err := c.startAPIServer(); err != nil {
		t.Fatal(err)
	}
}

// CompactEtcd makes the cluster forget its history: a watch from an older
// resourceVersion is answered with 410 Gone. The API server remembers events by
// itself too, since its start; so if it runs it is started anew.
func (c *Cluster) CompactEtcd(t testing.TB) {
	t.Helper()
	running := !c.api.Ended()
	if running {
		c.StopAPIServer(t)
	}
	if err := compact(t.Context(), c.etcdURL()); err != nil {
		t.Fatalf("compact etcd: %v", err)
	}
	if running {
		c.StartAPIServer(t)
	}
}

// startAPIServer waits until the API server is ready, and has made the
// namespaces that every cluster has.
func (c *Cluster) startAPIServer() error {
	audit, err := c.audit.flags()
	if err != nil {
		return err
	}
	if c.api, err = c.launch("kube-apiserver", append(c.apiServerFlags(), audit...)...); err != nil {
		return err
	}
	return c.awaitUp("kube-apiserver", c.api, func(ctx context.Context) error {
		if err := c.clients.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
			return err
		}
		return c.clients.RESTClient().Get().AbsPath("/api/v1/namespaces/default").Do(ctx).Error()
	})
}

func (c *Cluster) startEtcd() error {
	var err error
	if c.etcd, err = c.launch("etcd", c.etcdFlags()...); err != nil {
		return err
	}
	return c.awaitUp("etcd", c.etcd, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.etcdURL()+"/health", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("/health answers %s", response.Status)
		}
		return nil
	})
}

func (c *Cluster) startControllers() error {
	kubeconfig, err := c.writeKubeconfig(c.admin)
	if err != nil {
		return err
	}
	c.controllers, err = c.launch("kube-controller-manager", c.controllerFlags(kubeconfig)...)
	return err
}
