package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"sluice/test/cluster"
	"sluice/test/kit"
)

// Controllers run a sluice for each pod of a cluster whose image is one: the pods
// of test/cluster are stand-ins.
type Controllers struct {
	cluster *cluster.Cluster
	// Unasked leaves the port of the admission webhook to the page, so that the API server asks
	// nobody.
	Unasked bool

	mu      sync.Mutex
	running map[string]*controllerPod // by namespace and name
}

type controllerPod struct {
	labels map[string]string
	sluice *cluster.Sluice
}

// NewControllers starts nothing yet.
func NewControllers(c *cluster.Cluster) *Controllers {
	return &Controllers{cluster: c, running: map[string]*controllerPod{}}
}

// Follow starts a sluice for each pod that has come, waits until it is ready, and
// ends those of pods that are gone.
func (cs *Controllers) Follow(t testing.TB) {
	t.Helper()
	pods, err := cs.cluster.Admin().CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, pod := range pods.Items {
		container := controllerOf(&pod)
		if container == nil || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		name := pod.Namespace + "/" + pod.Name
		there = append(there, name)
		if !cs.has(name) {
			started := cs.start(t, &pod, container)
			cs.mu.Lock()
			cs.running[name] = started
			cs.mu.Unlock()
		}
	}
	cs.endOthers(there)
}

func (cs *Controllers) has(name string) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.running[name] != nil
}

// endOthers ends those whose pods are not there any more.
func (cs *Controllers) endOthers(there []string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for name, one := range cs.running {
		if !slices.Contains(there, name) {
			one.sluice.Terminate()
			delete(cs.running, name)
		}
	}
}

// port gives where the port of a container, by its name or number, is that of a
// sluice here.
func (cs *Controllers) port(selected labels.Selector, port string) (at int, ok bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, one := range cs.running {
		if !selected.Matches(labels.Set(one.labels)) {
			continue
		}
		switch port {
		case "http", "80":
			return one.sluice.HTTP, true
		case "https", "443":
			return one.sluice.HTTPS, true
		}
	}
	return 0, false
}

// controllerOf gives the container of a pod that is a Sluice, if it has one.
func controllerOf(pod *corev1.Pod) *corev1.Container {
	for i := range pod.Spec.Containers {
		name, _, _ := strings.Cut(path.Base(pod.Spec.Containers[i].Image), ":")
		if name == "sluice" {
			return &pod.Spec.Containers[i]
		}
	}
	return nil
}

// start runs sluice with the arguments of a container, the account of its pod,
// and ports and folders of its own.
func (cs *Controllers) start(t testing.TB, pod *corev1.Pod, container *corev1.Container) *controllerPod {
	t.Helper()
	account := cs.cluster.TokenKubeconfig(t, pod.Namespace, pod.Spec.ServiceAccountName)
	s := cluster.PrepareSluice(t, account, "--shutdown-grace-period", "0")
	s.Environment = environmentOf(pod, container)
	// The first is the command; of a flag that is given twice, the last counts.
	s.Arguments = slices.Concat(s.Arguments[:1], argumentsOf(container, s.Environment), s.Arguments[1:], cs.webhookOf(t, pod, container))
	cs.cluster.Bind(t, pod.Namespace, pod.Name, container.Name, cluster.Program{
		Environment: []string{"PATH=" + insideOf(t, s) + string(os.PathListSeparator) + os.Getenv("PATH")}, Log: s.Log,
		Ports: map[int32]int{80: s.HTTP, 443: s.HTTPS, 10254: s.Healthz},
	})
	s.Launch(t)
	s.AwaitReady(t)
	return &controllerPod{labels: pod.Labels, sluice: s}
}

// webhookOf gives the admission webhook its address: that of its pod, where the API server asks, or
// one where nobody asks.
func (cs *Controllers) webhookOf(t testing.TB, pod *corev1.Pod, container *corev1.Container) []string {
	t.Helper()
	for _, port := range container.Ports {
		switch {
		case port.Name == "webhook" && cs.Unasked:
			return []string{fmt.Sprintf("--validating-webhook=127.0.0.1:%d", kit.Port(t))}
		case port.Name == "webhook":
			return []string{fmt.Sprintf("--validating-webhook=%s:%d", pod.Status.PodIP, port.ContainerPort)}
		}
	}
	return nil
}

// inside is sluice as a command in a container finds it: whichever state directory
// it is told or takes by default, the container's is this one.
const inside = `#!/bin/sh
export XDG_STATE_HOME=%s
for argument do
  shift
  case "$before" in --state-dir) argument="$XDG_STATE_HOME/sluice" ;; esac
  before="$argument"
  set -- "$@" "$argument"
done
exec %s "$@"
`

// insideOf makes a folder with the programs of a container: kubectl exec runs them
// as processes of this machine, where the container's folders are not.
func insideOf(t testing.TB, s *cluster.Sluice) (folder string) {
	t.Helper()
	folder = kit.StateDir(t) // its path is short, for the unix sockets below it
	for _, err := range []error{
		os.Symlink(s.State, filepath.Join(folder, "sluice")),
		os.Mkdir(filepath.Join(folder, "bin"), 0o755),
		os.WriteFile(filepath.Join(folder, "bin", "sluice"), fmt.Appendf(nil, inside, folder, cluster.SluicePath()), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "bin")
}

// environmentOf is that of the container, as far as its values are written there
// or are the pod's name and namespace.
func environmentOf(pod *corev1.Pod, container *corev1.Container) []string {
	var environment []string
	for _, variable := range container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil && from.FieldRef != nil {
			value = map[string]string{"metadata.name": pod.Name, "metadata.namespace": pod.Namespace}[from.FieldRef.FieldPath]
		}
		environment = append(environment, variable.Name+"="+value)
	}
	return environment
}

// argumentsOf are the flags of the container, with its variables filled in.
func argumentsOf(container *corev1.Container, environment []string) []string {
	var arguments []string
	for _, argument := range slices.Concat(container.Command, container.Args) {
		if !strings.HasPrefix(argument, "-") {
			continue // the program, or its command
		}
		for _, setting := range environment {
			name, value, _ := strings.Cut(setting, "=")
			argument = strings.ReplaceAll(argument, "$("+name+")", value)
		}
		arguments = append(arguments, argument)
	}
	return arguments
}
