package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// troubles holds the current read errors by subject.
type troubles struct {
	mu    sync.Mutex
	now   map[string]trouble
	order []string
	// outage is the first error of the current outage of the API server.
	outage  string
	changed func()
}

// trouble is one read error. Forbidden is set if a permission is missing, away if the
// API server did not answer. Denied is set if a permission was missing when it last answered.
type trouble struct {
	text                    string
	forbidden, away, denied bool
}

// set records an error, or its end. Only a different text counts as a change.
func (t *troubles) set(what string, err error) {
	t.setWhile(context.Background(), what, err)
}

// setWhile is set for a read that lasts until ctx ends. After that it records
// nothing, so that the subject can be forgotten.
func (t *troubles) setWhile(ctx context.Context, what string, err error) {
	t.mu.Lock()
	changed := ctx.Err() == nil && t.note(what, err)
	t.mu.Unlock()
	if changed {
		t.changed()
	}
}

func (t *troubles) note(what string, err error) (changed bool) {
	was, known := t.now[what]
	if !known {
		t.order = append(t.order, what)
	}
	if t.now == nil {
		t.now = map[string]trouble{}
	}
	now := troubleOf(err)
	if was.forbidden && now.forbidden {
		now = was // list and watch are two permissions, which fail alternately
	}
	now.denied = now.forbidden || now.text != "" && was.denied
	t.now[what] = now
	if now.away && t.outage == "" {
		t.outage = now.text
	}
	t.endOutage()
	if was.away && now.away {
		return false // the same outage
	}
	return was != now
}

// endOutage ends the outage when everything is answered again.
func (t *troubles) endOutage() {
	for _, trouble := range t.now {
		if trouble.away {
			return
		}
	}
	t.outage = ""
}

// forget drops a subject that is no longer read, and its watch.
func (t *troubles) forget(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, what := range []string{what, changesOf(what)} {
		delete(t.now, what)
		t.order = slices.DeleteFunc(t.order, func(o string) bool { return o == what })
	}
	t.endOutage()
}

// has reports whether a subject has an error.
func (t *troubles) has(what string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now[what].text != ""
}

// passing reports whether there are troubles that can end by themselves: all but
// missing permissions.
func (t *troubles) passing() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, trouble := range t.now {
		if trouble.text != "" && !trouble.forbidden {
			return true
		}
	}
	return false
}

// forbidden reports whether the permission to read a subject is missing, as far as the API
// server said: an outage does not give a permission.
func (t *troubles) forbidden(what string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now[what].denied
}

// all returns the errors in the order in which their subjects first appeared. An
// outage of the API server is one error.
func (t *troubles) all() []error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	if t.outage != "" {
		errs = append(errs, fmt.Errorf("the API server cannot be reached: %s", t.outage))
	}
	for _, what := range t.order {
		subject, watched := strings.CutPrefix(what, changesOf(""))
		if watched && t.now[subject].text != "" {
			continue // a failed list implies a failed watch
		}
		if now := t.now[what]; now.text != "" && !now.away {
			errs = append(errs, fmt.Errorf("%s: %s", what, now.text))
		}
	}
	return errs
}

// troubleOf drops the parts of an error that differ between attempts, such as the
// local port and the request.
func troubleOf(err error) trouble {
	var status apierrors.APIStatus
	var request *url.Error
	var errno syscall.Errno
	switch {
	case err == nil:
		return trouble{}
	case errors.As(err, &status):
		return trouble{text: status.Status().Message, forbidden: apierrors.IsForbidden(err)}
	case errors.As(err, &errno):
		return trouble{text: errno.Error(), away: true}
	case errors.Is(err, context.DeadlineExceeded):
		return trouble{text: "it does not answer in time", away: true}
	case errors.As(err, &request):
		return trouble{text: request.Err.Error(), away: true}
	}
	return trouble{text: err.Error()}
}
