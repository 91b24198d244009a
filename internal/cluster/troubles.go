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

// troubles are what cannot be read now, by what it is about.
type troubles struct {
	mu    sync.Mutex
	now   map[string]trouble
	order []string
	// outage is how the API server was first found to be away, while it is.
	outage  string
	changed func()
}

// trouble is one of them. Forbidden is set if the account lacks the right, away if
// the API server did not answer.
type trouble struct {
	text            string
	forbidden, away bool
}

// set notes an error, or its end. Only another text is a change.
func (t *troubles) set(what string, err error) {
	t.setWhile(context.Background(), what, err)
}

// setWhile is set for something that is read until ctx ends: nothing is noted
// then, so that it can be forgotten.
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
		now = was // to list and to watch are two rights, which are missed by turns
	}
	t.now[what] = now
	if now.away && t.outage == "" {
		t.outage = now.text
	}
	t.endOutage()
	if was.away && now.away {
		return false // one outage, however it is felt
	}
	return was != now
}

// endOutage forgets the outage as soon as all is answered again.
func (t *troubles) endOutage() {
	for _, trouble := range t.now {
		if trouble.away {
			return
		}
	}
	t.outage = ""
}

// forget drops what is no longer read, and its watch.
func (t *troubles) forget(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, what := range []string{what, changesOf(what)} {
		delete(t.now, what)
		t.order = slices.DeleteFunc(t.order, func(o string) bool { return o == what })
	}
	t.endOutage()
}

// has says whether it cannot be read now.
func (t *troubles) has(what string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now[what].text != ""
}

// passing says whether there are troubles that will end by themselves: all but
// missing rights.
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

// forbidden says whether the account lacks the right to read it.
func (t *troubles) forbidden(what string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now[what].forbidden
}

// all gives the errors in the order in which their subjects were first heard of.
// That the API server is away is one error, whatever cannot be read of it.
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
			continue // what cannot be listed is not watched either
		}
		if now := t.now[what]; now.text != "" && !now.away {
			errs = append(errs, fmt.Errorf("%s: %s", what, now.text))
		}
	}
	return errs
}

// troubleOf leaves out of an error what differs from one attempt to the next, such
// as the port that a connection came from and what was asked.
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
