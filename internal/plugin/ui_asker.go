package plugin

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"sluice/internal/debugapi"
)

// asker asks the controller again and again. After a failure, it looks for the pod anew.
type asker struct {
	*session
	pods *podFlags

	mu sync.Mutex
	at *controller // nil after a failure
	looks
}

// choose finds the pod as other commands do.
func (a *asker) choose(cmd *cobra.Command) (err error) {
	ctx, cancel := bounded(cmd)
	defer cancel()
	a.at, err = a.controller(ctx, a.pods)
	return err
}

// get asks a question. pod is the "namespace/name" of the asked pod.
func (a *asker) get(ctx context.Context, q question) (body []byte, pod string, err error) {
	a.mu.Lock()
	at := a.at
	a.mu.Unlock()
	if at == nil {
		if at, err = a.pods.first(ctx, a.session); err != nil {
			return nil, "", err
		}
	}
	body, err = at.get(ctx, q.path, q.query)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at = at; err != nil && ctx.Err() == nil {
		a.at = nil
	}
	return body, at.pod.Namespace + "/" + at.pod.Name, err
}

// looks are the last counters of each pod.
type looks struct {
	looking sync.Mutex
	before  map[string]debugapi.Traffic
	found   []corev1.Pod
	foundAt time.Time
}

// Pods are looked for again after podsFor. Counters older than tooOld make no rates.
const (
	podsFor = 30 * time.Second
	tooOld  = 10 * time.Second
)

// rates returns the requests of all ready pods since the last call. Seconds is 0 if there was
// none. Pods that do not answer are in the error.
func (a *asker) rates(ctx context.Context) (top, error) {
	a.looking.Lock()
	defer a.looking.Unlock()
	c, err := a.connect()
	if err == nil && time.Since(a.foundAt) > podsFor {
		a.found, err = a.pods.findReady(ctx, c)
		a.foundAt = time.Now()
	}
	if err != nil {
		a.foundAt = time.Time{}
		return top{}, err
	}
	now, failed := eachPod[debugapi.Traffic](ctx, a.pods, c, a.found, asking(debugapi.TrafficPath))
	before := a.before
	a.before = map[string]debugapi.Traffic{}
	var sum traffic
	for i := range a.found {
		name := a.found[i].Name
		if failed[i] != nil {
			a.foundAt = time.Time{}
			continue
		}
		a.before[name] = now[i]
		if was, known := before[name]; known && now[i].At.Sub(was.At) < tooOld {
			failed[i] = sum.add(name, was, now[i])
		}
	}
	return sum.top(topOrders[0]), errors.Join(failed...)
}
