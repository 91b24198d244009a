package cluster

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// nodes stand in for the scheduler and the kubelets: they take pods in turn, and
// run each as listeners of this process. What the API server asks of kubelets is
// answered by a kubelet each.
type nodes struct {
	clients   *kubernetes.Clientset
	authority *authority
	log       *log.Logger
	all       []node
	kubelets  []*kubelet
	life      context.Context // ends with the nodes
	cancel    context.CancelFunc
	running   sync.WaitGroup

	mu   sync.Mutex
	pods map[types.UID]*pod
	next int // the node that takes the next pod
	// bound are the programs of tests that stand for containers.
	bound map[containerKey]*bound
}

type node struct{ name, address string }

// startNodes makes the Node objects, and takes pods from then on.
func startNodes(c *Cluster) (*nodes, error) {
	output, err := os.OpenFile(string(c.log("nodes")), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(ctx, func() { output.Close() })
	prefix := c.Address[:len(c.Address)-1] // "10.255.0."
	n := &nodes{
		clients: c.clients, authority: c.authority, log: log.New(output, "", log.Ltime|log.Lmicroseconds), life: ctx, cancel: cancel, pods: map[types.UID]*pod{}, bound: map[containerKey]*bound{},
		all: []node{{"node-1", prefix + "11"}, {"node-2", prefix + "12"}},
	}
	for _, one := range n.all {
		if err := n.join(one); err != nil {
			n.stop()
			return nil, err
		}
	}
	factory := informers.NewSharedInformerFactory(c.clients, 0)
	informer := factory.Core().V1().Pods().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { n.observe(ctx, o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { n.observe(ctx, o.(*corev1.Pod)) },
		DeleteFunc: n.forget,
	})
	if err != nil {
		n.stop()
		return nil, err
	}
	n.running.Go(func() { informer.RunWithContext(ctx) })
	return n, nil
}

// join starts a node's kubelet, and tells the API server of the node.
func (n *nodes) join(one node) error {
	k, err := startKubelet(n, one)
	if err != nil {
		return err
	}
	n.kubelets = append(n.kubelets, k)
	return one.register(n.life, n.clients, k.endpoints())
}

// register makes the Node object, which is ready.
func (n node) register(ctx context.Context, clients *kubernetes.Clientset, endpoints corev1.NodeDaemonEndpoints) error {
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: map[string]string{corev1.LabelHostname: n.name, corev1.LabelOSStable: "linux"}}}
	created, err := clients.CoreV1().Nodes().Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	resources := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("100000"),
	}
	created.Status = corev1.NodeStatus{
		Capacity: resources, Allocatable: resources, DaemonEndpoints: endpoints,
		Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.address}, {Type: corev1.NodeHostName, Address: n.name}},
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}},
	}
	_, err = clients.CoreV1().Nodes().UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// stop ends all pods at once, and waits until nothing of them runs.
func (n *nodes) stop() {
	n.cancel()
	for _, k := range n.kubelets {
		k.server.Close()
	}
	n.running.Wait()
}

// observe tells a pod its newest form, and starts one that is new and nobody
// else's.
func (n *nodes) observe(ctx context.Context, object *corev1.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p, ok := n.pods[object.UID]; ok {
		p.tell(object)
		return
	}
	host, ours := n.hostOf(object)
	if !ours || object.Status.Phase == corev1.PodSucceeded || object.Status.Phase == corev1.PodFailed {
		return
	}
	p := newPod(n, host, object)
	n.pods[object.UID] = p
	n.running.Go(func() { p.live(ctx) })
}

// hostOf gives the node that a pod is on or goes to; a pod may name one, as
// those of a DaemonSet do.
func (n *nodes) hostOf(object *corev1.Pod) (host node, ours bool) {
	if object.Spec.NodeName == "" {
		n.next++
		return n.all[n.next%len(n.all)], true
	}
	for _, one := range n.all {
		if one.name == object.Spec.NodeName {
			return one, true
		}
	}
	return node{}, false
}

// forget ends a pod whose object is gone.
func (n *nodes) forget(o any) {
	if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = unknown.Obj
	}
	object, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if p, ok := n.pods[object.UID]; ok {
		close(p.gone)
		delete(n.pods, object.UID)
	}
}

// What tests say to a pod by its annotations; those of a Deployment's template
// hold for all its pods.
const (
	// ReadyAnnotation with "false" makes a pod unready; it listens all the same.
	ReadyAnnotation = "cluster.test/ready"
	// StopDelayAnnotation is for how long a pod that is being deleted goes on as
	// before, such as "300ms", like a preStop hook. It can change meanwhile. The
	// sleep of a preStop hook in the pod's spec counts too, for whole seconds.
	StopDelayAnnotation = "cluster.test/stop-delay"
	// StartDelayAnnotation is how long a pod runs before it becomes ready.
	StartDelayAnnotation = "cluster.test/start-delay"
	// UnheardAnnotation with "true" leaves the ports of a pod to a program of the test.
	UnheardAnnotation = "cluster.test/unheard"
)

// SetReady makes a pod ready or unready, and waits until its status says so.
func (c *Cluster) SetReady(t testing.TB, namespace, name string, ready bool) {
	t.Helper()
	c.annotatePod(t, namespace, name, ReadyAnnotation, strconv.FormatBool(ready))
	pods := c.clients.CoreV1().Pods(namespace)
	Eventually(t, fmt.Sprintf("ready=%t of the pod %s/%s", ready, namespace, name), func(ctx context.Context) error {
		object, err := pods.Get(ctx, name, metav1.GetOptions{})
		if err == nil && isReady(object) != ready {
			err = fmt.Errorf("its conditions are %v", object.Status.Conditions)
		}
		return err
	})
}

// annotatePod sets an annotation of a pod.
func (c *Cluster) annotatePod(t testing.TB, namespace, name, key, value string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
	if _, err := c.clients.CoreV1().Pods(namespace).Patch(context.Background(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func isReady(object *corev1.Pod) bool {
	for _, condition := range object.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// delayOf reads a duration from an annotation; 0 without one. What is no
// duration is a mistake of the test that nothing else would tell of.
func delayOf(object *corev1.Pod, annotation string) time.Duration {
	text := object.Annotations[annotation]
	if text == "" {
		return 0
	}
	delay, err := time.ParseDuration(text)
	if err != nil {
		panic(fmt.Sprintf("pod %s/%s, annotation %s: %v", object.Namespace, object.Name, annotation, err))
	}
	return delay
}
