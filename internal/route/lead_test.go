package route

import (
	"runtime"
	"strings"
	"testing"
)

// The controller looks at the lead of each pattern at each change: it costs little,
// whatever the pattern is.
func TestLeadCostsLittle(t *testing.T) { // not parallel: it measures
	for _, pattern := range []string{"/(?i)" + strings.Repeat(`\pL`, 1200), "/" + strings.Repeat("(a|b)", 780), "/" + strings.Repeat("(?:a?){9}", 400)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Lead(pattern)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
			t.Errorf("%.20s: %d bytes are allocated", pattern, allocated)
		}
	}
}

// A lead never says more than all matches begin with.
func TestLead(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"/a": "/a", "/ab?": "/a", "/ab*": "/a", "/ab+": "/ab", "/a|/b": "/", "/(?:ab)+c": "/ab", "/(ab|ac)": "/a", "(/a)(b)": "/ab", "/a(?i)b": "/a", "/a{0,2}b": "/",
		"/(?:)a": "/a", "/a$": "/a", "^/a": "", `/a\.b`: "/a.b", "/[a]b": "/ab", "/é?": "/", "/(a)?b": "/", "/(?:a|)b": "/",
	} {
		if got := Lead(pattern); got != want {
			t.Errorf("Lead(%s) = %q, want %q", pattern, got, want)
		}
	}
}
