package cluster

import (
	"context"
	"io"
	"net/url"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// patience is the wait between attempts to list or watch.
var patience = wait.Backoff{Duration: 100 * time.Millisecond, Cap: 5 * time.Second, Factor: 2, Jitter: 0.5, Steps: 10}

// changesOf is the subject of a forbidden watch. It differs from that of the list, so
// that a successful list does not end the trouble. Without permission to watch,
// objects are listed again every few seconds.
func changesOf(what string) string { return "changes of " + what }

// keepUp runs a reflector that updates a store until ctx ends: with lists, watches
// and bookmarks, and a new list when a watch is too old. Errors become troubles,
// which end at the next success.
func (s *Source) keepUp(ctx context.Context, what string, lw *cache.ListWatch, store cache.ReflectorStore) {
	lister, watcher := lw.ListWithContextFunc, lw.WatchFuncWithContext
	note := func(what string, err error) {
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			s.troubles.setWhile(ctx, what, err)
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
			switch {
			case isEmpty(w):
				note(what, errCut)
			case apierrors.IsForbidden(err):
				note(changesOf(what), err)
			case err == nil:
				note(changesOf(what), nil)
				note(what, nil)
			default:
				note(what, err)
			}
			return w, err
		},
	}
	backoff := patience
	reflector := cache.NewReflectorWithOptions(noted, nil, store, cache.ReflectorOptions{Name: what, TypeDescription: what, Backoff: &backoff})
	go reflector.RunWithContext(ctx)
}

// errCut means that a connection ended before its watch began.
var errCut = &url.Error{Op: "Get", Err: io.EOF}

// isEmpty recognises the watch that client-go returns instead of that error, and
// after which reflectors retry silently.
func isEmpty(w watch.Interface) bool {
	return w != nil && reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch())
}
