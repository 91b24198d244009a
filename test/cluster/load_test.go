package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
)

// at is where a sluice listens for HTTP.
func (s *Sluice) at() string { return net.JoinHostPort("127.0.0.1", fmt.Sprint(s.HTTP)) }

// reloads counts the reloads of nginx that were confirmed.
func (s *Sluice) reloads(t testing.TB) int {
	t.Helper()
	return s.Log.Reloads(t)
}

// alone are the flags of a sluice that looks at no namespace but its own.
func alone(name string, more ...string) []string {
	return flagsFor(name, append([]string{"--watch-namespace", name}, more...)...)
}

// answers is what a check gives if a request has another status, or none.
func (r Request) answers(ctx context.Context, status int) error {
	answer, err := r.Do(ctx)
	if err == nil && answer.Status != status {
		err = fmt.Errorf("%s: status %d %.100q", r.URL, answer.Status, answer.Body)
	}
	return err
}

// must fails the test if a request is not answered with a status at once.
func (r Request) must(t testing.TB, status int) {
	t.Helper()
	if err := r.answers(t.Context(), status); err != nil {
		t.Error(errors.Join(fmt.Errorf("want %d at once", status), err))
	}
}
