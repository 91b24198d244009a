package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// pod is one pod that runs in this process. live is its life; the rest of the
// program only tells it its object's newest form, and that the object is gone.
type pod struct {
	clients   *kubernetes.Clientset
	authority *authority
	log       *log.Logger
	host      node
	address   string
	born      metav1.Time

	object  atomic.Pointer[corev1.Pod]
	changed chan struct{} // has room for one: object was replaced
	gone    chan struct{} // closed when the object is gone
}

// addresses counts the addresses that were given to pods.
var addresses atomic.Int64

// newAddress gives an address of 10.244.0.0/16 that no pod had, until all
// 64,000 have been given once.
func newAddress() string {
	const perBlock, blocks = 250, 256
	n := addresses.Add(1) - 1
	return fmt.Sprintf("10.244.%d.%d", n/perBlock%blocks, n%perBlock+2)
}

func newPod(n *nodes, host node, object *corev1.Pod) *pod {
	p := &pod{
		clients: n.clients, authority: n.authority, log: n.log, host: host, address: newAddress(), born: metav1.Now(),
		changed: make(chan struct{}, 1), gone: make(chan struct{}),
	}
	p.object.Store(object)
	return p
}

// tell gives the pod its object's newest form.
func (p *pod) tell(object *corev1.Pod) {
	p.object.Store(object)
	select {
	case p.changed <- struct{}{}:
	default: // it has not looked at the last one yet, and will find this one
	}
}

// live is what the scheduler and the kubelet do with a pod, from first to last:
// bind it, start it, say when it is ready, and end it when it is deleted.
func (p *pod) live(ctx context.Context) {
	p.bind(ctx)
	listeners, err := listen(p)
	if err != nil {
		p.report(ctx, p.failed(err))
		return
	}
	defer listeners.close()
	life, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // without its object nothing of a pod goes on
		select {
		case <-p.gone:
			cancel()
		case <-life.Done():
		}
	}()
	p.serveUntilDeleted(life)
	p.end(life, listeners)
	p.remove(ctx)
}

// bind puts the pod on its node, as the scheduler does.
func (p *pod) bind(ctx context.Context) {
	object := p.object.Load()
	if object.Spec.NodeName != "" {
		return
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: object.Namespace, Name: object.Name, UID: object.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: p.host.name},
	}
	p.persist(ctx, "bind", func() error { return p.api().Bind(ctx, binding, metav1.CreateOptions{}) })
}

// serveUntilDeleted reports that the pod runs, and whether it is ready, until it
// is to end.
func (p *pod) serveUntilDeleted(ctx context.Context) {
	started := time.After(delayOf(p.object.Load(), StartDelayAnnotation))
	warm, reported, readiness := false, false, false
	select {
	case <-started: // without a delay it starts ready
		warm = true
	default:
	}
	for ctx.Err() == nil && p.object.Load().DeletionTimestamp == nil {
		if ready := warm && p.object.Load().Annotations[ReadyAnnotation] != "false"; !reported || ready != readiness {
			p.report(ctx, p.runs(ready))
			reported, readiness = true, ready
		}
		select {
		case <-started:
			warm = true
		case <-p.changed:
		case <-ctx.Done():
		}
	}
}

// end is what the kubelet does with a pod that is deleted. It stays ready while
// its preStop hook runs, for EndpointSlices to say terminating and serving. Then
// it listens no more, and finishes what it has begun, until the grace period is
// over.
func (p *pod) end(ctx context.Context, l *listeners) {
	grace := time.Duration(0)
	if seconds := p.object.Load().DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	within, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	p.awaitStop(within)
	l.drain(within)
	p.report(ctx, p.ended())
}

// awaitStop waits for the end of the preStop hook. A test can shorten a hook that
// runs: by another StopDelayAnnotation.
func (p *pod) awaitStop(ctx context.Context) {
	for began := time.Now(); ; {
		select {
		case <-time.After(p.stopDelay() - time.Since(began)):
			return
		case <-p.changed:
		case <-ctx.Done():
			return
		}
	}
}

// remove takes the object away, as the kubelet does when nothing of the pod runs
// any more.
func (p *pod) remove(ctx context.Context) {
	now := int64(0)
	object := p.object.Load()
	p.persist(ctx, "delete", func() error {
		return p.api().Delete(ctx, object.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &object.UID}})
	})
}

// stopDelay is how long the pod's preStop hook takes.
func (p *pod) stopDelay() time.Duration {
	object := p.object.Load()
	delay := delayOf(object, StopDelayAnnotation)
	for _, container := range object.Spec.Containers {
		if hook := container.Lifecycle; hook != nil && hook.PreStop != nil && hook.PreStop.Sleep != nil {
			delay = max(delay, time.Duration(hook.PreStop.Sleep.Seconds)*time.Second)
		}
	}
	return delay
}

func (p *pod) api() typedcorev1.PodInterface {
	return p.clients.CoreV1().Pods(p.object.Load().Namespace)
}

// report writes the pod's status.
func (p *pod) report(ctx context.Context, status corev1.PodStatus) {
	object := p.object.Load()
	content, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": object.UID}, "status": status})
	if err != nil {
		panic(err) // a PodStatus can always be written
	}
	p.persist(ctx, "report "+string(status.Phase), func() error {
		_, err := p.api().Patch(ctx, object.Name, types.StrategicMergePatchType, content, metav1.PatchOptions{}, "status")
		return err
	})
}

// persist tries until the API server has taken something, or says that the
// object is not there any more: it may be away for a while. What it says else
// goes to the nodes' log, once.
func (p *pod) persist(ctx context.Context, what string, try func() error) {
	said := ""
	_ = poll(ctx, func(context.Context) error {
		err := try()
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		if err != nil && err.Error() != said && ctx.Err() == nil {
			said = err.Error()
			p.log.Printf("pod %s: %s: %v", p.name(), what, err)
		}
		return err
	})
}
