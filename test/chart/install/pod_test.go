package install

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"

	"sluice/test/chart/rendering"
	"sluice/test/cluster"
	"sluice/test/kit"
)

// contain is what a container runtime and the kubelet do with the controller's pod:
// a network of its own, a root file system that is read-only, the volume, the
// token, and the user without a capability that the container does not ask for.
const contain = `
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 run /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount
cp "$TOKEN_FOLDER"/* /run/secrets/kubernetes.io/serviceaccount/
mount -t tmpfs -o mode=755 lib /var/lib
mkdir "$VOLUME"
mount -t tmpfs -o mode=2770,gid="$GROUP" volume "$VOLUME"
cp "$SLUICE" /run/sluice
mount -o remount,bind,ro /
mount -o remount,ro /var/lib
mount -o remount,ro /run
until ip link show pod >/dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip address add "$POD_ADDRESS/30" dev pod
ip link set pod up
ip route add default via "$NODE_ADDRESS"
echo "$FIRST_PORT" > /proc/sys/net/ipv4/ip_unprivileged_port_start
cd /
exec env -i $KEEP setpriv --reuid "$USER_ID" --regid "$GROUP_ID" --groups "$GROUP" --bounding-set=-all,+net_bind_service --inh-caps=-all --no-new-privs /run/sluice "$@"
`

// The addresses of the two ends of the pod's network.
const (
	nodeAddress = "10.254.0.1"
	podAddress  = "10.254.0.2"
)

// published is the address of the load balancer.
const published = "203.0.113.7"

// TestInstalledChartServes: what `helm install` makes of the default values serves
// an Ingress. The API server and kube-controller-manager have the objects; the
// binary has the arguments, the environment, the rights and the token of the pod.
func TestInstalledChartServes(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a process a network and a file system of its own")
	}
	c := cluster.Shared(t)
	r, err := rendering.Default().Render("controller: {image: {repository: registry.example/sluice, tag: test}}")
	if err != nil {
		t.Fatal(err)
	}
	own := cluster.Namespace("sluice")
	own.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	c.Apply(t, own)
	c.ApplyYAML(t, r.Manifests)
	t.Cleanup(func() { c.DeleteYAML(t, r.Manifests) })
	pod := awaitPod(t, c, "sluice")
	const status = `{"status":{"loadBalancer":{"ingress":[{"ip":"` + published + `"}]}}}`
	if _, err := c.Admin().CoreV1().Services("sluice").Patch(t.Context(), "sluice-controller", types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	ns := c.NewNamespace(t, "installed")
	c.Apply(t, cluster.Web(ns, "web", 2)...)
	c.Apply(t, cluster.Ingress(ns, "web", cluster.Rule("installed.example", "/", "web", 80)))

	s := runContainer(t, c, pod)
	cluster.EventuallyStatus(t, cluster.Request{URL: "http://installed.example/", To: podAddress + ":80"}, http.StatusOK)
	awaitProbe(t, pod)
	cluster.Eventually(t, "the address of the Service as the status of the Ingress", func(ctx context.Context) error {
		ing, err := c.Admin().NetworkingV1().Ingresses(ns).Get(ctx, "web", metav1.GetOptions{})
		if err == nil && (len(ing.Status.LoadBalancer.Ingress) != 1 || ing.Status.LoadBalancer.Ingress[0].IP != published) {
			err = fmt.Errorf("it is %v", ing.Status.LoadBalancer)
		}
		return err
	})
	for _, line := range append(s.Log.Lines(t, "level=ERROR"), s.Log.Lines(t, "forbidden")...) {
		t.Error(line)
	}
}

// awaitPod waits for a pod of the Deployment or DaemonSet of a release.
func awaitPod(t *testing.T, c *cluster.Cluster, namespace string) (pod corev1.Pod) {
	t.Helper()
	makePods(t, c, namespace)
	cluster.Eventually(t, "the controller's pod", func(ctx context.Context) error {
		list, err := c.Admin().CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=sluice,app.kubernetes.io/component=controller"})
		if err == nil && len(list.Items) == 0 {
			err = errors.New("there is none")
		}
		if err == nil {
			pod = list.Items[0]
		}
		return err
	})
	return pod
}

// makePods makes one pod of each DaemonSet, as their controller does not run here.
func makePods(t *testing.T, c *cluster.Cluster, namespace string) {
	t.Helper()
	sets, err := c.Admin().AppsV1().DaemonSets(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets.Items {
		meta := metav1.ObjectMeta{Namespace: namespace, Name: set.Name + "-made", Labels: set.Spec.Template.Labels}
		if _, err := c.Admin().CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{ObjectMeta: meta, Spec: set.Spec.Template.Spec}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitProbe asks what the kubelet's probe asks, until it is content.
func awaitProbe(t *testing.T, pod corev1.Pod) {
	t.Helper()
	for _, probe := range []*corev1.Probe{pod.Spec.Containers[0].ReadinessProbe, pod.Spec.Containers[0].LivenessProbe} {
		url := fmt.Sprintf("http://%s:%d%s", podAddress, probe.HTTPGet.Port.IntValue(), probe.HTTPGet.Path)
		cluster.EventuallyStatus(t, cluster.Request{URL: url}, http.StatusOK)
	}
}

// runContainer runs sluice as the pod's container.
func runContainer(t *testing.T, c *cluster.Cluster, pod corev1.Pod) *kit.Sluice {
	t.Helper()
	one := pod.Spec.Containers[0]
	environment := environmentOf(t, c, pod)
	command := exec.Command("sh", append([]string{"-c", contain, "contain"}, expand(one.Args, environment)...)...)
	var names []string
	for _, variable := range environment {
		names = append(names, variable.Name+"="+variable.Value)
	}
	command.Env = append(slices.Clone(names),
		"SLUICE="+cluster.SluicePath(), "TOKEN_FOLDER="+token(t, c, pod), "VOLUME="+one.VolumeMounts[0].MountPath,
		"USER_ID="+strconv.FormatInt(*one.SecurityContext.RunAsUser, 10), "GROUP_ID="+strconv.FormatInt(*one.SecurityContext.RunAsGroup, 10),
		"GROUP="+strconv.FormatInt(*pod.Spec.SecurityContext.FSGroup, 10), "FIRST_PORT="+pod.Spec.SecurityContext.Sysctls[0].Value,
		"POD_ADDRESS="+podAddress, "NODE_ADDRESS="+nodeAddress, "KEEP="+strings.Join(names, " "),
	)
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	s := &kit.Sluice{Log: kit.Log(filepath.Join(t.TempDir(), "log"))}
	s.Start(t, command)
	t.Cleanup(func() {
		s.Stop(syscall.SIGTERM, kit.Patience)
		if t.Failed() {
			t.Logf("the log of the container:\n%s", s.Log.Text(t))
		}
	})
	connect(t, command.Process.Pid)
	return s
}

// connect gives the container's network a way to this one.
func connect(t *testing.T, pid int) {
	t.Helper()
	command := exec.Command("ip", "-batch", "-")
	command.Stdin = strings.NewReader(fmt.Sprintf("link add node type veth peer name pod\naddress add %s/30 dev node\nlink set node up\nlink set pod netns %d\n", nodeAddress, pid))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("connect the container: %v\n%s", err, out)
	}
}

// environmentOf is the environment that the kubelet gives the container.
func environmentOf(t *testing.T, c *cluster.Cluster, pod corev1.Pod) []corev1.EnvVar {
	t.Helper()
	all := []corev1.EnvVar{
		{Name: "KUBERNETES_SERVICE_HOST", Value: c.Address}, {Name: "KUBERNETES_SERVICE_PORT", Value: "6443"}, {Name: "PATH", Value: os.Getenv("PATH")},
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.ValueFrom != nil {
			name := strings.TrimPrefix(variable.ValueFrom.FieldRef.FieldPath, "metadata.")
			variable.Value = fields["metadata"].(map[string]any)[name].(string)
		}
		all = append(all, corev1.EnvVar{Name: variable.Name, Value: variable.Value})
	}
	return all
}

// expand puts the environment into arguments, as the kubelet does.
func expand(arguments []string, environment []corev1.EnvVar) []string {
	all := slices.Clone(arguments)
	for i := range all {
		for _, variable := range environment {
			all[i] = strings.ReplaceAll(all[i], "$("+variable.Name+")", variable.Value)
		}
	}
	return all
}

// token writes the folder that the service account's volume is.
func token(t *testing.T, c *cluster.Cluster, pod corev1.Pod) string {
	t.Helper()
	access, err := clientcmd.LoadFromFile(c.TokenKubeconfig(t, pod.Namespace, pod.Spec.ServiceAccountName))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, user := range access.AuthInfos {
		write(t, filepath.Join(folder, "token"), user.Token)
	}
	for _, server := range access.Clusters {
		write(t, filepath.Join(folder, "ca.crt"), string(server.CertificateAuthorityData))
	}
	write(t, filepath.Join(folder, "namespace"), pod.Namespace)
	if err := errors.Join(os.Chmod(folder, 0o755), os.Chmod(filepath.Dir(folder), 0o755)); err != nil {
		t.Fatal(err)
	}
	return folder
}
