//go:build image

package real

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"sluice/test/cluster"
	"sluice/test/kit"
)

// node is a machine of the cluster: a network and a mount namespace with what runs in
// them.
type node struct {
	cluster *cluster.Cluster
	name    string
	address string
	// pods is the network of its pods, such as 10.244.1.
	pods string
	// dir has its files. Its folders lib and log are the node's /var/lib and /var/log.
	dir    string
	holder *kit.Process // keeps the namespaces
	access string       // the kubelet's kubeconfig
	// kubelet, containerd and proxy are the programs.
	kubelet, containerd, proxy *kit.Process
}

// newNode makes the namespaces of the n-th node, and joins it to the network.
func newNode(c *cluster.Cluster, n int) (*node, error) {
	d := &node{cluster: c, name: fmt.Sprintf("node-%d", n), address: fmt.Sprintf("10.255.0.%d", 10+n), pods: fmt.Sprintf("10.244.%d", n)}
	d.dir = filepath.Join(c.Dir(), d.name)
	for _, folder := range []string{"lib", "log", "cni", "certs"} {
		if err := os.MkdirAll(filepath.Join(d.dir, folder), 0o755); err != nil {
			return nil, err
		}
	}
	if err := d.hold(); err != nil {
		return nil, err
	}
	pid := strconv.Itoa(d.holder.PID())
	if err := cluster.IP(`
link add ` + d.name + ` type veth peer name eth0 netns ` + pid + `
link set ` + d.name + ` master lan up
route add ` + d.pods + `.0/24 via ` + d.address + ` onlink dev lan
`); err != nil {
		return nil, err
	}
	err := cluster.IP(`
link set lo up
link set eth0 up
address add `+d.address+`/24 dev eth0
route add default via `+planeAddress+`
`, d.entering()...)
	// Nodes are not to tell clients of a shorter way, which would leave their connections to
	// kube-proxies that know nothing of them.
	return d, errors.Join(err, d.run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward; for name in all default eth0; do echo 0 >/proc/sys/net/ipv4/conf/$name/send_redirects; done"))
}

// hold starts the process that keeps the namespaces, and waits until they are there.
func (d *node) hold() error {
	up := filepath.Join(d.dir, "up")
	script := `set -e
mount --bind "$1/lib" /var/lib
mount --bind "$1/log" /var/log
mount -t tmpfs tmpfs /run
touch "$1/up"
exec sleep infinity`
	var err error
	d.holder, err = d.cluster.Launch(d.name, exec.Command("unshare", "--net", "--mount", "--propagation=private", "sh", "-c", script, "sh", d.dir))
	if err != nil {
		return err
	}
	return awaitFile(up, d.holder)
}

// awaitFile waits for a file that a program makes when it is up.
func awaitFile(path string, maker *kit.Process) error {
	for deadline := time.Now().Add(kit.Patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		if maker.Ended() || time.Now().After(deadline) {
			return fmt.Errorf("%s is not there, and its maker has ended: %t %v", path, maker.Ended(), maker.Err)
		}
	}
}

// path is where the tests find a file of the node.
func (d *node) path(name string) string {
	return filepath.Join("/proc", strconv.Itoa(d.holder.PID()), "root", name)
}

// entering begins a command that runs on the node.
func (d *node) entering() []string {
	pid := strconv.Itoa(d.holder.PID())
	return []string{"nsenter", "--net=/proc/" + pid + "/ns/net", "--mount=/proc/" + pid + "/ns/mnt"}
}

// command is a command on the node.
func (d *node) command(arguments ...string) *exec.Cmd {
	all := slices.Concat(d.entering(), arguments)
	return exec.Command(all[0], all[1:]...)
}

func (d *node) run(arguments ...string) error {
	if output, err := d.command(arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %s: %w: %s", d.name, strings.Join(arguments, " "), err, output)
	}
	return nil
}

// launch starts a program on the node.
func (d *node) launch(name string, arguments ...string) (*kit.Process, error) {
	return d.cluster.Launch(d.name+"-"+name, d.command(arguments...))
}

// start starts the programs of the node, which joins the cluster then.
func (d *node) start(t testing.TB) {
	t.Helper()
	d.write(t, "cni/10-bridge.conflist", cniConfig)
	d.write(t, "resolv.conf", "nameserver "+planeAddress+"\n")
	for _, host := range []string{registryHost, "registry.k8s.io"} {
		d.write(t, "certs/"+host+"/hosts.toml", registryConfig)
	}
	group, err := makeCgroup(d.name)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := d.cluster.ServingFiles(d.name, []string{d.name}, d.address)
	if err != nil {
		t.Fatal(err)
	}
	containerd := d.write(t, "containerd.toml", containerdConfig)
	if d.containerd, err = d.launch("containerd", "containerd", "--config", containerd); err != nil {
		t.Fatal(err)
	}
	if err := awaitFile(d.path("/run/containerd/containerd.sock"), d.containerd); err != nil {
		t.Fatal(err) // a kubelet would end
	}
	d.writeWith(t, "kubelet.yaml", kubeletConfig, map[string]string{"Cgroup": group, "Certificate": certificate, "Key": key})
	d.writeWith(t, "proxy.yaml", proxyConfig, map[string]string{"Kubeconfig": d.cluster.Kubeconfig(t, "system:kube-proxy")})
	d.access = d.cluster.Kubeconfig(t, "system:node:"+d.name, "system:nodes")
	d.startKubelet(t)
	if d.proxy, err = d.launch("proxy", nodeProgram(t, "kube-proxy"), "--config", filepath.Join(d.dir, "proxy.yaml")); err != nil {
		t.Fatal(err)
	}
}

// startKubelet starts the kubelet, at first or again.
func (d *node) startKubelet(t testing.TB) {
	t.Helper()
	var err error
	d.kubelet, err = d.launch("kubelet", nodeProgram(t, "kubelet"), "--config", filepath.Join(d.dir, "kubelet.yaml"), "--kubeconfig", d.access,
		"--hostname-override", d.name, "--node-ip", d.address)
	if err != nil {
		t.Fatal(err)
	}
}

func nodeProgram(t testing.TB, name string) string {
	t.Helper()
	path, err := cluster.NodeProgram(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (d *node) write(t testing.TB, name, text string) string {
	t.Helper()
	return d.writeWith(t, name, text, nil)
}

// writeWith writes a file of the node's folder from a template.
func (d *node) writeWith(t testing.TB, name, text string, more map[string]string) string {
	t.Helper()
	values := map[string]string{
		"Name": d.name, "Address": d.address, "Pods": d.pods, "Dir": d.dir, "Authority": d.cluster.AuthorityFile(),
		"Registry": registryHost, "Pause": pauseImage,
	}
	for name, value := range more {
		values[name] = value
	}
	var b strings.Builder
	path := filepath.Join(d.dir, name)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), template.Must(template.New(name).Option("missingkey=error").Parse(text)).Execute(&b, values))
	if err := errors.Join(err, os.WriteFile(path, []byte(b.String()), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}
