package cluster

import (
	"context"
	"errors"
	"io"
	"net/url"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// noted gives troubles that count their changes.
func noted() (t *troubles, changes *int) {
	changes = new(int)
	return &troubles{changed: func() { *changes++ }}, changes
}

func texts(errs []error) []string {
	var list []string
	for _, err := range errs {
		list = append(list, err.Error())
	}
	return list
}

// An outage is one error however many kinds cannot be read and however that is
// felt, until all are read again.
func TestOutageIsOneTrouble(t *testing.T) {
	t.Parallel()
	troubles, _ := noted()
	failed := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://10.0.0.1/api/v1/services?timeoutSeconds=417", Err: err}
	}
	said := ""
	for _, step := range []struct {
		what string
		err  error
		want string
	}{
		{"services", failed(io.EOF), "the API server cannot be reached: EOF"},
		{"ingresses", failed(syscall.ECONNREFUSED), "the API server cannot be reached: EOF"},
		{"services", failed(syscall.ECONNREFUSED), "the API server cannot be reached: EOF"},
		{"services", failed(context.DeadlineExceeded), "the API server cannot be reached: EOF"},
		{"services", nil, "the API server cannot be reached: EOF"},
		{"ingresses", nil, ""},
		{"ingresses", failed(context.DeadlineExceeded), "the API server cannot be reached: it does not answer in time"},
	} {
		troubles.set(step.what, step.err)
		said = ""
		for _, text := range texts(troubles.all()) {
			said += text
		}
		if said != step.want {
			t.Errorf("after %s: %v: said %q, want %q", step.what, step.err, said, step.want)
		}
	}
	troubles.forget("ingresses")
	if left := troubles.all(); len(left) != 0 {
		t.Errorf("after all was forgotten: %v", left)
	}
}

// That a right is missing is said once, whichever verb is refused.
func TestMissingRightIsOneTrouble(t *testing.T) {
	t.Parallel()
	troubles, changes := noted()
	refused := func(verb string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "cert", errors.New("cannot "+verb))
	}
	troubles.set("secrets", refused("watch"))
	first := texts(troubles.all())[0]
	for range 3 {
		troubles.set("secrets", refused("list"))
		troubles.set("secrets", refused("watch"))
	}
	if now := texts(troubles.all()); *changes != 1 || len(now) != 1 || now[0] != first || !troubles.forbidden("secrets") {
		t.Errorf("%d changes to %q, want %q", *changes, now, first)
	}
	troubles.set("secrets", nil)
	if troubles.forbidden("secrets") || *changes != 2 {
		t.Error("its end is not noted")
	}
}

// What is not read any more has no troubles, even if an attempt ends later.
func TestTroubleOfWhatIsNotReadAnyMore(t *testing.T) {
	t.Parallel()
	troubles, changes := noted()
	ctx, cancel := context.WithCancel(t.Context())
	troubles.setWhile(ctx, "Secret shop/cert", io.EOF)
	cancel()
	troubles.forget("Secret shop/cert")
	troubles.setWhile(ctx, "Secret shop/cert", io.ErrUnexpectedEOF)
	troubles.setWhile(ctx, "Secret shop/cert", nil)
	if len(troubles.all()) != 0 || len(troubles.order) != 0 || len(troubles.now) != 0 || *changes != 1 {
		t.Errorf("left: %v, %v, %d changes", troubles.now, troubles.order, *changes)
	}
}

// TestAnOutageGivesNoPermission: what may not be read stays so until it is read, whatever
// else goes wrong.
func TestAnOutageGivesNoPermission(t *testing.T) {
	t.Parallel()
	var troubles troubles
	troubles.changed = func() {}
	refused := apierrors.NewForbidden(corev1.Resource("namespaces"), "", errors.New("cannot list"))
	for _, step := range []struct {
		err       error
		forbidden bool
	}{
		{syscall.ECONNREFUSED, false}, {refused, true}, {syscall.ECONNREFUSED, true}, {context.DeadlineExceeded, true}, {refused, true}, {nil, false}, {syscall.ECONNREFUSED, false},
	} {
		troubles.set("namespaces", step.err)
		if got := troubles.forbidden("namespaces"); got != step.forbidden {
			t.Errorf("after %v: forbidden %t, want %t", step.err, got, step.forbidden)
		}
	}
}
