package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// patience is how long is waited between attempts to list or watch.
var patience = wait.Backoff{Duration: 100 * time.Millisecond, Cap: 5 * time.Second, Factor: 2, Jitter: 0.5, Steps: 10}

// troubles are what cannot be read now, by what it is about.
type troubles struct {
	mu      sync.Mutex
	now     map[string]trouble
	order   []string
	changed func()
}

// trouble is one of them. Forbidden is set if the account lacks the right.
type trouble struct {
	text      string
	forbidden bool
}

// set notes an error, or its end. Only another text is a change.
func (t *troubles) set(what string, err error) {
	t.mu.Lock()
	was, known := t.now[what]
	if !known {
		t.order = append(t.order, what)
	}
	if t.now == nil {
		t.now = map[string]trouble{}
	}
	now := trouble{}
	if err != nil {
		now = trouble{text: plain(err), forbidden: apierrors.IsForbidden(err)}
	}
	t.now[what] = now
	t.mu.Unlock()
	if was != now {
		t.changed()
	}
}

// forget drops what is no longer read, and its watch.
func (t *troubles) forget(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, what := range []string{what, changesOf(what)} {
		delete(t.now, what)
		t.order = slices.DeleteFunc(t.order, func(o string) bool { return o == what })
	}
}

// has says whether it cannot be read now.
func (t *troubles) has(what string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now[what].text != ""
}

// forbidden says whether the account lacks the right to read it.
func (t *troubles) forbidden(what string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now[what].forbidden
}

// all gives the errors in the order in which their subjects were first heard of.
func (t *troubles) all() []error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, what := range t.order {
		if text := t.now[what].text; text != "" {
			errs = append(errs, fmt.Errorf("%s: %s", what, text))
		}
	}
	return errs
}

// plain leaves out of an error what differs from one attempt to the next, such
// as the port that a connection came from.
func plain(err error) string {
	var status apierrors.APIStatus
	var errno syscall.Errno
	switch {
	case errors.As(err, &status):
		return status.Status().Message
	case errors.As(err, &errno):
		return "the API server cannot be reached: " + errno.Error()
	}
	return err.Error()
}

// changesOf is what a forbidden watch is about. It is a trouble of its own,
// which a list that succeeds does not end: what may be listed but not watched is
// listed again every few seconds.
func changesOf(what string) string { return "changes of " + what }

// keepUp has a reflector bring a store up to date until ctx ends: with lists and
// watches, bookmarks, and lists anew when a watch is too old. Errors become
// troubles, and end as such at the next success.
func (s *Source) keepUp(ctx context.Context, what string, lw *cache.ListWatch, store cache.ReflectorStore) {
	lister, watcher := lw.ListWithContextFunc, lw.WatchFuncWithContext
	note := func(what string, err error) {
		if err == nil || ctx.Err() == nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			s.troubles.set(what, err)
		}
	}
	noted := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := lister(ctx, o)
			note(what, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := watcher(ctx, o)
			if err == nil || apierrors.IsForbidden(err) {
				note(changesOf(what), err)
			}
			if !apierrors.IsForbidden(err) {
				note(what, err)
			}
			return w, err
		},
	}
	backoff := patience
	reflector := cache.NewReflectorWithOptions(noted, nil, store, cache.ReflectorOptions{Name: what, TypeDescription: what, Backoff: &backoff})
	go reflector.RunWithContext(ctx)
}
