package pcre

import (
	"strings"
	"testing"
)

func TestHard(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		"^/", "^/foo", "^/foo(/|$)(.*)", "^/(.*)", "^/v[0-9]+/(.*)", "^/([^/]+)/([^/]+)/x", `^/.*\.(php|html)$`, "^/foo(?:/(.*))?", "^/(.*)/foo/(.*)",
		"^/(?!admin)(.*)", "^/[a-z]{2}/.*", "^/(a|b|c)/.+x", "^/[0-9]{1,3}x", "^(?:/x){3}", "^/[^/]+$", `^/(\d+)-(\w+)$`, "^/[a-z]++x",
	} {
		if Hard(pattern) {
			t.Errorf("%s is hard", pattern)
		}
	}
	for _, pattern := range []string{
		"^/(.{0,60})(.{0,60})(?=[^xz]*+[xz])(?:.|000)", "^/.*.*x", "^/(.*)/foo/(.*)x", "^/(a+)+$", "^/(?:a|a)*b*c", `^/(.*)/\1`, "^/(?:.?){20}", "^/" + strings.Repeat(".?", 30) + "x", "^/y|/(.*)x",
		"^/(?:.*x){2}", "^/(?=.*x).*y.*z", "^/(?R)?", "^/(", "(.*)x",
	} {
		if !Hard(pattern) {
			t.Errorf("%s is not hard", pattern)
		}
	}
}
