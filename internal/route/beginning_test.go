package route

import (
	"runtime"
	"strings"
	"testing"
)

// What a pattern begins with is told of patterns that nobody can read, too, and
// rather too little of it than too much.
func TestBeginning(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`/admin/(a|b)/\g1`: "/admin/", `/admin/(?<s>a|b)/\k<s>`: "/admin/", `/(?x)admin`: "/", `/admin/(?P<id>a)/(?P=id)`: "/admin/", `/admin\cA`: "/admin",
		`/(*UTF)x`: "/", `/a\.b\-c[0-9]`: "/a.b-c", `/ab*`: "/a", `/ab?c`: "/a", `/ab{,3}`: "/a", `/ab+`: "/ab", `/ünï.*`: "/ünï", "/a\nb": "/a", `/a\`: "/a", "/": "/",
		`/a|/b`: "", `/a(b|c)|d`: "", `/a(b|c`: "/a", `/a)b|c`: "", `/a(?#()|b)|c`: "", `/a(?x)#(` + "\n|b": "", `/a\c(|b`: "", `/a\Q(\E|b`: "", `/a[(]|b`: "", `/a[)]x|b`: "", `/a[|]b`: "/a",
		`/a$`: "/a", `^/a`: "", `/[a]b`: "/", `/é?`: "/", `/(a)?b`: "/", `/(?:)a`: "/", `/a(?i)b`: "/a", `/ab{0,2}c`: "/a", `/(?:ab)+c`: "/",
		`/api/v[0-9]+`: "/api/v", `/api/v1/hooks/.*/callback`: "/api/v1/hooks/", `/a(/|$)(.*)`: "/a", `/\x{100}`: "/",
		`/a\|b`: "/a|b", `/a[[:alpha:]|b`: "", `/a(*F)|b`: "", `/a(?:b|c)(?i)d`: "/a", `/a\1`: "/a", "/a\xffb": "/a", `/a(|b)`: "/a", `/a(?=b|c)`: "/a", `/a\p{L}|b`: "",
	} {
		if got := Beginning(pattern); got != want {
			t.Errorf("Beginning(%q) = %q, want %q", pattern, got, want)
		}
	}
}

// The controller looks at the beginning of each pattern at each change: it costs
// little, whatever the pattern is.
func TestBeginningCostsLittle(t *testing.T) { // not parallel: it measures
	for _, pattern := range []string{"/(?i)" + strings.Repeat(`\pL`, 1200), "/" + strings.Repeat("(a|b)", 780), "/" + strings.Repeat("(?:a?){9}", 400)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Beginning(pattern)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
			t.Errorf("%.20s: %d bytes are allocated", pattern, allocated)
		}
	}
}
