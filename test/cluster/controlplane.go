package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sluice/test/kit"
)

func (c *Cluster) etcdURL() string { return "http://" + c.Address + ":2379" }

// etcdFlags are those of a store that nobody needs after the tests: it does not
// wait for the disk, and writes to it every second and not every 100 ms.
func (c *Cluster) etcdFlags() []string {
	peers := "http://" + c.Address + ":2380"
	return []string{
		"--data-dir=" + filepath.Join(c.dir, "etcd"), "--unsafe-no-fsync", "--backend-batch-interval=1s", "--log-level=warn",
		"--listen-client-urls=" + c.etcdURL(), "--advertise-client-urls=" + c.etcdURL(),
		"--listen-peer-urls=" + peers, "--initial-advertise-peer-urls=" + peers, "--initial-cluster=default=" + peers,
	}
}

// apiServerFlags ask for what real clusters have, authorization by RBAC above
// all. Without real nodes, the ServiceAccount admission is off, because it would
// mount tokens that no controller here gives into each pod; the kubernetes Service
// has no endpoints, because no pod asks for it. It asks webhooks at the endpoints of their Services, as
// nothing here makes a way to the addresses of Services. A request may take longer than the usual
// minute: on a busy machine, the deletion of a thousand objects does.
func (c *Cluster) apiServerFlags() []string {
	a := c.authority
	own := []string{"--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none"}
	if c.whole {
		own = []string{"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged"}
	}
	return append(own,
		"--etcd-servers="+c.etcdURL(), "--etcd-compaction-interval=0",
		"--bind-address="+c.Address, "--advertise-address="+c.Address, "--secure-port=6443",
		"--tls-cert-file="+a.serverCert, "--tls-private-key-file="+a.serverKey, "--client-ca-file="+a.file,
		"--kubelet-client-certificate="+a.kubeletCert, "--kubelet-client-key="+a.kubeletKey, "--kubelet-certificate-authority="+a.file,
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file="+a.accountKey, "--service-account-key-file="+a.accountKey,
		"--service-cluster-ip-range=10.96.0.0/16", "--enable-aggregator-routing=true",
		"--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000", "--request-timeout="+kit.Patience.String(),
	)
}

// controllerFlags name the controllers, unless there are to be all. Those that judge
// nodes are left out: stand-ins have no kubelet that reports every few seconds, and
// their pods would be evicted.
func (c *Cluster) controllerFlags(kubeconfig string) []string {
	common := []string{
		"--kubeconfig=" + kubeconfig, "--use-service-account-credentials=false",
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=1000", "--kube-api-burst=2000",
	}
	if c.whole {
		return append(common, "--service-account-private-key-file="+c.authority.accountKey, "--root-ca-file="+c.authority.file)
	}
	controllers := []string{
		"deployment-controller", "replicaset-controller", "statefulset-controller", "endpointslice-controller",
		"endpointslice-mirroring-controller", "endpoints-controller", "namespace-controller", "serviceaccount-controller",
		"garbage-collector-controller", "clusterrole-aggregation-controller",
	}
	return append(common, "--controllers="+strings.Join(controllers, ","))
}

// launch runs a program of the control plane.
func (c *Cluster) launch(name string, flags ...string) (*kit.Process, error) {
	return c.Launch(name, exec.Command(filepath.Join(c.binaries, name), flags...))
}

// Launch runs a program that belongs to the cluster, and does not outlive the tests.
// Its log is shown under its name if a test fails. The caller stops it.
func (c *Cluster) Launch(name string, command *exec.Cmd) (*kit.Process, error) {
	c.launched = append(c.launched, name)
	command.Dir = c.dir
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p, err := kit.Launch(command, c.log(name))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// awaitUp polls a program of the control plane until it is up.
func (c *Cluster) awaitUp(name string, p *kit.Process, up func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	err := poll(ctx, func(ctx context.Context) error {
		if p.Ended() {
			cancel() // it will not come up any more
			return fmt.Errorf("it ended: %v", p.Err)
		}
		return up(ctx)
	})
	if err != nil {
		return fmt.Errorf("%s does not come up: %w\n%s", name, err, c.tail(name))
	}
	return nil
}

// log is the file that a program of the control plane prints to.
func (c *Cluster) log(name string) kit.Log { return kit.Log(filepath.Join(c.dir, name+".log")) }

// tail gives the end of a log.
func (c *Cluster) tail(name string) string {
	const most = 12
	lines, err := c.log(name).Read()
	if err != nil {
		return err.Error()
	}
	return kit.Tail(strings.Split(strings.TrimSpace(lines), "\n"), most)
}

// showLogs shows the ends of the logs if the test has failed.
func (c *Cluster) showLogs(t testing.TB) {
	t.Helper()
	if !t.Failed() {
		return
	}
	names := slices.Compact(slices.Sorted(slices.Values(c.launched)))
	if c.nodes != nil {
		names = append(names, "nodes")
	}
	for _, name := range names {
		t.Logf("the end of %s's log:\n%s", name, c.tail(name))
	}
}

// compact drops all history of etcd, through its JSON gateway: etcd's own client
// would be a big dependency for two calls.
func compact(ctx context.Context, etcd string) error {
	var answer struct{ Header struct{ Revision string } }
	if err := callEtcd(ctx, etcd+"/v3/kv/range", map[string]any{"key": []byte{0}}, &answer); err != nil {
		return err
	}
	return callEtcd(ctx, etcd+"/v3/kv/compaction", map[string]any{"revision": answer.Header.Revision, "physical": true}, nil)
}

func callEtcd(ctx context.Context, url string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, kit.RequestPatience)
	defer cancel()
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(content))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
