package resolver_test

import (
	"testing"

	"sluice/internal/resolver"
)

// TestCounts counts the names in use, and the questions for them.
func TestCounts(t *testing.T) {
	z := newZone(t)
	z.set("db.example.", "60 A 192.0.2.1")
	z.set("local.example.", "60 A 127.0.0.1")
	r := z.resolver(t, "")
	r.Use(external("db.example", "none.example", "local.example"))
	poll(t, "three answers", func() bool { return r.Counts().Questions == 3 })
	if got, want := r.Counts(), (resolver.Counts{Names: 3, Troubled: 2, Questions: 3}); got != want {
		t.Errorf("want %+v, got %+v", want, got)
	}
	z.fail(true)
	r.Use(external("other.example"))
	poll(t, "a failure", func() bool { return r.Counts().Failures > 0 })
	if got := r.Counts(); got.Names != 1 || got.Troubled != 1 || got.Questions < 4 {
		t.Errorf("got %+v", got)
	}
}
