package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// TestForbiddenWatchIsOneTrouble: lists that succeed in between neither end the
// trouble nor have it told again, and what is listed alone is no less known.
func TestForbiddenWatchIsOneTrouble(t *testing.T) {
	t.Parallel()
	var changes, lists, watches atomic.Int64
	var allowed atomic.Bool
	s := &Source{}
	s.troubles.changed = func() { changes.Add(1) }
	lw := &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			lists.Add(1)
			return &corev1.ServiceList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			watches.Add(1)
			if !allowed.Load() {
				return nil, apierrors.NewForbidden(corev1.Resource("services"), "", errors.New("cannot watch"))
			}
			return watch.NewFake(), nil
		},
	}
	store, _ := services(nil)
	s.keepUp(t.Context(), "services", lw, store)
	await(t, "a few attempts", func() bool { return lists.Load() >= 3 && watches.Load() >= 3 })
	if errs := s.troubles.all(); len(errs) != 1 || changes.Load() != 1 || s.troubles.forbidden("services") || !store.hasSynced() {
		t.Errorf("%d changes of the troubles %v", changes.Load(), errs)
	}
	allowed.Store(true)
	await(t, "the end of the trouble", func() bool { return len(s.troubles.all()) == 0 })
	if changes.Load() != 2 {
		t.Errorf("%d changes of the troubles", changes.Load())
	}
	s.troubles.set(changesOf("services"), errors.New("away"))
	s.troubles.forget("services")
	if errs := s.troubles.all(); len(errs) > 0 {
		t.Errorf("when it is forgotten: %v", errs)
	}
}

// await polls for some seconds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
