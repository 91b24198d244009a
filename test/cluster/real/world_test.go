//go:build image

package real

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
	"sluice/test/kit"
)

// world is the cluster with its nodes, which the tests have in common.
type world struct {
	*cluster.Cluster
	nodes []*node
	admin string // the administrator's kubeconfig
}

var shared struct {
	once  sync.Once
	world *world
}

// theWorld gives the cluster, which the first test starts.
func theWorld(t *testing.T) *world {
	t.Helper()
	if err := unmet(); err != nil {
		t.Skip(err)
	}
	for name, what := range map[string]string{"SLUICE_IMAGE": "archive of the image", "SLUICE_CLIENTS": "folder with kubectl and helm"} {
		if os.Getenv(name) == "" {
			t.Fatalf("%s names no %s: `make test-image` sets it", name, what)
		}
	}
	began := time.Now()
	c := cluster.Shared(t, cluster.Whole, cluster.Audited)
	shared.once.Do(func() {
		w := &world{Cluster: c, admin: c.Kubeconfig(t, "admin", "system:masters")}
		w.start(t)
		t.Logf("%d nodes and CoreDNS were ready after %.1f s", len(w.nodes), time.Since(began).Seconds())
		shared.world = w
	})
	if shared.world == nil {
		t.Fatal("the cluster did not start: see the first test")
	}
	return shared.world
}

func (w *world) start(t *testing.T) {
	t.Helper()
	w.startRegistry(t)
	pushed := make(chan error, 1)
	go func() { pushed <- pushImages(w.Dir()) }()
	w.ApplyYAML(t, kubeletRights)
	if _, err := w.Launch("kube-scheduler", exec.Command(nodeProgram(t, "kube-scheduler"), "--kubeconfig", w.Kubeconfig(t, "system:kube-scheduler"),
		"--leader-elect=false", "--secure-port=0")); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		d, err := newNode(w.Cluster, n)
		if err != nil {
			t.Fatal(err)
		}
		w.nodes = append(w.nodes, d)
	}
	w.joinPods(t)
	for _, d := range w.nodes {
		d.start(t)
	}
	w.balance(t)
	if err := <-pushed; err != nil {
		t.Fatal(err)
	}
	for _, d := range w.nodes {
		w.awaitNode(t, d, corev1.ConditionTrue)
	}
	w.ApplyYAML(t, strings.ReplaceAll(dns, "IMAGE", "registry.k8s.io/"+corednsImage))
	w.AwaitDeployment(t, "kube-system", "coredns")
}

// joinPods makes the ways from each node to the pods of the others.
func (w *world) joinPods(t *testing.T) {
	t.Helper()
	for _, from := range w.nodes {
		for _, to := range w.nodes {
			if from == to {
				continue
			}
			if err := cluster.IP("route add "+to.pods+".0/24 via "+to.address+"\n", from.entering()...); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// awaitNode waits until a node is ready, or is not.
func (w *world) awaitNode(t *testing.T, d *node, ready corev1.ConditionStatus) {
	t.Helper()
	cluster.Eventually(t, fmt.Sprintf("ready=%s of the node %s", ready, d.name), func(ctx context.Context) error {
		if d.kubelet.Ended() {
			t.Fatal("the kubelet ended: ", d.kubelet.Err)
		}
		found, err := w.Admin().CoreV1().Nodes().Get(ctx, d.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range found.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == ready {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", found.Status.Conditions)
	})
}

// startRegistry starts a registry, that the cluster's authority vouches for. Everybody
// finds it by its name.
func (w *world) startRegistry(t *testing.T) {
	t.Helper()
	certificate, key, err := w.ServingFiles("registry", []string{registryHost}, planeAddress)
	if err != nil {
		t.Fatal(err)
	}
	trust := filepath.Join(w.Dir(), "docker", "certs.d", registryHost)
	authority, err := os.ReadFile(w.AuthorityFile())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"hosts": "127.0.0.1 localhost\n" + planeAddress + " " + registryHost + "\n",
		"registry.yaml": "version: 0.1\nlog: {level: warn}\nstorage: {filesystem: {rootdirectory: " + filepath.Join(w.Dir(), "registry") + "}}\n" +
			"http: {addr: '" + planeAddress + ":443', tls: {certificate: " + certificate + ", key: " + key + "}}\n",
		filepath.Join("docker", "certs.d", registryHost, "ca.crt"): string(authority),
	}
	if err := os.MkdirAll(trust, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(w.Dir(), name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "mount", "--bind", filepath.Join(w.Dir(), "hosts"), "/etc/hosts")
	mustRun(t, "mount", "--bind", filepath.Join(w.Dir(), "docker"), "/etc/docker") // where skopeo looks
	registry, err := w.Launch("registry", exec.Command("docker-registry", "serve", filepath.Join(w.Dir(), "registry.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	kit.Await(t, "the registry", func() bool {
		if registry.Ended() {
			t.Fatal("the registry ended: ", registry.Err)
		}
		connection, err := net.Dial("tcp", planeAddress+":443")
		if err == nil {
			connection.Close()
		}
		return err == nil
	})
}

// mustRun runs a command, and gives what it prints.
func mustRun(t testing.TB, arguments ...string) string {
	t.Helper()
	output, err := exec.Command(arguments[0], arguments[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// kubeletRights let the API server ask kubelets, for kubectl exec and logs.
const kubeletRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: kube-apiserver-kubelet-client}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:kubelet-api-admin"}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: kube-apiserver-kubelet-client}]
`

// dns is CoreDNS, as kubeadm installs it, but for what the tests do not need.
const dns = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: coredns, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "system:coredns"}
rules:
- {apiGroups: [""], resources: [endpoints, services, pods, namespaces], verbs: [list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "system:coredns"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:coredns"}
subjects: [{kind: ServiceAccount, name: coredns, namespace: kube-system}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: coredns, namespace: kube-system}
data:
  Corefile: |
    .:53 {
        errors
        health
        ready
        kubernetes cluster.local in-addr.arpa ip6.arpa
        hosts {
            ` + clientAddress + ` outside.example
            fallthrough
        }
        cache 5
    }
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: coredns, namespace: kube-system}
spec:
  replicas: 1
  selector: {matchLabels: {k8s-app: kube-dns}}
  template:
    metadata: {labels: {k8s-app: kube-dns}}
    spec:
      serviceAccountName: coredns
      dnsPolicy: Default
      containers:
      - name: coredns
        image: IMAGE
        args: [-conf, /etc/coredns/Corefile]
        ports: [{name: dns, containerPort: 53, protocol: UDP}, {name: dns-tcp, containerPort: 53, protocol: TCP}]
        readinessProbe: {httpGet: {path: /ready, port: 8181}, periodSeconds: 1}
        securityContext: {runAsUser: 0, allowPrivilegeEscalation: false, capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}}
        volumeMounts: [{name: config, mountPath: /etc/coredns}]
      volumes: [{name: config, configMap: {name: coredns}}]
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec:
  clusterIP: 10.96.0.10
  selector: {k8s-app: kube-dns}
  ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53, protocol: TCP}]
`
