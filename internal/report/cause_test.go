package report

import "testing"

// TestCause: the first cause that holds counts, and kinds without names do not hold.
func TestCause(t *testing.T) {
	t.Parallel()
	all := []Changes{
		{"hosts", nil}, {"hostsGone", []string{"a"}}, {"passedThrough", []string{"b"}}, {"streamsGone", []string{"tcp-1"}},
		{"everywhere", []string{"settings"}}, {"everywhere", []string{"templates"}},
	}
	for n, want := range []string{"other", "other", "hosts", "passthrough", "streams", "settings", "templates"} {
		if got := Cause(all[:n]); got != want {
			t.Errorf("%v: got %s, want %s", all[:n], got, want)
		}
	}
	if got := Cause([]Changes{{"services", []string{"shop/web"}}, {"certificates", []string{"a"}}}); got != "other" {
		t.Errorf("endpoints and certificates: %s", got)
	}
}
